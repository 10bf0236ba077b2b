#ifndef NORMSWEEP_DRIVER_TERMINAL_LEGEND_H
#define NORMSWEEP_DRIVER_TERMINAL_LEGEND_H

#include "driver/terminal/plot.h"

/* The legend of a plot: samples of cells, each with a word, wrapped to the terminal. */
struct legend {
    FILE *out;
    const struct terminal *terminal;
    int at; /* columns printed on the current line; 0: none */
};

/* Adds a sample of the cell, as plots draw it, and its word. */
void legend_add(struct legend *legend, const struct plot_cell *cell, const char *word);

/* Ends the current line, unless it is empty. */
void legend_end(struct legend *legend);

#endif
