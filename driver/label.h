#ifndef NORMSWEEP_DRIVER_LABEL_H
#define NORMSWEEP_DRIVER_LABEL_H

#include "driver/sweep.h"

enum { LABEL_SIZE = 160 };

/* A cell for people: "learning_rate=0.1 model=small", cut where it is longer. Returns text. */
char *label_cell(const struct sweep *sweep, int64_t cell, char text[LABEL_SIZE]);

/* Takes away the beginning of a UTF-8 character that was cut off at the end of a text. Returns text. */
char *label_cut(char *text);

#endif
