/*
 * The command line, read by one table: each option's letter, word, value, and the field that takes it.
 *
 * An option's value is attached to it or follows it. A misspelt option is answered with the nearest one that
 * the command takes.
 */
#include "driver/commands/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The offset of a field; compiles only if the field has this type. */
#define PLACE(field, type)                                                                                   \
    _Generic(&((struct arguments *)0)->field, type * : offsetof(struct arguments, field))
#define FLAG                                                                                                 \
    {                                                                                                        \
        .kind = STORE_FLAG                                                                                   \
    }
#define TEXT(field)                                                                                          \
    {                                                                                                        \
        .kind = STORE_TEXT, .offset = PLACE(field, const char *)                                             \
    }
#define TEXTS(field)                                                                                         \
    {                                                                                                        \
        .kind = STORE_TEXTS, .offset = PLACE(field, struct texts)                                            \
    }
#define NUMBER(field, of_what, from, to)                                                                     \
    {                                                                                                        \
        .kind = STORE_NUMBER, .offset = PLACE(field, int), .of = (of_what), .least = (from), .most = (to)    \
    }

const struct option_row option_table[OPTION_COUNT] = {
#define X(option, letter, word, value, store, help) [OPTION_##option] = {letter, word, value, store, help},
    OPTIONS(X)
#undef X
};

/* A command line while it is parsed. */
struct scan {
    struct arguments *arguments;
    struct error *error;
    const char *command;
    char **argv;
    int argc, next;
    unsigned allowed;
    int least, most;
};

static int misuse(struct scan *scan, const char *what, const char *about, const char *hint)
{
    char excerpt[EXCERPT_SIZE];

    place_excerpt(about, excerpt);
    return error_set(scan->error, ERROR_INPUT, "normsweep %s: %s '%s'%s", scan->command, what, excerpt, hint);
}

/* A whole number within the option's bounds. */
static int take_number(struct scan *scan, const struct option_row *row, const char *value, int *number)
{
    const struct option_store *store = &row->store;
    const char letter[] = {row->letter, 0};
    long given = strtol(value, NULL, 10);
    char what[64];

    if (strspn(value, "0123456789") == strlen(value) && *value && given >= store->least &&
        given <= store->most) {
        *number = (int)given;
        return 0;
    }
    snprintf(what, sizeof(what), "%s%s takes %s and not", row->letter ? "-" : "--",
        row->letter ? letter : row->word, store->of);
    return misuse(scan, what, value, "");
}

/* Where an option's value is stored. */
static void *place_of(struct arguments *arguments, const struct option_row *row)
{
    return (char *)arguments + row->store.offset;
}

static int take_option(struct scan *scan, const struct option_row *row, const char *name, const char *value)
{
    void *place = place_of(scan->arguments, row);
    struct texts *texts = place;

    switch (row->store.kind) {
    case STORE_FLAG:
        break;
    case STORE_NUMBER:
        return take_number(scan, row, value, place);
    case STORE_TEXT:
        *(const char **)place = value;
        break;
    case STORE_TEXTS:
        texts->text[texts->count++] = value;
        break;
    }
    return *value ? 0 : misuse(scan, "a value is missing after", name, "");
}

/* The value of an option is the attached text, or else the next argument. */
static int take_value(struct scan *scan, enum option option, const char *name, const char *attached)
{
    const struct option_row *row = &option_table[option];

    scan->arguments->given |= 1u << option;
    if (row->store.kind == STORE_FLAG)
        return attached ? misuse(scan, "unexpected value for", name, "") : 0;
    if (!attached && scan->next == scan->argc)
        return misuse(scan, "a value is missing after", name, "");
    return take_option(scan, row, name, attached ? attached : scan->argv[scan->next++]);
}

static bool is_allowed(const struct scan *scan, enum option option)
{
    return (scan->allowed | OPTIONS_ALWAYS) >> option & 1;
}

/* --word, --word=value */
static int take_word(struct scan *scan, char *text)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    char hint[NEAREST_SIZE], name[EXCERPT_SIZE];
    struct nearest nearest;

    snprintf(name, sizeof(name), "%.*s", length < 48 ? (int)length : 48, text);
    nearest_init(&nearest, name + 2);
    for (enum option option = 0; option < OPTION_COUNT; option++) {
        if (!is_allowed(scan, option))
            continue;
        if (strcmp(option_table[option].word, name + 2) == 0)
            return take_value(scan, option, name, equals ? equals + 1 : NULL);
        nearest_offer(&nearest, option_table[option].word);
    }
    if (nearest.best)
        snprintf(hint, sizeof(hint), "; did you mean '--%s'?", nearest.best);
    else
        snprintf(hint, sizeof(hint), "; see normsweep %s --help", scan->command);
    return misuse(scan, "unknown option", name, hint);
}

/* -o OUT, -oOUT */
static int take_letter(struct scan *scan, char *text)
{
    for (enum option option = 0; option < OPTION_COUNT; option++) {
        if (!is_allowed(scan, option) || option_table[option].letter != text[1])
            continue;
        if (text[2] && !option_table[option].value)
            break;
        char name[] = {'-', text[1], 0};
        return take_value(scan, option, name, text[2] ? text + 2 : NULL);
    }
    char hint[NEAREST_SIZE];
    snprintf(hint, sizeof(hint), "; see normsweep %s --help", scan->command);
    return misuse(scan, "unknown option", text, hint);
}

static int take_operand(struct scan *scan, char *text)
{
    struct arguments *arguments = scan->arguments;

    if (arguments->operand_count == scan->most)
        return misuse(scan, "unexpected argument", text, scan->least == 1 ? "; give one at a time" : "");
    arguments->operand[arguments->operand_count++] = text;
    return 0;
}

static int take_all(struct scan *scan)
{
    bool options = true;
    int status = 0;

    while (status == 0 && scan->next < scan->argc) {
        char *text = scan->argv[scan->next++];
        if (options && strcmp(text, "--") == 0)
            options = false;
        else if (options && text[0] == '-' && text[1] == '-')
            status = take_word(scan, text);
        else if (options && text[0] == '-' && text[1])
            status = take_letter(scan, text);
        else
            status = take_operand(scan, text);
    }
    return status;
}

int arguments_parse(struct arguments *arguments, int argc, char **argv, unsigned allowed, int least, int most,
    struct error *error)
{
    struct scan scan = {.arguments = arguments,
        .error = error,
        .command = argv[0],
        .argv = argv,
        .argc = argc,
        .next = 1,
        .allowed = allowed,
        .least = least,
        .most = most};

    *arguments = (struct arguments){.jobs = -1, .spares = -1};
    for (enum option option = 0; option < OPTION_COUNT; option++)
        if (option_table[option].store.kind == STORE_TEXTS) {
            struct texts *texts = place_of(arguments, &option_table[option]);
            texts->text = memory_zero((size_t)argc, sizeof(*texts->text));
        }
    int status = take_all(&scan);
    if (status == 0 && !(arguments->given & OPTIONS_ALWAYS) && arguments->operand_count < least)
        status = error_set(error, ERROR_INPUT,
            "normsweep %s: an argument is missing; see normsweep %s --help", argv[0], argv[0]);
    if (status < 0)
        arguments_release(arguments);
    return status;
}

void arguments_release(struct arguments *arguments)
{
    for (enum option option = 0; option < OPTION_COUNT; option++)
        if (option_table[option].store.kind == STORE_TEXTS)
            free((void *)((struct texts *)place_of(arguments, &option_table[option]))->text);
    *arguments = (struct arguments){.jobs = -1, .spares = -1};
}

int arguments_load_sweep(const struct arguments *arguments, struct sweep *sweep, struct error *error)
{
    if (sweep_load(sweep, arguments->operand[0], arguments->setting.text, arguments->setting.count, error) <
        0)
        return -1;
    if (!arguments->output)
        return 0;
    free(sweep->output);
    sweep->output = memory_copy(arguments->output);
    return 0;
}

/* -j 0 also trains in one process. */
int arguments_workers(const struct arguments *arguments, const struct sweep *sweep)
{
    if (arguments->jobs < 0)
        return threads_workers(sweep);
    return arguments->jobs > 0 ? arguments->jobs : 1;
}
