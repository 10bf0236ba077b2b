#ifndef NORMSWEEP_DRIVER_TERMINAL_TERMINAL_H
#define NORMSWEEP_DRIVER_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct terminal {
    int columns; /* 80 if unknown */
    int rows; /* 0: the cursor cannot be moved (a file, a pipe, a dumb terminal) */
    bool colours; /* 256 of them; not without a terminal, with NO_COLOR, or if the terminal may have fewer */
    bool unicode; /* lines may be drawn */
};

/* Examines the stream and TERM, COLORTERM, NO_COLOR, LC_ALL, LC_CTYPE, LANG. */
struct terminal terminal_find(FILE *file);

/* Updates the size from this process's controlling terminal. False: it is unchanged, or there is no
 * terminal. */
bool terminal_resize(struct terminal *terminal);

enum { TERMINAL_TEXT = 48 }; /* size of a text that holds any terminal_format */

/*
 * Formats a terminal for an environment variable, for a process that cannot see it (a rank under mpirun):
 * "80x24 256 utf8", "80x0 none ascii". Returns text.
 */
char *terminal_format(const struct terminal *terminal, char *text, size_t size);

/* Parses such a text. For any other text returns false and leaves *terminal alone. */
bool terminal_parse(struct terminal *terminal, const char *text);

/*
 * The terminal of stderr. mpirun hides it from its ranks, so the launcher passes it in this variable of the
 * environment, in the form of terminal_format.
 */
#define SCREEN_VARIABLE "NORMSWEEP_SCREEN"
struct terminal terminal_handed(void);

/* The value of this variable for this process's ranks. Returns text. */
const char *terminal_hand_on(char *text, size_t size);

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

/* The numbers that a scale is for. */
enum colour_numbers {
    NUMBERS_ANY,
    NUMBERS_LINEAR, /* shares: never on a logarithmic scale */
    NUMBERS_FACTORS, /* growth: around 1 */
};

/* Maps numbers to positions on a scale of colours or shades, as the figures of analysis/ do. */
struct colour_scale {
    double low, high; /* values of the first and last colour; low > high: there are no values */
    bool logarithmic;
    bool diverging; /* around 0, or around 1 if logarithmic, with the same range on both sides */
    double
        knee; /* diverging: distance from the middle up to which the scale is linear; INFINITY: all of it */
    bool below, above; /* there are finite values below low, above high; they get the end's colour */
};

/*
 * Chooses a scale for the finite ones of the values, so that a few extreme ones do not make all others look
 * alike. Numbers of both signs and factors get a diverging scale that ends where 98 % of them lie. Others get
 * a logarithmic scale if all are positive and span more than a factor of 30; outliers are left out if they
 * make the range more than three times that of the others.
 */
void colour_scale_choose(
    struct colour_scale *scale, const double *value, int64_t all, enum colour_numbers numbers);

/* The position of a value on the scale: 0 at low, 1 at high, clamped. */
double colour_scale_place(const struct colour_scale *scale, double value);

/* The value at a position of 0 to 1. */
double colour_scale_value(const struct colour_scale *scale, double place);

/*
 * A status line for a command that takes a while before it prints its answer. Each line replaces the one
 * before; the last one is erased. Nothing is written if the stream is not a terminal (terminal.rows 0).
 */
struct waiting {
    struct canvas canvas;
    double next; /* clock_now() before which no line is due */
};

/* The first line is due after a short pause, so that quick commands show none. */
void waiting_begin(struct waiting *waiting, FILE *file, const struct terminal *terminal);

/* True a few times a second; a loop with many iterations asks before it shows a line. */
bool waiting_is_due(const struct waiting *waiting);

/* Shows a line at once. The format has no '\n'. */
void waiting_say(struct waiting *waiting, const char *format, ...) __attribute__((format(printf, 2, 3)));

void waiting_end(struct waiting *waiting);

#endif
