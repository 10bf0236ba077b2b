#ifndef NORMSWEEP_DRIVER_TERMINAL_CANVAS_H
#define NORMSWEEP_DRIVER_TERMINAL_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

#include "driver/terminal/terminal.h"

/*
 * Lines on a terminal that are drawn again and again over themselves: below what was written before, or from
 * the corner of the screen on. They are cut to what the terminal has room for, and a drawing is handed over
 * in one piece, so that nothing flickers. The cursor waits in the line below.
 */
struct canvas {
    FILE *file;
    struct terminal terminal; /* with rows */
    bool whole_screen;
    char *shown; /* the lines on the terminal; NULL: none */
};

/* Lines that find room. */
int canvas_rows(const struct canvas *canvas);

/* Columns that each of them may take. */
int canvas_columns(const struct canvas *canvas);

/*
 * Draws lines that end with '\n' each; escape sequences for colours alone may be among them. Of a drawing
 * below what was written before, lines that have not changed are passed over.
 */
void canvas_draw(struct canvas *canvas, const char *lines);

/* Takes the drawing away, so that something else can be written. */
void canvas_clear(struct canvas *canvas);

/* This is what the terminal has become. Where it has shrunk the drawing may be anywhere on the screen, all of
 * which is erased. */
void canvas_resize(struct canvas *canvas, const struct terminal *terminal);

/* Lets the last drawing stand; frees what the canvas holds. */
void canvas_release(struct canvas *canvas);

#endif
