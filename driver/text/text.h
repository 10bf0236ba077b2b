#ifndef NORMSWEEP_DRIVER_TEXT_TEXT_H
#define NORMSWEEP_DRIVER_TEXT_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/core/error.h"

/* "2 h 05 min", "3 min 20 s", "4.2 s". Returns text. */
char *duration_format(double seconds, char *text, size_t size);

/* Seconds of "45s", "90m", "1h30m", "2d" or "7200"; -1: it is none of these, or longer than an int. */
int duration_read(const char *text);

/* "850", "12.3k", "1.25M" per second. Returns text. */
char *rate_format(double rate, char *text, size_t size);

/* The exit statuses of the program, the only place where they are explained: X(NAME, status, in short,
 * meaning). Help and reference follow from it. */
#define EXIT_STATUSES(X)                                                                                     \
    X(DONE, 0, "all is well",                                                                                \
        "the command has done what it should; of `run` and `status --wait`: every run has ended, done or "   \
        "diverged, which is a result, too")                                                                  \
    X(RUNS_FAILED, 1, "runs failed",                                                                         \
        "of `run` and `status --wait`: every run has ended, and some have failed, each named with its "      \
        "reason; of `verify`: a run gave other values")                                                      \
    X(INPUT, ERROR_INPUT, "bad input",                                                                       \
        "for you to correct: the command line, the sweep file, its texts, an output that cannot be written " \
        "or is not a dataset of this program, weights, token ids; of `status --wait`: something else has "   \
        "altered the dataset; nothing was begun, or what was trained is kept")                               \
    X(ENVIRONMENT, ERROR_ENVIRONMENT, "trouble with the machine",                                            \
        "MPI, memory, input and output, a full disk, an output that is in use; results are kept, and the "   \
        "same command continues")                                                                            \
    X(STOPPED, 75, "stopped",                                                                                \
        "of `run`: asked to stop, with all runs saved; of `status --wait`: runs are left, and for --limit "  \
        "seconds no process has trained them; run the same command again to continue")                       \
    X(EXPIRED, 124, "not there in time", "of `status --wait`: there was no dataset for --limit seconds")     \
    X(INTERRUPTED, 130, "interrupted",                                                                       \
        "of `run`: ended by a second Ctrl-C; of `status --watch` and `--wait`: by the first")

enum exit_status {
#define X(name, status, ...) STATUS_##name = status,
    EXIT_STATUSES(X)
#undef X
        STATUS_DIFFERENT = STATUS_RUNS_FAILED, /* of `verify`: a run gave other values */
    STATUS_ABANDONED = 76, /* a coordinator tells its launcher: no worker is left; no command ends with it */
};

#define X(...) +1
enum { EXIT_STATUS_COUNT = EXIT_STATUSES(X) };
#undef X

struct exit_status_row {
    int status;
    const char *brief, *meaning;
};
extern const struct exit_status_row exit_status_table[EXIT_STATUS_COUNT]; /* ascending */

/*
 * Writes JSON (RFC 8259) on one line, value by value. A value in an object has a name; in a list, and at the
 * top, the name is NULL. The caller closes what it has opened, and checks `out` for errors.
 */
struct json_writer {
    FILE *out;
    bool comma; /* goes before the next value */
};

/* `bracket` is '{' or '['. */
void json_writer_open(struct json_writer *writer, const char *name, char bracket);

/* `bracket` is '}' or ']'. */
void json_writer_close(struct json_writer *writer, char bracket);

/* Bytes that are not UTF-8 become U+FFFD; NULL: null. */
void json_writer_text(struct json_writer *writer, const char *name, const char *text);
void json_writer_whole(struct json_writer *writer, const char *name, int64_t value);
/* With as few digits as read back to the same bits, and with a point or an exponent, so that all values of a
 * variable are read as one type. NaN and infinities, which JSON lacks, become null. */
void json_writer_real(struct json_writer *writer, const char *name, double value);
void json_writer_truth(struct json_writer *writer, const char *name, bool value);
void json_writer_null(struct json_writer *writer, const char *name);

enum { JSON_TIME = 32 };

/* Now, in UTC, as RFC 3339 has it: "2026-11-21T13:40:00.123Z". Returns text. */
char *json_time(char text[JSON_TIME]);

/* Lines of text for a terminal: no wider than it is, and without characters that move its cursor. */

/* The text made printable (printable.h), in new memory. Frees the text; NULL stays NULL. */
char *lines_clean(char *text);

/* Columns of a clean text: one for each UTF-8 character. */
int lines_width(const char *text);

/* Lines that end with '\n'; NULL: 0. */
int lines_count(const char *text);

/* Bytes of the longest prefix of a clean text that fits in `columns`. */
int lines_fit(const char *text, int columns);

/* Prints a text, made printable, without the end of its line. */
void lines_put(FILE *out, const char *text);

/* Prints a text from a printf format, made printable, as lines of at most `columns`, broken at spaces where
 * possible; 0 columns: as one line. */
void lines_print(FILE *out, int columns, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Memory that is always there: if the system gives none, the program ends with one line and
 * STATUS_ENVIRONMENT. A sweep survives the death of any of its processes, so this loses nothing, and no
 * caller has to check. Not for the dataset, outputs and checkpoints, where every failing allocation is
 * handled. All is freed with free().
 */
_Noreturn void memory_end(void); /* ends the program: some library had no memory */
void *memory_new(size_t count, size_t size); /* not initialized; never NULL, not even for 0 items */
void *memory_zero(size_t count, size_t size);
void *memory_grow(void *memory, size_t count, size_t size); /* as realloc; NULL: new */
char *memory_copy(const char *text);
char *memory_copy_part(const char *text, size_t length); /* with a NUL behind it */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *memory_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* The indices 0 .. count - 1 in the order of `compare`, equal ones ascending. The caller frees them. */
int64_t *memory_sorted(
    int64_t count, int (*compare)(const void *context, int64_t a, int64_t b), const void *context);

/* Sorts numbers, ascending. */
void numbers_sort(double *number, int64_t count);

/* A text that grows; all of its functions begin with {0}, or with what was added before. */
struct string {
    char *bytes; /* with a NUL behind them; NULL: nothing was added yet */
    size_t length, room;
};

void string_add(struct string *string, const char *bytes, size_t length);
void string_format(struct string *string, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What is there, or "". Borrowed. */
const char *string_text(const struct string *string);

/* Passes the text to the caller, who frees it, and empties the string. Never NULL. */
char *string_take(struct string *string);

void string_release(struct string *string);

/* A file whose content goes into *text, for what else is printed: memory_stream_close completes it, and the
 * caller frees it. Both return only if there was enough memory. */
FILE *memory_stream(char **text, size_t *size);
void memory_stream_close(FILE *stream, char *const *text);

/* Finds the offered name that is closest to a mistyped one, or else one that a shorter or longer name means:
 * its initials (lr), beginnings of its parts (grad_clip, final_loss), or more parts (n_layers, batch_size).
 */
struct nearest {
    const char *word; /* borrowed */
    const char *best; /* borrowed from the offers; NULL: none is close */
    int distance;
};

void nearest_init(struct nearest *nearest, const char *word);
void nearest_offer(struct nearest *nearest, const char *offer);

struct hint {
    char text[96];
};

/* "; did you mean 'learning_rate'?", or "" without a close word. */
struct hint nearest_hint(const struct nearest *nearest);

enum { EXCERPT_SIZE = 64 };

struct excerpt {
    char text[EXCERPT_SIZE];
};

/* A text, cut after about 40 bytes, for use in a message: text_excerpt(name).text, which lives as long as the
 * expression that it is in. Keep the struct, not a pointer into it. */
struct excerpt text_excerpt(const char *text);

/*
 * Quotes a path for a shell, so that it can be shown and pasted: unchanged if it is safe; in single quotes;
 * or if it is not printable, as $'\033', which bash, zsh and ksh read. "./" goes before a leading '-', so
 * that commands do not take the path for an option. The caller frees it.
 */
char *quote_path(const char *path);

/* Prints a path as "output=PATH" for scripts, which read lines; quoted if it has a line break, after which it
 * could pass for another value. */
void quote_put_output(const char *path);

/*
 * Skips the byte order mark that some editors put at the start of a file. -1 if the text is UTF-16 or UTF-32,
 * with or without such a mark; the message does not name the file.
 */
int utf8_begin(const char **text, size_t *size, struct error *error);

#endif
