#include "driver/commands/arguments.h"

#include "driver/text/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MOST = 1000000, SIZE_MOST = 1 << 20, THREADS_MOST = 1024 };

const struct option_row option_table[OPTION_COUNT] = {
#define X(option, letter, word, value, help) [OPTION_##option] = {letter, word, value, help},
    OPTIONS(X)
#undef X
};

/* A command line on its way. */
struct scan {
    struct arguments *arguments;
    struct error *error;
    const char *command;
    char **argv;
    int argc, next;
    unsigned allowed;
    int most;
};

static int misuse(struct scan *scan, const char *what, const char *about, const char *hint)
{
    char excerpt[EXCERPT_SIZE];

    place_excerpt(about, excerpt);
    error_set(scan->error, ERROR_INPUT, "normsweep %s: %s '%s'%s", scan->command, what, excerpt, hint);
    return place_clean(scan->error);
}

/* A whole number; `what` says of the option what it takes. */
static int take_number(
    struct scan *scan, const char *what, const char *value, int least, int most, int *number)
{
    long given = strtol(value, NULL, 10);

    if (strspn(value, "0123456789") != strlen(value) || !*value || given < least || given > most)
        return misuse(scan, what, value, "");
    *number = (int)given;
    return 0;
}

/* An option that takes a value. */
static int take(struct scan *scan, enum option option, const char *name, const char *value)
{
    struct arguments *arguments = scan->arguments;

    switch (option) {
    case OPTION_JOBS:
        return take_number(
            scan, "-j takes a number of workers and not", value, 0, JOBS_MOST, &arguments->jobs);
    case OPTION_HEADS:
        return take_number(
            scan, "--heads takes a number of heads and not", value, 1, SIZE_MOST, &arguments->heads);
    case OPTION_CONTEXT:
        return take_number(
            scan, "--context takes a number of tokens and not", value, 1, SIZE_MOST, &arguments->context);
    case OPTION_THREADS:
        return take_number(
            scan, "--threads takes a number of threads and not", value, 1, THREADS_MOST, &arguments->threads);
    case OPTION_SET:
        arguments->setting[arguments->setting_count++] = value;
        break;
    case OPTION_AT:
        arguments->at[arguments->at_count++] = value;
        break;
    case OPTION_OVER:
        arguments->over = value;
        break;
    case OPTION_TOKENS:
        arguments->tokens = value;
        break;
    default:
        arguments->output = value;
    }
    return *value ? 0 : misuse(scan, "a value is missing after", name, "");
}

/* The value of an option: what is attached, else the next argument. */
static int take_value(struct scan *scan, enum option option, const char *name, const char *attached)
{
    scan->arguments->given |= 1u << option;
    if (!option_table[option].value)
        return attached ? misuse(scan, "no value belongs to", name, "") : 0;
    if (!attached && scan->next == scan->argc)
        return misuse(scan, "a value is missing after", name, "");
    return take(scan, option, name, attached ? attached : scan->argv[scan->next++]);
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
        return misuse(scan, "one argument too many:", text, "");
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
        .most = most};

    *arguments = (struct arguments){.jobs = -1};
    arguments->setting = calloc((size_t)argc, sizeof(*arguments->setting));
    arguments->at = calloc((size_t)argc, sizeof(*arguments->at));
    if (!arguments->setting || !arguments->at) {
        arguments_release(arguments);
        return error_set(error, ERROR_ENVIRONMENT, "normsweep: no memory");
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
    free(arguments->setting);
    free(arguments->at);
    *arguments = (struct arguments){.jobs = -1};
}

int arguments_load_sweep(const struct arguments *arguments, struct sweep *sweep, struct error *error)
{
    if (sweep_load(sweep, arguments->operand[0], arguments->setting, arguments->setting_count, error) < 0)
        return -1;
    if (!arguments->output)
        return 0;
    char *output = strdup(arguments->output);
    if (!output) {
        sweep_release(sweep);
        return error_set(error, ERROR_ENVIRONMENT, "normsweep: no memory");
    }
    free(sweep->output);
    sweep->output = output;
    return 0;
}
