#ifndef NORMSWEEP_DRIVER_TEXT_MEMORY_H
#define NORMSWEEP_DRIVER_TEXT_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

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
void memory_stream_close(FILE *stream);

#endif
