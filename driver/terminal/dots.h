#ifndef NORMSWEEP_DRIVER_TERMINAL_DOTS_H
#define NORMSWEEP_DRIVER_TERMINAL_DOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/terminal/terminal.h"

/*
 * Dots on a terminal, x rightwards and y upwards: eight a character in braille, else one. Each is of a pen, a
 * small number; where the dots of several fall into one character it is the last one's. In braille pens
 * differ by colour, else by character, too.
 */
struct dots {
    struct terminal terminal;
    bool braille;
    int pens;
    int columns, rows; /* characters */
    int width, height; /* dots */
    unsigned char *bits; /* [rows][columns] bits of braille, or 1 */
    unsigned char *pen; /* [rows][columns] */
};

/* Is it braille, for so many pens? */
bool dots_is_braille(const struct terminal *terminal, int pens);

enum { DOTS_BRAILLE_X = 2, DOTS_BRAILLE_Y = 4 }; /* dots a character */

/* -1: no memory, and nothing held. */
int dots_init(struct dots *dots, const struct terminal *terminal, int columns, int rows, int pens);
void dots_release(struct dots *dots);

/* A straight line between two dots, both of them within. */
void dots_line(struct dots *dots, int x0, int y0, int x1, int y1, int pen);

/* Prints one row, 0 the lowest, without a line's end. */
void dots_print(const struct dots *dots, FILE *out, int row);

/* Prints what a pen draws with: two characters or, where they are not in braille, one. */
void dots_print_pen(const struct dots *dots, FILE *out, int pen);

/* The columns of that. */
int dots_pen_width(const struct dots *dots);

#endif
