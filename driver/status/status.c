/* normsweep status: the progress of a sweep, read from its dataset alone. */
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/output/output.h"
#include "driver/picture/picture.h"
#include "driver/status/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"
#include "worker/host/host.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    FAILURES_MOST = 20,
    SESSIONS_MOST = 10,
    QUIET_SECONDS = 600,
    NOTES_MOST = 10, /* lines */
    EXPORT_LEAST = 1 << 20, /* bytes of a dataset: a copy has 250 KB of its own beside the numbers */
};

static void print_file(const struct view *view, int *cause)
{
    char *title = view_text(view, ATTRIBUTE_SWEEP_TITLE, cause);

    lines_print(stdout, 0, "%s%s%s", view->name, title ? ": " : "", title ? title : "");
    printf("file      %s, %" PRId64 " bytes, format %" PRId64 "\n",
        view->copy ? "a netCDF-4 copy, to be read only" : "intact", view->bytes, view->format);
    fputs("grid      ", stdout);
    for (int64_t i = 0; i < view->axis_count; i++)
        printf("%s%" PRId64 " %s", i ? " x " : "", view->axis[i].length, view->axis[i].name);
    printf("%s%" PRId64 " cell%s\n", view->axis_count ? ", " : "", view->cells, view->cells == 1 ? "" : "s");
    free(title);
}

/* What people have written about the sweep, each line as one of its own. */
static void print_notes(const struct view *view, int *cause)
{
    char *text = view_text(view, ATTRIBUTE_SWEEP_NOTES, cause), *notes = text;
    const char *name = "notes";

    if (!text || !text[0]) {
        free(text);
        return;
    }
    for (char *tab = notes; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    for (int i = 0; i < NOTES_MOST && *notes; i++) {
        int length = (int)strcspn(notes, "\n");
        lines_print(stdout, 0, "%-*s%.*s", length ? 10 : 0, name, length, notes);
        notes += length + (notes[length] == '\n');
        name = "";
    }
    int left = lines_count(notes) + (*notes && notes[strlen(notes) - 1] != '\n');
    if (left > 0)
        printf("%-10sand %d more line%s\n", "", left, left == 1 ? "" : "s");
    free(text);
}

static void print_counts(const struct survey *survey)
{
    double runs = survey_expected(survey), all = runs > 0 ? runs : 1;
    bool searches = runs < (double)survey->runs;

    printf("ended     %" PRId64 " of %s%.0f runs, %.1f %%\n", survey->ended, searches ? "about " : "", runs,
        100 * (double)survey->ended / all);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (searches && i == OUTCOME_PENDING)
            printf("  %-9s%" PRId64 " cells; the search will skip most of them\n", outcome_words[i],
                survey->count[i]);
        else if (survey->count[i] && i != OUTCOME_SKIPPED)
            printf("  %-9s%" PRId64 ", %.1f %%\n", outcome_words[i], survey->count[i],
                100 * (double)survey->count[i] / all);
    if (survey->count[OUTCOME_SKIPPED])
        printf(
            "  %-9s%" PRId64 ", no runs\n", outcome_words[OUTCOME_SKIPPED], survey->count[OUTCOME_SKIPPED]);
}

static void print_duration(const char *before, double seconds, const char *after)
{
    char time[32];

    printf("%s%s%s", before, duration_format(seconds, time, sizeof(time)), after);
}

/* Could a start go on with it? */
static bool is_stopped(const struct status *status)
{
    return status->survey.ended < status->survey.runs && !status->held && !status->view.copy;
}

/* Of all workers together, as `run` says it, if they work; and of one run, without what else takes its time:
 * a run of one second may train for half of it. */
static void print_speed(const struct survey *survey, bool working)
{
    char rate[32];

    fputs("speed     ", stdout);
    if (working && isfinite(survey->rate) && survey->rate > 0)
        printf("%s tokens/s in all; ", rate_format(survey->rate, rate, sizeof(rate)));
    printf("%s tokens/s per run, in training steps alone\n", rate_format(survey->speed, rate, sizeof(rate)));
}

static void print_times(const struct status *status)
{
    const struct survey *survey = &status->survey;
    bool going = status_is_going(status), alive = survey->running > 0 && status->written < QUIET_SECONDS;

    if (is_stopped(status)) {
        puts("stopped   nothing runs; run the same command again to continue");
        if (status->saved.count > 0)
            lines_print(stdout, 0, "saved     %" PRId64 " run%s under way, in %s", status->saved.count,
                status->saved.count == 1 ? "" : "s", status->folder);
    }
    if (isfinite(survey->speed))
        print_speed(survey, going && alive);
    if (isfinite(survey->seconds))
        print_duration(
            "duration  ", survey->seconds, " per run, on average, to train, measure and validate\n");
    if (isfinite(status->written) && survey->ended < survey->runs)
        print_duration("written   ", status->written, " ago\n");
    if (alive && isfinite(survey->age))
        print_duration("elapsed   ", survey->age, " in this session\n");
    if (going && alive && isfinite(survey->left))
        print_duration("left      about ", survey->left, "\n");
}

static void print_session(const struct view *view, int64_t session, int *cause)
{
    char *text[SESSION_VARIABLE_COUNT];

    for (int i = 0; i < SESSION_VARIABLE_COUNT; i++)
        text[i] = view_string(view, session_variable_table[i].name, session, cause);
    printf("session %" PRId64 " ", session);
    if (text[SESSION_VARIABLE_start])
        fputs(text[SESSION_VARIABLE_start], stdout);
    for (int i = 0; i < SESSION_VARIABLE_COUNT; i++) {
        bool terse = i == SESSION_VARIABLE_version || i == SESSION_VARIABLE_host ||
                     i == SESSION_VARIABLE_blas_kernel || i == SESSION_VARIABLE_vector_level;
        if (terse && text[i] && text[i][0])
            printf(", %s %s", session_variable_table[i].name + strlen("session_"), text[i]);
        free(text[i]);
    }
    putchar('\n');
}

static void print_sessions(const struct status *status, int *cause)
{
    const struct view *view = &status->view;
    int64_t last = status->survey.session;
    int64_t first = last >= SESSIONS_MOST ? last - SESSIONS_MOST + 1 : 0;

    if (first > 0)
        printf("%" PRId64 " earlier sessions\n", first);
    for (int64_t i = first; i <= last; i++)
        print_session(view, i, cause);
}

static void print_failures(const struct status *status, int *cause)
{
    const struct survey *survey = &status->survey;
    int64_t printed = 0;

    for (int64_t cell = 0; cell < survey->cells && printed < FAILURES_MOST; cell++) {
        if (survey->outcome[cell] != OUTCOME_FAILED)
            continue;
        char *reason = view_string(&status->view, run_variable_table[RUN_VARIABLE_reason].name, cell, cause);
        char label[LABEL_SIZE];
        printf("failed: %s: %s\n",
            label_named(status->view.axis_count, status->view.axis, cell, NAMING_WHOLE, label),
            reason && reason[0] ? reason : "no reason given");
        free(reason);
        printed++;
    }
    if (survey->count[OUTCOME_FAILED] > printed)
        printf("and %" PRId64 " more failed\n", survey->count[OUTCOME_FAILED] - printed);
}

/* The command that makes a compressed copy of a complete dataset, or a dataset from such a copy. */
static void print_export(const struct status *status)
{
    bool back = status->view.copy;
    char *command = back ? conversion_back(status->view.name, false) : conversion_to_copy(status->view.name);

    if (!command)
        memory_end();
    printf("%s%s   %s; nccopy is in Debian's netcdf-bin\n", back ? "continue  " : "export    ", command,
        back ? "a dataset that run can continue" : "a compressed netCDF-4 copy");
    free(command);
}

int status_print(const struct status *status, struct error *error)
{
    bool large = status->view.bytes >= EXPORT_LEAST;
    int cause = 0;

    print_file(&status->view, &cause);
    print_notes(&status->view, &cause);
    if (status->fault)
        lines_print(stdout, 0, "altered   %s", status->fault);
    print_counts(&status->survey);
    print_times(status);
    print_sessions(status, &cause);
    print_failures(status, &cause);
    if (status->view.copy || (large && status->survey.ended == status->survey.runs))
        print_export(status);
    if (cause == 0)
        return 0;
    return error_set(error, ERROR_ENVIRONMENT, "%s: %s", status->view.name, strerror(cause));
}

const char *status_state(const struct status *status)
{
    if (status->held)
        return "running";
    if (status->fault)
        return "altered";
    if (status->survey.ended < status->survey.runs)
        return "stopped";
    return status->survey.count[OUTCOME_FAILED] > 0 ? "failed" : "complete";
}

bool status_is_going(const struct status *status)
{
    return status->held && status->survey.ended < status->survey.runs;
}

static int read_status(struct status *status, const char *path, bool held, const struct survey *before,
    double now, struct error *error)
{
    struct stat file;

    *status = (struct status){.held = held};
    status->written = stat(path, &file) == 0 ? difftime(time(NULL), file.st_mtime) : NAN;
    if (view_open(&status->view, path, error) != 0)
        return -1;
    int result = survey_make(&status->survey, &status->view, held, before, now, error);
    /* What run would refuse. A sweep that runs has passed this, and changes what is looked at. */
    if (result == 0 && !held && verify_content(&status->view, error) != 0) {
        result = error->status == ERROR_ENVIRONMENT ? -1 : 0;
        status->fault = memory_copy(error->text);
    }
    if (result == 0 && is_stopped(status)) {
        status->folder = folder_of(status->view.name);
        if (!status->folder)
            memory_end();
        /* That this user cannot read the folder is not an error: its runs are not listed. */
        if (checkpoint_set_init(&status->saved, status->folder, error) != 0)
            result = errno == EACCES || errno == ENOTDIR ? 0 : -1;
    }
    if (result != 0)
        status_release(status);
    return result;
}

int status_read(
    struct status *status, const char *path, const struct survey *before, double now, struct error *error)
{
    int unknown;
    bool held =
        lease_is_held(path, &unknown); /* first: a sweep that ends meanwhile must not appear stopped */

    if (unknown == ENOMEM || unknown == EIO)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(unknown));
    return read_status(status, path, held, before, now, error);
}

int status_read_own(struct status *status, const char *path, double now, struct error *error)
{
    return read_status(status, path, false, NULL, now, error);
}

void status_release(struct status *status)
{
    free(status->fault);
    free(status->folder);
    checkpoint_set_release(&status->saved);
    survey_release(&status->survey);
    view_close(&status->view);
}
