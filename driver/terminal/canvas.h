#ifndef NORMSWEEP_DRIVER_TERMINAL_CANVAS_H
#define NORMSWEEP_DRIVER_TERMINAL_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

#include "driver/terminal/terminal.h"

/*
 * Lines on a terminal that are redrawn in place: below earlier output, or from the top left corner of the
 * screen. Lines are cut to the terminal's size. A drawing is written in one call, so that nothing flickers.
 * The cursor stays on the line below the drawing.
 */
struct canvas {
    FILE *file;
    struct terminal terminal; /* with rows */
    bool whole_screen;
    char *shown; /* the lines now on the terminal; NULL: none */
};

/* The largest number of lines that a drawing may have. */
int canvas_rows(const struct canvas *canvas);

/* The largest width of a line. */
int canvas_columns(const struct canvas *canvas);

/*
 * Draws lines, each of which ends with '\n'. Colours are the only escape sequences allowed. Lines that have
 * not changed are skipped, unless the drawing covers the whole screen.
 */
void canvas_draw(struct canvas *canvas, const char *lines);

/* Erases the drawing, so that other output can take its place. */
void canvas_clear(struct canvas *canvas);

/* Sets the new size of the terminal. After it has shrunk, the old drawing may be anywhere, so the screen
 * is erased. */
void canvas_resize(struct canvas *canvas, const struct terminal *terminal);

/* Leaves the last drawing on the terminal and frees the canvas's memory. */
void canvas_release(struct canvas *canvas);

#endif
