/*
 * The tables of names: variables of a dataset and their words, keys of the sweep file, natures; and what
 * tells a netCDF file by its first bytes, so that a command can say that it was given the wrong kind of file.
 */
#include "driver/tables/tables.h"
#include "model/corpora/corpora.h"
#include "worker/run/run.h"

#include <string.h>
#include <unistd.h>

const char *const outcome_words[OUTCOME_COUNT] = {
    [OUTCOME_PENDING] = "pending",
    [OUTCOME_RUNNING] = "running",
    [OUTCOME_DONE] = "done",
    [OUTCOME_DIVERGED] = "diverged",
    [OUTCOME_FAILED] = "failed",
    [OUTCOME_SKIPPED] = "skipped",
};

static const char *const phase_words[PHASE_COUNT] = {
    [PHASE_NONE] = "none",
    [PHASE_GROWING] = "growing",
    [PHASE_SHRINKING] = "shrinking",
    [PHASE_DIVERGED] = "diverged",
};

static const char *const early_words[EARLY_COUNT] = {[EARLY_NO] = "no", [EARLY_PHASE] = "phase"};

static const char *const dynamics_words[DYNAMICS_COUNT] = {
    [DYNAMICS_NONE] = "none",
    [DYNAMICS_ALIGNED] = "aligned",
    [DYNAMICS_MISALIGNED] = "misaligned",
    [DYNAMICS_RELATIVE] = "relative",
    [DYNAMICS_ADAM_LIKE] = "adam_like",
};

#define X(name, type, width, ...) _Static_assert((width) <= STRING_LONGEST, #name " fits into a buffer");
RUN_VARIABLES(X)
#undef X
#define X(field, width, long_name) _Static_assert((width) <= STRING_LONGEST, #field " fits into a buffer");
SESSION_VARIABLES(X)
#undef X

const struct run_variable_row run_variable_table[RUN_VARIABLE_COUNT] = {
#define X(name, ...) {#name, __VA_ARGS__},
    RUN_VARIABLES(X)
#undef X
};

const char *const *run_variable_flags(enum run_variable variable, int *count)
{
    switch (variable) {
    case RUN_VARIABLE_outcome:
        *count = OUTCOME_COUNT;
        return outcome_words;
    case RUN_VARIABLE_phase:
        *count = PHASE_COUNT;
        return phase_words;
    case RUN_VARIABLE_ended_early:
        *count = EARLY_COUNT;
        return early_words;
    case RUN_VARIABLE_dynamics:
        *count = DYNAMICS_COUNT;
        return dynamics_words;
    default:
        *count = 0;
        return NULL;
    }
}

const struct session_variable_row session_variable_table[SESSION_VARIABLE_COUNT] = {
#define X(field, width, long_name) {"session_" #field, STORED_TEXT, width, "1", long_name},
    SESSION_VARIABLES(X)
#undef X
        {"session_start", STORED_TEXT, STRING_SHORT, "1", "start of the session, UTC"},
#define X(field, unit, long_name) {"session_" #field, STORED_REAL, 0, unit, long_name},
    SESSION_TIMES(X) SESSION_NUMBERS(X)
#undef X
};

const struct attribute_row attribute_table[ATTRIBUTE_COUNT] = {
#define X(...) {__VA_ARGS__},
    ATTRIBUTES(X)
#undef X
};

static bool is_string_dimension(const char *name)
{
    size_t prefix = strlen(STRING_DIMENSION);

    return strncmp(name, STRING_DIMENSION, prefix) == 0 && name[prefix] != '\0' &&
           strspn(name + prefix, "0123456789") == strlen(name + prefix);
}

bool dataset_reserves(const char *name)
{
    bool found = strcmp(name, SESSION_DIMENSION) == 0 || is_string_dimension(name);

    for (int i = 0; i < DIMENSION_COUNT; i++)
        found = found || strcmp(name, metric_dimension_table[i].name) == 0;
    for (int i = 0; i < METRIC_COUNT; i++)
        found = found || strcmp(name, metric_table[i].name) == 0;
    for (int i = 0; i < RUN_VARIABLE_COUNT; i++)
        found = found || strcmp(name, run_variable_table[i].name) == 0;
    for (int i = 0; i < SESSION_VARIABLE_COUNT; i++)
        found = found || strcmp(name, session_variable_table[i].name) == 0;
    return found;
}

const struct key_row key_table[KEY_COUNT] = {
#define X(key, name, form, initial, help) [KEY_##key] = {#name, form, initial, help},
    KEYS(X)
#undef X
};

enum key key_find(const char *name)
{
    enum key key = 0;

    while (key < KEY_COUNT && strcmp(key_table[key].name, name) != 0)
        key++;
    return key;
}

struct hint key_hint(const char *name)
{
    struct nearest nearest;

    nearest_init(&nearest, name);
    for (size_t i = 0; i < param_count; i++)
        nearest_offer(&nearest, param_table[i].name);
    for (enum key key = 0; key < KEY_COUNT; key++)
        nearest_offer(&nearest, key_table[key].name);
    return nearest_hint(&nearest);
}

const struct nature_row *nature_of(const char *word)
{
    for (enum nature nature = 0; word && nature < NATURE_COUNT; nature++)
        if (strcmp(nature_table[nature].word, word) == 0)
            return &nature_table[nature];
    return &nature_table[NATURE_RECORD];
}

enum { MAGIC_SIZE = 4 };

/* Does not read a pipe: its reader would miss the bytes that were read here. */
bool magic_is_netcdf(const char *path)
{
    int64_t size;
    int cause, file = regular_open(path, &size, &cause);
    char magic[MAGIC_SIZE] = "";

    if (file < 0)
        return false;
    ssize_t count = pread(file, magic, MAGIC_SIZE, 0);
    close(file);
    return count == MAGIC_SIZE && (memcmp(magic, "CDF", 3) == 0 || memcmp(magic, "\x89HDF", MAGIC_SIZE) == 0);
}
