#ifndef NORMSWEEP_DRIVER_TERMINAL_DOTS_H
#define NORMSWEEP_DRIVER_TERMINAL_DOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/terminal/terminal.h"

/*
 * Dots on a terminal, x rightwards and y upwards: eight per character in braille, otherwise one. Each dot
 * belongs to a pen, a small number. A character that several pens draw in shows the last one. Pens differ by
 * colour and, outside braille, also by character.
 */
struct dots {
    struct terminal terminal;
    bool braille;
    int pens;
    int columns, rows; /* characters */
    int width, height; /* dots */
    unsigned char *bits; /* [rows][columns] braille bits, or 1 */
    unsigned char *pen; /* [rows][columns] */
};

/* Is braille used for this many pens? */
bool dots_is_braille(const struct terminal *terminal, int pens);

enum { DOTS_BRAILLE_X = 2, DOTS_BRAILLE_Y = 4 }; /* dots per character */

/* -1: no memory, nothing to release. */
int dots_init(struct dots *dots, const struct terminal *terminal, int columns, int rows, int pens);
void dots_release(struct dots *dots);

/* Draws a straight line between two dots; both must be inside. */
void dots_line(struct dots *dots, int x0, int y0, int x1, int y1, int pen);

/* Prints one row, 0 the lowest, without '\n'. */
void dots_print(const struct dots *dots, FILE *out, int row);

/* Prints a sample of a pen: two characters in braille, otherwise one. */
void dots_print_pen(const struct dots *dots, FILE *out, int pen);

/* The width of that sample. */
int dots_pen_width(const struct dots *dots);

#endif
