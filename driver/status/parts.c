/*
 * The survey of a sweep that is divided into parts, run --part I/N: of all files I-of-N.nc in a folder as one
 * dataset. Each part is surveyed as a dataset of its own, and its runs are laid into the whole; only the view
 * of the part that began last stays open, as there may be more parts than descriptors. A cell that all parts
 * skip, for one that is not there yet, is pending.
 */
#include "driver/status/inside.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int survey_parts(const char *path, struct error *error)
{
    DIR *folder = opendir(path);
    int parts = 0;

    for (const struct dirent *file; folder && parts >= 0 && (file = readdir(folder));) {
        int number, all, end = 0;
        if (sscanf(file->d_name, "%6d-of-%6d.nc%n", &number, &all, &end) != 2 || !end || file->d_name[end] ||
            number < 1 || number > all)
            continue;
        if (parts > 0 && parts != all)
            parts = error_set(error, ERROR_INPUT,
                "%s: has parts of %d and of %d; move those of one division elsewhere", path, parts, all);
        else
            parts = all;
    }
    if (folder)
        closedir(folder);
    return parts;
}

static char *part_path(const char *path, int number, int parts)
{
    size_t length = strlen(path);

    return memory_format("%s%s%d-of-%d.nc", path, path[length - 1] == '/' ? "" : "/", number, parts);
}

/* What a text of ATTRIBUTE_PART, "3/8 <digest>", says of all parts alike. */
static bool same_division(const char *there, const char *here)
{
    const char *before = there ? strchr(there, ' ') : NULL, *own = here ? strchr(here, ' ') : NULL;

    return before && own && strcmp(before, own) == 0;
}

int survey_check_division(const char *path, const char *division, struct error *error)
{
    int parts = survey_parts(path, error), cause = 0;
    bool read = false, same = true;

    for (int number = 1; number <= parts && !read; number++) {
        char *file = part_path(path, number, parts), *there;
        struct view view;
        if (access(file, F_OK) == 0 && view_open(&view, file, error) == 0) {
            there = view_text(&view, ATTRIBUTE_PART, &cause);
            read = !cause;
            same = !read || same_division(there, division);
            free(there);
            view_close(&view);
        }
        if (!same)
            error_set(error, ERROR_INPUT,
                "%s: is a part of another sweep, or its texts were others; give another -o, or move it "
                "elsewhere",
                file);
        free(file);
    }
    return parts < 0 || !same ? -1 : 0;
}

static double sum_of_known(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

/* The mean of two means, over runs that have ended. */
static double mean_of(double a, double runs, double b, double more)
{
    return sum_of_known(a * runs, b * more) / ((isnan(a) ? 0 : runs) + (isnan(b) ? 0 : more));
}

/* Lays a part over the whole, but for the reasons. */
static void add_part(struct survey *whole, struct survey *part)
{
    double runs = (double)(whole->count[OUTCOME_DONE] + whole->count[OUTCOME_DIVERGED]);
    double more = (double)(part->count[OUTCOME_DONE] + part->count[OUTCOME_DIVERGED]);
    int64_t bytes = whole->view.bytes + part->view.bytes;

    for (int64_t cell = 0; cell < part->view.cells; cell++) {
        signed char *to = &whole->outcome[cell], from = part->outcome[cell];
        if (from == OUTCOME_SKIPPED || (*to != OUTCOME_SKIPPED && *to != OUTCOME_PENDING))
            continue; /* pending in two parts, if one of them was interrupted while it was laid out */
        *to = from;
        whole->growth[cell] = part->growth[cell];
        whole->phase[cell] = part->phase[cell];
    }
    whole->run = memory_grow(whole->run, (size_t)(whole->running + part->running), sizeof(*whole->run));
    memcpy(whole->run + whole->running, part->run, (size_t)part->running * sizeof(*part->run));
    whole->mean_seconds = mean_of(whole->mean_seconds, runs, part->mean_seconds, more);
    whole->mean_rate = mean_of(whole->mean_rate, runs, part->mean_rate, more);
    whole->sessions += part->sessions;
    whole->left = fmax(whole->left, part->left);
    whole->rate = sum_of_known(whole->rate, part->rate);
    whole->written = fmin(whole->written, part->written);
    whole->saved = whole->saved < 0 ? part->saved : whole->saved + (part->saved > 0 ? part->saved : 0);
    whole->held = whole->held || part->held;
    if (!whole->fault) {
        whole->fault = part->fault;
        part->fault = NULL;
    }
    if (isnan(whole->age) || part->age < whole->age) { /* its view is that of the whole from now on */
        struct view view = whole->view;
        whole->age = part->age;
        whole->session = part->session;
        whole->view = part->view;
        part->view = view;
    }
    whole->view.bytes = bytes;
    survey_count(whole);
}

/* Surveys a part, which has to be of the same sweep and division, and makes it the whole if it is the first,
 * or adds it. */
static int read_part(struct survey *whole, bool first, const char *file, int number,
    const struct survey *before, double now, struct error *error)
{
    int cause = 0;
    bool held = lease_is_held(file, &cause);
    struct survey part;

    if (survey_make(&part, file, held, before, now, error) != 0)
        return -1;
    const struct survey *of = first ? &part : whole;
    char *there = view_text(&of->view, ATTRIBUTE_PART, &cause);
    char *here = view_text(&part.view, ATTRIBUTE_PART, &cause);
    bool same =
        same_division(there, here) && strtol(here, NULL, 10) == number && part.view.cells == of->view.cells;
    free(there);
    free(here);
    if (!same) {
        survey_release(&part);
        return error_set(error, ERROR_INPUT,
            "%s: is not part %d of the sweep and the division that the first file of its folder is of; "
            "move it elsewhere",
            file, number);
    }
    char **reason = first ? memory_zero((size_t)part.view.cells, sizeof(*reason)) : whole->reason;
    for (int64_t cell = -1; (cell = survey_next_failed(&part, cell + 1)) >= 0;)
        if (!reason[cell])
            reason[cell] = survey_reason(&part, cell, &cause);
    if (first) {
        *whole = part;
    } else {
        add_part(whole, &part);
        survey_release(&part);
    }
    whole->reason = reason;
    return 0;
}

static int by_cell(const void *a, const void *b)
{
    const struct survey_run *x = a, *y = b;

    return (x->cell > y->cell) - (x->cell < y->cell);
}

/* Some of the parts may be missing. */
static int parts_read(struct survey *survey, const char *path, int parts, const struct survey *before,
    double now, struct error *error)
{
    const char *name = run_variable_table[RUN_VARIABLE_reason].name;
    int found = 0, result = 0;
    struct string missing = {0};

    for (int number = 1; result == 0 && number <= parts; number++) {
        char *file = part_path(path, number, parts);
        if (access(file, F_OK) == 0)
            result = read_part(survey, found++ == 0, file, number, before, now, error);
        else
            string_format(&missing, "%s%d", missing.length ? ", " : "", number);
        free(file);
    }
    if (found == 0)
        result = error_set(error, ERROR_INPUT, "%s: its parts were removed meanwhile", path);
    if (result != 0) {
        if (found > 1)
            survey_release(survey);
        string_release(&missing);
        return -1;
    }
    if (missing.length)
        string_format(&missing, " of %d", parts);
    survey->missing = missing.bytes;
    free(survey->view.name);
    free(survey->folder);
    survey->view.name = memory_copy(path);
    for (int64_t cell = 0; found < parts && cell < survey->view.cells; cell++) {
        char *reason =
            survey->outcome[cell] == OUTCOME_SKIPPED ? view_string(&survey->view, name, cell, NULL) : NULL;
        if (reason &&
            strncmp(reason, PART_REASON, strlen(PART_REASON)) == 0) { /* of a part that is missing */
            survey->outcome[cell] = OUTCOME_PENDING;
            survey->growth[cell] = NAN;
        }
        free(reason);
    }
    survey_count(survey);
    survey->expected = survey->runs;
    qsort(survey->run, (size_t)survey->running, sizeof(*survey->run), by_cell);
    bool stopped = !survey->held && survey->ended < survey->runs;
    survey->folder = stopped ? memory_copy(path) : NULL;
    survey->saved = !stopped ? -1 : survey->saved < 0 ? 0 : survey->saved;
    survey->state = survey_state(survey);
    return 0;
}

/* ---- a dataset or parts ---- */

bool survey_is_held(const char *path, int *unknown)
{
    struct error ignored;
    int parts = survey_parts(path, &ignored);
    bool held = parts <= 0 && lease_is_held(path, unknown);

    *unknown = parts > 0 ? 0 : *unknown;
    for (int number = 1; number <= parts && !held && !*unknown; number++) {
        char *file = part_path(path, number, parts);
        held = lease_is_held(file, unknown);
        free(file);
    }
    return held;
}

int survey_read(
    struct survey *survey, const char *path, const struct survey *before, double now, struct error *error)
{
    int unknown, parts = survey_parts(path, error);

    if (parts != 0)
        return parts < 0 ? -1 : parts_read(survey, path, parts, before, now, error);
    bool held =
        lease_is_held(path, &unknown); /* first: a sweep that ends meanwhile must not appear stopped */
    if (unknown == ENOMEM || unknown == EIO)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(unknown));
    return survey_make(survey, path, held, before, now, error);
}
