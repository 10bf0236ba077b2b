#ifndef NORMSWEEP_DRIVER_SWEEP_NOTES_H
#define NORMSWEEP_DRIVER_SWEEP_NOTES_H

#include "driver/sweep/reader.h"

/* Limits, in bytes, and of the number of tags. */
enum { NOTES_MOST = 1 << 16, TAG_LONGEST = 64, TAGS_MOST = 64 };

/* Read `notes`, free text of any number of lines, and `tags`, one short text or a list of them. */
int notes_read(struct reader *reader, const struct node *node);
int tags_read(struct reader *reader, const struct node *node);

#endif
