#ifndef NORMSWEEP_DRIVER_TERMINAL_COLOUR_H
#define NORMSWEEP_DRIVER_TERMINAL_COLOUR_H

#include "driver/terminal/terminal.h"

/*
 * Colours of terminals. Of 256, those past the first 16 look the same in every theme; pictures are painted
 * with them, and are told apart by every kind of colour vision. Where there are 16, colours only help
 * characters.
 */
enum { COLOUR_NONE = -1, COLOUR_BLACK = 16, COLOUR_WHITE = 231 };

/* From violet (-1) over pale (0) to orange (1), as the figures have them; never pale alike on both sides. */
int colour_diverging(double place);

/* From dark violet (0) over green to yellow (1): the lighter, the more. */
int colour_sequential(double place);

/* Line or class `index`, the same every COLOUR_CLASSES. */
enum { COLOUR_CLASSES = 8 };
int colour_class(int index);
const char *colour_class_of_16(int index); /* its code of ECMA-48 */

/* Black or white: what can be read on a colour. */
int colour_on(int background);

/* What paints a stream in two of the 256 colours; COLOUR_NONE: as the terminal has it. */
struct pen {
    FILE *out;
    int text, background;
};

#define PEN(out) ((struct pen){(out), COLOUR_NONE, COLOUR_NONE})

/* Prints what comes next in these colours; both COLOUR_NONE end a picture. */
void pen_take(struct pen *pen, int text, int background);

/* Prints what comes next in a colour by its code of ECMA-48 ("31": red); NULL: as the terminal has it. */
void colour_write(FILE *out, const char *code);

#endif
