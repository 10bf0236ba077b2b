/* normsweep status: how far a sweep is, from its dataset alone. */
#include "driver/commands.h"
#include "driver/dataset_tables.h"
#include "driver/lease.h"
#include "driver/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FAILURES_MOST = 20, SESSIONS_MOST = 10, WATCH_SECONDS = 2, QUIET_SECONDS = 600 };

struct progress {
    const struct view *view;
    bool held; /* a process writes it, or may */
    signed char *outcome; /* [cells] */
    int64_t count[OUTCOME_COUNT];
    int64_t runs, ended; /* skipped cells are no runs */
    double speed, seconds; /* means over ended runs, NaN where there are none */
};

/* The mean of a per-run variable over the runs that have ended. */
static int mean_of(
    const struct progress *progress, enum run_variable which, double *mean, struct error *error)
{
    const struct view *view = progress->view;
    double *values = malloc((size_t)view->cells * sizeof(*values)), sum = 0;
    struct view_variable variable;
    int64_t count = 0;

    *mean = NAN;
    if (!values)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    int result = 0;
    bool there = view_find(view, run_variable_table[which].name, &variable) && variable.size == view->cells;
    if (there)
        result = view_read(view, &variable, values, error);
    for (int64_t cell = 0; there && result == 0 && cell < view->cells; cell++) {
        bool ended = progress->outcome[cell] == OUTCOME_DONE || progress->outcome[cell] == OUTCOME_DIVERGED;
        if (!ended || !isfinite(values[cell]))
            continue;
        sum += values[cell];
        count++;
    }
    if (count)
        *mean = sum / (double)count;
    free(values);
    return result;
}

/* A run that nobody is left to end will start anew: the next start makes it pending. */
static enum outcome outcome_of(const struct progress *progress, int64_t cell)
{
    enum outcome outcome = (enum outcome)progress->outcome[cell];

    return outcome == OUTCOME_RUNNING && !progress->held ? OUTCOME_PENDING : outcome;
}

static int progress_init(struct progress *progress, const struct view *view, bool held, struct error *error)
{
    *progress = (struct progress){.view = view, .held = held, .outcome = malloc((size_t)view->cells)};
    if (!progress->outcome)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", view->name);
    int result = view_outcomes(view, progress->outcome, error);
    for (int64_t cell = 0; result == 0 && cell < view->cells; cell++)
        progress->count[outcome_of(progress, cell)]++;
    progress->runs = view->cells - progress->count[OUTCOME_SKIPPED];
    progress->ended = progress->runs - progress->count[OUTCOME_PENDING] - progress->count[OUTCOME_RUNNING];
    if (result == 0)
        result = mean_of(progress, RUN_VARIABLE_tokens_per_second, &progress->speed, error);
    if (result == 0)
        result = mean_of(progress, RUN_VARIABLE_seconds, &progress->seconds, error);
    if (result != 0)
        free(progress->outcome);
    return result;
}

static void print_file(const struct view *view)
{
    char *title = view_text(view, ATTRIBUTE_TITLE);

    printf("%s: %s\n", view->name, title ? title : "");
    printf("file      whole, %" PRId64 " bytes, format %" PRId64 "\n", view->bytes, view->format);
    fputs("grid      ", stdout);
    for (int64_t i = 0; i < view->axis_count; i++)
        printf("%s%" PRId64 " %s", i ? " x " : "", view->axis[i].length, view->axis[i].name);
    printf("%s%" PRId64 " cell%s\n", view->axis_count ? ", " : "", view->cells, view->cells == 1 ? "" : "s");
    free(title);
}

static void print_counts(const struct progress *progress)
{
    double all = progress->runs ? (double)progress->runs : 1;

    printf("ended     %" PRId64 " of %" PRId64 " runs, %.1f %%\n", progress->ended, progress->runs,
        100 * (double)progress->ended / all);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (progress->count[i] && i != OUTCOME_SKIPPED)
            printf("  %-9s%" PRId64 ", %.1f %%\n", outcome_words[i], progress->count[i],
                100 * (double)progress->count[i] / all);
    if (progress->count[OUTCOME_SKIPPED])
        printf(
            "  %-9s%" PRId64 ", no runs\n", outcome_words[OUTCOME_SKIPPED], progress->count[OUTCOME_SKIPPED]);
}

static void print_duration(const char *before, double seconds, const char *after)
{
    int64_t whole = (int64_t)seconds;

    if (seconds < 60)
        printf("%s%.3g s%s", before, seconds, after);
    else
        printf("%s%" PRId64 ":%02d:%02d%s", before, whole / 3600, (int)(whole / 60 % 60), (int)(whole % 60),
            after);
}

/* The last session's row, or -1. */
static int64_t last_session(const struct view *view)
{
    int64_t last = -1;

    for (int64_t i = 0; i < view->sessions; i++) {
        char *start = view_string(view, session_variable_table[SESSION_VARIABLE_start].name, i);
        bool used = start && start[0];
        free(start);
        if (!used)
            break;
        last = i;
    }
    return last;
}

/* Seconds since a session began, NaN where that cannot be told. */
static double session_age(const struct view *view, int64_t session)
{
    char *start = view_string(view, session_variable_table[SESSION_VARIABLE_start].name, session);
    struct tm date = {0};
    bool known = start && strptime(start, "%Y-%m-%dT%H:%M:%SZ", &date);

    free(start);
    return known ? difftime(time(NULL), timegm(&date)) : NAN;
}

static double seconds_since_write(const struct view *view)
{
    struct stat stat_;

    return stat(view->name, &stat_) == 0 ? difftime(time(NULL), stat_.st_mtime) : NAN;
}

static void print_times(const struct progress *progress)
{
    double written = seconds_since_write(progress->view);
    int64_t left = progress->runs - progress->ended, running = progress->count[OUTCOME_RUNNING];
    bool alive = running > 0 && written < QUIET_SECONDS;

    if (left > 0 && !progress->held)
        puts("stopped   nothing runs; the command that started it carries on");
    if (isfinite(progress->speed))
        printf("speed     %.4g tokens per second a run\n", progress->speed);
    if (isfinite(progress->seconds))
        print_duration("a run     ", progress->seconds, " on average\n");
    if (isfinite(written) && left > 0)
        print_duration("written   ", written, " ago\n");
    double age = session_age(progress->view, last_session(progress->view));
    if (alive && isfinite(age))
        print_duration("elapsed   ", age, " in this session\n");
    if (alive && isfinite(progress->seconds))
        print_duration("left      about ", progress->seconds * (double)left / (double)running, "\n");
}

static void print_session(const struct view *view, int64_t session)
{
    char *text[SESSION_VARIABLE_COUNT];

    for (int i = 0; i < SESSION_VARIABLE_COUNT; i++)
        text[i] = view_string(view, session_variable_table[i].name, session);
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

static void print_sessions(const struct view *view)
{
    int64_t last = last_session(view);
    int64_t first = last >= SESSIONS_MOST ? last - SESSIONS_MOST + 1 : 0;

    if (first > 0)
        printf("%" PRId64 " earlier sessions\n", first);
    for (int64_t i = first; i <= last; i++)
        print_session(view, i);
}

/* "learning_rate 0.1, model small" */
static void print_cell(const struct view *view, int64_t cell)
{
    int64_t inner = view->cells;
    char text[256];

    if (view->axis_count == 0)
        fputs("the run", stdout);
    for (int64_t i = 0; i < view->axis_count; i++) {
        const struct axis *axis = &view->axis[i];
        inner /= axis->length;
        printf("%s%s %s", i ? ", " : "", axis->name,
            view_label(axis, cell / inner % axis->length, text, sizeof(text)));
    }
}

static void print_failures(const struct progress *progress)
{
    int64_t printed = 0;

    for (int64_t cell = 0; cell < progress->view->cells && printed < FAILURES_MOST; cell++) {
        if (progress->outcome[cell] != OUTCOME_FAILED)
            continue;
        char *reason = view_string(progress->view, run_variable_table[RUN_VARIABLE_reason].name, cell);
        fputs("failed: ", stdout);
        print_cell(progress->view, cell);
        printf(": %s\n", reason && reason[0] ? reason : "no reason given");
        free(reason);
        printed++;
    }
    if (progress->count[OUTCOME_FAILED] > printed)
        printf("and %" PRId64 " more failed\n", progress->count[OUTCOME_FAILED] - printed);
}

/* Prints all there is to say; *going: there are runs that have not ended, and somebody to end them. */
static int report(const char *path, bool clear, bool *going, struct error *error)
{
    bool held = lease_is_held(path); /* asked first: a sweep that ends meanwhile is no stopped one */
    struct progress progress;
    struct view view;

    if (view_open(&view, path, error) != 0)
        return -1;
    int result = progress_init(&progress, &view, held, error);
    if (result == 0) {
        if (clear)
            fputs("\033[H\033[J", stdout);
        print_file(&view);
        print_counts(&progress);
        print_times(&progress);
        print_sessions(&view);
        print_failures(&progress);
        *going = held && progress.ended < progress.runs;
        free(progress.outcome);
    }
    view_close(&view);
    return result;
}

static int watch(const char *path, struct error *error)
{
    bool terminal = isatty(STDOUT_FILENO);
    bool going = false;

    for (;;) {
        if (report(path, terminal, &going, error) != 0)
            return -1;
        if (!going || fflush(stdout) != 0)
            return 0;
        sleep(WATCH_SECONDS);
        if (!terminal)
            putchar('\n');
    }
}

int command_status(int argc, char **argv)
{
    struct arguments arguments;
    struct error error;
    bool going;
    int status;

    if (command_arguments(&arguments, argc, argv, &status))
        return status;
    if (arguments_has(&arguments, OPTION_WATCH))
        status = watch(arguments.operand[0], &error);
    else
        status = report(arguments.operand[0], false, &going, &error);
    arguments_release(&arguments);
    return status == 0 ? command_flush(0) : command_fail(&error);
}
