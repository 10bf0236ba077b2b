/*
 * What a dataset contains besides parameters and metrics, which have tables of their own. The only place
 * where these names are spelled out.
 */
#include "driver/tables/tables.h"

#include <string.h>

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
    SESSION_NUMBERS(X)
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
