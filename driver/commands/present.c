/*
 * What this process trains with: versions, BLAS kernel, vector level, host. A start writes it into the
 * session table; `verify` compares it with the session of a run, because numbers depend on it.
 */
#include "driver/commands/inside.h"
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/tables/tables.h"
#include "model/core/printable.h"
#include "model/kernels/kernels.h"
#include "worker/host/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session present_session(const char *mpi, const char *host)
{
    return (struct session){
        .version = version_number,
        .commit = version_commit,
        .compiler = version_compiler,
        .blas = environment_blas(),
        .blas_kernel = environment_blas_kernel(),
        .vector_level = kernels_level_in_use(),
        .mpi = mpi,
        .host = host,
    };
}

/* Adds "blas_kernel Haswell" to a list. */
static void add_named(char list[PRESENT_TEXT], enum session_variable variable, const char *text)
{
    size_t used = strlen(list);

    snprintf(list + used, PRESENT_TEXT - used, "%s%s %s", used ? ", " : "",
        session_variable_table[variable].name + strlen("session_"), text);
}

enum { SHOWN_SIZE = PRINTABLE_MOST * STRING_LONGEST + 1 };

/* As a dataset would store it and view_string read it. */
static void as_stored(char stored[SHOWN_SIZE], enum session_variable variable, const char *text)
{
    char field[STRING_LONGEST + 1];
    int width = session_variable_table[variable].width;

    dataset_field(field, (size_t)width, text);
    field[width] = '\0';
    printable(field, stored, SHOWN_SIZE);
}

int present_compare(const struct view *view, int64_t session, char there[PRESENT_TEXT],
    char here[PRESENT_TEXT], struct error *error)
{
    const struct session present = present_session("", "");
    const char *const now[SESSION_VARIABLE_COUNT] = {
#define X(field, ...) [SESSION_VARIABLE_##field] = present.field,
        SESSION_VARIABLES(X)
#undef X
    };

    there[0] = here[0] = '\0';
    for (enum session_variable i = 0; i < SESSION_VARIABLE_start; i++) {
        char stored[SHOWN_SIZE];
        if (i == SESSION_VARIABLE_mpi || i == SESSION_VARIABLE_host) /* no number depends on them */
            continue;
        int cause = 0;
        char *then = view_string(view, session_variable_table[i].name, session, &cause);
        if (cause)
            return error_set(error, ERROR_ENVIRONMENT, "%s: %s", view->name, strerror(cause));
        as_stored(stored, i, now[i]);
        if (then && then[0] && strcmp(then, stored) != 0) {
            add_named(there, i, then);
            add_named(here, i, stored);
        }
        free(then);
    }
    return 0;
}
