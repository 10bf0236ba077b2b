/*
 * normsweep verify: trains a sample of the finished runs of a sweep again and compares every value with the
 * dataset.
 *
 * The chosen runs become a sweep of their own, which is trained into a dataset in a temporary folder by the
 * road that `run` takes: the same launcher, ranks and coordinator. Then the two datasets are compared, run by
 * run. The folder is beside the output, where all hosts of an allocation see it, or in TMPDIR if nothing can
 * be written there.
 *
 * The sweep may be running. Its coordinator writes the values of a run first and its outcome after them, so
 * the outcomes are read first, and the values through a view that is opened after that: the netCDF library
 * keeps what it has read of a file.
 */
#include "driver/commands/inside.h"
#include "driver/dataset/extend/extend.h"
#include "driver/dataset/read/read.h"
#include "driver/job/job.h"
#include "driver/output/output.h"
#include "driver/ranks/ranks.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"
#include "worker/host/host.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 100 }; /* one of so many finished runs is trained again, unless -n says how many */
enum { NAMED_MOST = 20 }; /* runs that differ */

/* A sample of the finished runs of a dataset. */
struct sample_of_runs {
    struct view view; /* of the dataset */
    int64_t finished; /* runs in it that are done or diverged */
    int64_t count;
    int64_t *cell; /* [count] of the sweep, ascending */
    int64_t *place; /* [count] the cells of the dataset */
    struct difference *difference; /* [count] */
};

/* ---- the sample ---- */

/* The outcomes [*cells] in the order of the file. The caller frees them; NULL with the error set. */
static signed char *read_outcomes(const char *path, int64_t *cells, struct error *error)
{
    struct view view;

    if (view_open(&view, path, error) != 0)
        return NULL;
    *cells = view.cells;
    signed char *outcome = memory_new((size_t)view.cells, 1);
    if (view_outcomes(&view, outcome, error) != 0) {
        free(outcome);
        outcome = NULL;
    }
    view_close(&view);
    return outcome;
}

/*
 * Chooses `asked` of the runs that are done or diverged; 0: a part of them. Those that `skip` leaves out now
 * are not the sweep's: the sweep file was not checked for them. `place`: the file's cell of each cell of the
 * sweep, -1: none.
 */
static int choose(struct sample_of_runs *sample, const struct sweep *sweep, const struct corpus *corpus,
    const signed char *outcome, const int64_t *place, int asked, struct error *error)
{
    struct digest digest;

    sample->cell = memory_new((size_t)sweep->cells, sizeof(*sample->cell));
    for (int64_t i = 0; i < sweep->cells; i++) {
        bool held = place[i] >= 0 && !sweep_skips(sweep, i);
        if (held && (outcome[place[i]] == OUTCOME_DONE || outcome[place[i]] == OUTCOME_DIVERGED))
            sample->cell[sample->finished++] = i;
    }
    if (sample->finished == 0)
        return error_set(
            error, ERROR_INPUT, "%s: no run of the sweep is done or diverged yet", sample->view.name);
    sweep_digest(sweep, corpus, &digest);
    sample->count = draw_cells(sample->cell, sample->finished,
        asked > 0 ? asked : (sample->finished + PART - 1) / PART, digest.high ^ digest.low);
    if (sample->count < 0)
        return error_set(error, ERROR_ENVIRONMENT, "verify: no memory");
    sample->place = memory_new((size_t)sample->count, sizeof(*sample->place));
    sample->difference = memory_zero((size_t)sample->count, sizeof(*sample->difference));
    for (int64_t i = 0; i < sample->count; i++)
        sample->place[i] = place[sample->cell[i]];
    return 0;
}

/* For sample_release, whatever it returns. */
static int sample_open(struct sample_of_runs *sample, const struct sweep *sweep, const struct corpus *corpus,
    int asked, struct error *error)
{
    int64_t cells, *place = NULL;
    signed char *outcome = read_outcomes(sweep->output, &cells, error);
    int result = outcome ? view_open(&sample->view, sweep->output, error) : -1;

    if (result == 0)
        result = verify_content(&sample->view, error);
    if (result == 0)
        result = match_cells(&sample->view, sweep, corpus, &place, error);
    if (result == 0 && sample->view.cells != cells)
        result = error_set(error, ERROR_ENVIRONMENT,
            "%s: was replaced while it was read; run the same command again", sample->view.name);
    if (result == 0)
        result = choose(sample, sweep, corpus, outcome, place, asked, error);
    free(place);
    free(outcome);
    return result;
}

static void sample_release(struct sample_of_runs *sample)
{
    view_close(&sample->view);
    free(sample->cell);
    free(sample->place);
    free(sample->difference);
}

/* ---- training again ---- */

/* Makes a folder beside the output, or in TMPDIR. The caller frees its path; NULL with the error set. */
static char *make_folder(const char *output, struct error *error)
{
    const char *fallback = getenv("TMPDIR");
    struct string path = {0};

    string_format(&path, "%s.verify.XXXXXX", output);
    char *folder = string_take(&path);
    if (mkdtemp(folder))
        return folder;
    if (errno == EACCES || errno == EROFS) {
        free(folder);
        string_format(&path, "%s/normsweep.verify.XXXXXX", fallback && fallback[0] ? fallback : "/tmp");
        folder = string_take(&path);
        if (mkdtemp(folder))
            return folder;
    }
    error_set(error, ERROR_ENVIRONMENT, "%s: %s; verify needs a folder for the runs that it trains again",
        folder, strerror(errno));
    free(folder);
    return NULL;
}

/* The folder, for the end of the program: also where it has no memory, see memory.h. */
static char *again_folder;

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    if (nftw(again_folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        lines_print(stderr, 0, "%s: cannot be removed: %s", again_folder, strerror(errno));
}

/* The command line of ranks: `run` with the settings of this command and the dataset in the folder. */
static void compose_ranks(struct start *start, const char *output, const char **argument)
{
    const struct arguments *given = &start->arguments;
    int count = 0;

    argument[count++] = "run";
    argument[count++] = "-o";
    argument[count++] = output;
    for (int i = 0; i < given->setting.count; i++) {
        argument[count++] = "--set";
        argument[count++] = given->setting.text[i];
    }
    argument[count++] = "--";
    argument[count++] = given->operand[0];
    argument[count] = NULL;
    start->argc = count;
    start->argv = (char **)argument;
}

/* Trains the chosen runs into `output`, a path in the folder. The sweep of `start` becomes theirs. Returns
 * the exit status, or -1. */
static int train_again(struct start *start, const struct sample_of_runs *sample, const char *folder,
    const char *output, struct error *error)
{
    const char **argument = memory_zero(6 + 2 * (size_t)start->arguments.setting.count, sizeof(*argument));
    struct string list = {0};
    int64_t pending;

    string_format(&list, "%s/chosen", folder);
    int status = chosen_write(string_text(&list), sample->cell, sample->count, error);
    if (status == 0)
        status = sweep_keep_chosen(&start->sweep, string_text(&list), error);
    if (status == 0) {
        setenv(CHOSEN_VARIABLE, string_text(&list), 1);
        free(start->sweep.output);
        start->sweep.output = memory_copy(output);
        compose_ranks(start, output, argument);
        start->quiet = true;
        status = run_output(start, &pending, error);
        lease_release(start->lease);
        start->lease = NULL;
    }
    string_release(&list);
    free(argument);
    if (status == STATUS_STOPPED || status == STATUS_INTERRUPTED)
        return error_set(error, ERROR_ENVIRONMENT, "verify: stopped by a signal; nothing was compared");
    return status;
}

/* The label of a chosen run: `runs` is the sweep that sweep_keep_chosen has left. */
static const char *name_of(const struct sweep *runs, int64_t i)
{
    return runs->axis_count > 0 ? runs->axis[0].label[i] : "the run";
}

/* Compares the runs of the dataset at `output` with those of the sample. */
static int compare_all(
    struct sample_of_runs *sample, const struct sweep *runs, const char *output, struct error *error)
{
    struct view again;

    if (view_open(&again, output, error) != 0)
        return -1;
    signed char *outcome = memory_new((size_t)again.cells, 1);
    int result = view_outcomes(&again, outcome, error);
    for (int64_t i = 0; result == 0 && i < sample->count; i++) {
        if (outcome[i] != OUTCOME_DONE && outcome[i] != OUTCOME_DIVERGED) {
            char *reason = view_string(&again, run_variable_table[RUN_VARIABLE_reason].name, i, NULL);
            result = error_set(error, ERROR_ENVIRONMENT, "verify: %s: %s", name_of(runs, i),
                reason && reason[0] ? reason : "has not ended");
            free(reason);
        } else {
            result = view_compare(&sample->view, sample->place[i], &again, i, &sample->difference[i], error);
        }
    }
    free(outcome);
    view_close(&again);
    return result;
}

/* Trains the sample again and compares it. Returns 0, an exit status of which the user has been told, or -1.
 */
static int repeat_runs(struct start *start, struct sample_of_runs *sample, struct error *error)
{
    struct string output = {0};

    again_folder = make_folder(start->sweep.output, error);
    if (!again_folder)
        return -1;
    atexit(remove_folder);
    string_format(&output, "%s/again.nc", again_folder);
    int status = train_again(start, sample, again_folder, string_text(&output), error);
    if (status == STATUS_DONE || status == STATUS_RUNS_FAILED)
        status = compare_all(sample, &start->sweep, string_text(&output), error);
    string_release(&output);
    return status;
}

/* ---- the report ---- */

struct tally_of_runs {
    int64_t runs, values; /* that differ */
    int64_t compared; /* values */
    int64_t otherwise; /* runs that were trained with something else than this process has */
};

/* "different: learning_rate=0.1 seed=2: train_loss at step 20: 1.5 in a.nc, 1.25 trained again; ..." */
static void name_different(const struct sample_of_runs *sample, const struct sweep *runs, int64_t different)
{
    int64_t named = 0;

    for (int64_t i = 0; i < sample->count && named < NAMED_MOST; i++) {
        const struct difference *difference = &sample->difference[i];
        char text[DIFFERENCE_TEXT];
        if (difference->different == 0)
            continue;
        fprintf(stderr, "different: %s: ", name_of(runs, i));
        lines_put(stderr, difference_text(difference, &sample->view, text));
        if (difference->different > 1)
            fprintf(stderr, "; and %" PRId64 " more", difference->different - 1);
        fputc('\n', stderr);
        named++;
    }
    if (different > named)
        fprintf(stderr, "different: %" PRId64 " more\n", different - named);
}

/* The session of each run of the sample, -1: unknown. */
static int read_sessions(const struct sample_of_runs *sample, int64_t *session, struct error *error)
{
    struct view_variable variable;

    if (!view_find(&sample->view, run_variable_table[RUN_VARIABLE_session].name, &variable))
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", sample->view.name); /* verify_content has
                                                                                         * found it */
    for (int64_t i = 0; i < sample->count; i++) {
        double value;
        if (view_read_cell(&sample->view, &variable, sample->place[i], &value, error) != 0)
            return -1;
        session[i] = value < (double)sample->view.sessions ? (int64_t)value : -1;
    }
    return 0;
}

static int by_session(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Says of `runs` runs of one session with what they were trained, if this process has something else. */
static int compare_session(const struct sample_of_runs *sample, int64_t session, int64_t runs, bool quiet,
    struct tally_of_runs *tally, struct error *error)
{
    char there[PRESENT_TEXT], here[PRESENT_TEXT];

    if (present_compare(&sample->view, session, there, here, error) != 0)
        return -1;
    if (!there[0])
        return 0;
    tally->otherwise += runs;
    if (quiet)
        return 0;
    char *host =
        view_string(&sample->view, session_variable_table[SESSION_VARIABLE_host].name, session, NULL);
    printf("%" PRId64 " of %" PRId64
           " runs were trained with %s on %s, and verified with %s; differences may "
           "come from that\n",
        runs, sample->count, there, host && host[0] ? host : "an unknown host", here);
    free(host);
    return 0;
}

/* The same for all sessions of the sample. */
static int compare_sessions(
    const struct sample_of_runs *sample, bool quiet, struct tally_of_runs *tally, struct error *error)
{
    int64_t *session = memory_new((size_t)sample->count, sizeof(*session));
    int result = read_sessions(sample, session, error);
    if (result == 0)
        qsort(session, (size_t)sample->count, sizeof(*session), by_session);
    for (int64_t i = 0, runs; result == 0 && i < sample->count; i += runs) {
        runs = 1;
        while (i + runs < sample->count && session[i + runs] == session[i])
            runs++;
        if (session[i] >= 0)
            result = compare_session(sample, session[i], runs, quiet, tally, error);
    }
    free(session);
    return result;
}

static void print_summary(const struct sample_of_runs *sample, const struct tally_of_runs *tally)
{
    lines_put(stdout, sample->view.name);
    printf(": %" PRId64 " of %" PRId64 " finished run%s trained again: ", sample->count, sample->finished,
        sample->finished == 1 ? "" : "s");
    if (tally->runs == 0)
        printf("%" PRId64 " equal in %" PRId64 " values\n", sample->count, tally->compared);
    else
        printf("%" PRId64 " equal, %" PRId64 " different, in %" PRId64 " of %" PRId64 " values\n",
            sample->count - tally->runs, tally->runs, tally->values, tally->compared);
}

static void print_values(const struct sample_of_runs *sample, const struct tally_of_runs *tally)
{
    printf("finished=%" PRId64 "\n", sample->finished);
    printf("verified=%" PRId64 "\n", sample->count);
    printf("different=%" PRId64 "\n", tally->runs);
    printf("values=%" PRId64 "\n", tally->compared);
    printf("values_different=%" PRId64 "\n", tally->values);
    printf("trained_otherwise=%" PRId64 "\n", tally->otherwise);
    quote_put_output(sample->view.name);
}

/* Returns the exit status, or -1. */
static int report(
    const struct sample_of_runs *sample, const struct sweep *runs, bool values, struct error *error)
{
    struct tally_of_runs tally = {0};

    for (int64_t i = 0; i < sample->count; i++) {
        tally.runs += sample->difference[i].different > 0;
        tally.values += sample->difference[i].different;
        tally.compared += sample->difference[i].values;
    }
    if (compare_sessions(sample, values, &tally, error) != 0)
        return -1;
    if (values)
        print_values(sample, &tally);
    else
        print_summary(sample, &tally);
    fflush(stdout);
    name_different(sample, runs, tally.runs);
    return tally.runs > 0 ? STATUS_DIFFERENT : STATUS_DONE;
}

/* ---- the command ---- */

int command_verify(int argc, char **argv)
{
    struct start start = {.begun = clock_now()};
    struct sample_of_runs sample = {.view = {.file = -1}};
    struct error error;
    int status;

    if (command_arguments(&start.arguments, argc, argv, &status) != 0)
        return status;
    start.launching = (struct launching){.arguments = &start.arguments, .sweep = &start.sweep};
    status = start_begin(&start, &error);
    if (status == 0)
        status = start_load_corpus(&start, &error);
    if (status == 0)
        status = sample_open(&sample, &start.sweep, &start.corpus, start.arguments.runs, &error);
    if (status == 0)
        status = repeat_runs(&start, &sample, &error);
    if (status == 0)
        status = report(&sample, &start.sweep, arguments_has(&start.arguments, OPTION_VALUES), &error);
    sample_release(&sample);
    start_release(&start);
    return command_flush(status < 0 ? command_fail(&error) : status);
}
