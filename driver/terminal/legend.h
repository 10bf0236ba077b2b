#ifndef NORMSWEEP_DRIVER_TERMINAL_LEGEND_H
#define NORMSWEEP_DRIVER_TERMINAL_LEGEND_H

#include "driver/terminal/plot.h"

/* What the cells of a plot mean: samples of them with a word each, on as many lines as it takes. */
struct legend {
    FILE *out;
    const struct terminal *terminal;
    int at; /* columns that the line has; 0: it is empty */
};

/* Adds a cell as plots draw it. */
void legend_add(struct legend *legend, const struct plot_cell *cell, const char *word);

/* Ends the last line, if there is one. */
void legend_end(struct legend *legend);

#endif
