#ifndef NORMSWEEP_DRIVER_TERMINAL_COLOUR_H
#define NORMSWEEP_DRIVER_TERMINAL_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Terminal colours. Of the 256 colours, those from 16 on look the same in every theme; cells are painted with
 * these, in scales that colour-blind readers can tell apart.
 */
enum { COLOUR_NONE = -1, COLOUR_BLACK = 16, COLOUR_WHITE = 231 };

/* From violet (-1) through pale (0) to orange (1), as in the figures. The palest violet and orange differ. */
int colour_diverging(double place);

/* From dark violet (0) through green to yellow (1); larger is lighter. */
int colour_sequential(double place);

/* The colour of class `index`; they repeat. */
int colour_class(int index);

/* Black or white, whichever is readable on this background. */
int colour_on(int background);

/* The current colours of a stream, of the 256; COLOUR_NONE: the terminal's default. */
struct pen {
    FILE *out;
    int text, background;
};

#define PEN(out) ((struct pen){(out), COLOUR_NONE, COLOUR_NONE})

/* Switches to these colours. A picture ends with both COLOUR_NONE. */
void pen_take(struct pen *pen, int text, int background);

#endif
