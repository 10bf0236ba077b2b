/*
 * The command line, read by one table: each option's letter, word, value, and the field that takes it.
 *
 * An option's value is attached to it or follows it. A misspelt option is answered with the nearest one that
 * the command takes.
 */
#include "driver/commands/inside.h"

#include <stdlib.h>
#include <string.h>

/* How an option is stored: in a field, which compiles only if it has this type. */
#define FIELD(field, type)                                                                                   \
    .offset = _Generic(&((struct arguments *)0)->field, type * : offsetof(struct arguments, field))
#define FLAG .kind = STORE_FLAG
#define TEXT(field) .kind = STORE_TEXT, FIELD(field, const char *)
#define TEXTS(field) .kind = STORE_TEXTS, FIELD(field, struct texts)
#define NUMBER(field, of_what, from, to)                                                                     \
    .kind = STORE_NUMBER, FIELD(field, int), .of = (of_what), .least = (from), .most = (to)
#define TIME(field, of_what)                                                                                 \
    .kind = STORE_TIME, FIELD(field, int), .of = (of_what), .least = 1, .most = INT_MAX

const struct option_row option_table[OPTION_COUNT] = {
#define X(option, letter, word, value, store, text) [OPTION_##option] = {word, value, text, letter, store},
    OPTIONS(X)
#undef X
};

/* A command line while it is read. */
struct scan {
    const struct command *command;
    struct arguments *arguments;
    int next; /* the argument after this one */
    struct error *error;
};

static int misuse(const struct scan *scan, const char *what, const char *about, const char *hint)
{
    return error_set(scan->error, ERROR_INPUT, "normsweep %s: %s '%s'%s", scan->command->name, what,
        text_excerpt(about).text, hint);
}

/* Stores an option that was written as `name`. Its value is the attached text, or else the next argument. */
static int take_value(struct scan *scan, enum option option, const char *name, const char *value)
{
    const struct option_row *row = &option_table[option];
    struct arguments *arguments = scan->arguments;
    void *field = (char *)arguments + row->offset;
    struct texts *texts = field;

    if (row->kind != STORE_FLAG && row->kind != STORE_TEXTS && arguments_has(arguments, option))
        return misuse(scan, "given twice:", name, "");
    arguments->given |= 1u << option;
    if (row->kind == STORE_FLAG)
        return value ? misuse(scan, "unexpected value for", name, "") : 0;
    if (!value && scan->next < arguments->argc)
        value = arguments->argv[scan->next++];
    if (!value || (!*value && row->kind != STORE_NUMBER))
        return misuse(scan, "a value is missing after", name, "");
    if (row->kind == STORE_TEXT) {
        *(const char **)field = value;
    } else if (row->kind == STORE_TEXTS) {
        texts->text = memory_grow(texts->text, (size_t)texts->count + 1, sizeof(*texts->text));
        texts->text[texts->count++] = value;
    } else {
        const char letter[] = {row->letter, 0};
        bool whole = *value && !value[strspn(value, "0123456789")];
        long number = row->kind == STORE_TIME ? duration_read(value) : whole ? strtol(value, NULL, 10) : -1;
        char what[64];
        snprintf(what, sizeof(what), "%s%s takes %s and not", row->letter ? "-" : "--",
            row->letter ? letter : row->word, row->of);
        if (number < row->least || number > row->most)
            return misuse(scan, what, value, "");
        *(int *)field = (int)number;
    }
    return 0;
}

/* --word, --word=value, -o OUT, -oOUT */
static int take_option(struct scan *scan, const char *text)
{
    const struct command *command = scan->command;
    bool word = text[1] == '-';
    size_t length = word ? strcspn(text, "=") : 2;
    const char *attached = text[length] ? text + length + word : NULL;
    char name[EXCERPT_SIZE];
    struct nearest nearest;
    struct hint hint;

    snprintf(name, sizeof(name), "%.*s", length < 48 ? (int)length : 48, text);
    nearest_init(&nearest, name + 2);
    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = &option_table[option];
        if (!((command->options | OPTIONS_ALWAYS) >> option & 1))
            continue;
        if (word ? strcmp(row->word, name + 2) == 0 : row->letter == text[1] && (row->value || !attached))
            return take_value(scan, option, name, attached);
        if (word)
            nearest_offer(&nearest, row->word);
    }
    if (nearest.best)
        snprintf(hint.text, sizeof(hint.text), "; did you mean '--%s'?", nearest.best);
    else
        snprintf(hint.text, sizeof(hint.text), "; see normsweep %s --help", command->name);
    return misuse(scan, "unknown option", word ? name : text, hint.text);
}

int arguments_parse(
    struct arguments *arguments, const struct command *command, int argc, char **argv, struct error *error)
{
    struct scan scan = {command, arguments, 1, error};
    bool options = true;
    int status = 0;

    *arguments = (struct arguments){.argc = argc, .argv = argv, .jobs = -1, .spares = -1};
    while (status == 0 && scan.next < argc) {
        const char *text = argv[scan.next++];
        if (options && strcmp(text, "--") == 0)
            options = false;
        else if (options && text[0] == '-' && text[1])
            status = take_option(&scan, text);
        else if (arguments->operand_count == command->most)
            status =
                misuse(&scan, "unexpected argument", text, command->least == 1 ? "; give one at a time" : "");
        else
            arguments->operand[arguments->operand_count++] = text;
    }
    if (status == 0 && !(arguments->given & OPTIONS_ALWAYS) && arguments->operand_count < command->least)
        status = error_set(error, ERROR_INPUT,
            "normsweep %s: an argument is missing; see normsweep %s --help", command->name, command->name);
    if (status < 0)
        arguments_release(arguments);
    return status;
}

void arguments_release(struct arguments *arguments)
{
    free((void *)arguments->setting.text);
    free((void *)arguments->at.text);
    free((void *)arguments->only.text);
    *arguments = (struct arguments){.jobs = -1, .spares = -1};
}
