/*
 * normsweep verify: trains a sample of the finished runs of a sweep again and compares every value with the
 * dataset.
 *
 * The sweep may be running. Its coordinator writes the values of a run first and its outcome after them, so
 * the outcomes are read first, and the values through a view that is opened after that: the netCDF library
 * keeps what it has read of a file.
 */
#include "driver/commands/inside.h"
#include "driver/dataset/extend/extend.h"
#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/job/job.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PART = 100 }; /* one of so many finished runs is trained again, unless -n says how many */
enum { NAMED_MOST = 20 }; /* runs that differ */

/* A sample of the finished runs of a dataset. */
struct sample_of_runs {
    const struct sweep *sweep;
    const struct corpus *corpus;
    struct view view;
    int64_t finished; /* runs in the dataset that are done or diverged */
    int64_t count;
    struct repeat *repeat; /* [count] in the order of cells */
};

static int verify_no_memory(struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "verify: no memory");
}

/* ---- the sample ---- */

/* The outcomes [*cells] in the order of the file. The caller frees them; NULL with the error set. */
static signed char *read_outcomes(const char *path, int64_t *cells, struct error *error)
{
    signed char *outcome = NULL;
    struct view view;

    if (view_open(&view, path, error) != 0)
        return NULL;
    *cells = view.cells;
    outcome = malloc((size_t)view.cells);
    if (!outcome)
        verify_no_memory(error);
    if (outcome && view_outcomes(&view, outcome, error) != 0) {
        free(outcome);
        outcome = NULL;
    }
    view_close(&view);
    return outcome;
}

/* The sweep's cells whose runs are done or diverged. Those that `skip` leaves out now are not the sweep's:
 * the sweep file was not checked for them. The caller frees them; NULL with the error set. */
static int64_t *find_finished(
    struct sample_of_runs *sample, const signed char *outcome, const int64_t *place, struct error *error)
{
    const struct sweep *sweep = sample->sweep;
    int64_t *cell = malloc((size_t)sweep->cells * sizeof(*cell));

    if (!cell)
        verify_no_memory(error);
    for (int64_t i = 0; cell && i < sweep->cells; i++) {
        bool held = place[i] >= 0 && !sweep_skips(sweep, i);
        if (held && (outcome[place[i]] == OUTCOME_DONE || outcome[place[i]] == OUTCOME_DIVERGED))
            cell[sample->finished++] = i;
    }
    if (cell && sample->finished == 0) {
        error_set(error, ERROR_INPUT, "%s: no run of the sweep is done or diverged yet", sample->view.name);
        free(cell);
        return NULL;
    }
    return cell;
}

static int64_t wanted_runs(const struct sample_of_runs *sample, int asked)
{
    return asked > 0 ? asked : (sample->finished + PART - 1) / PART;
}

/* Chooses the runs. `place`: the file's cell of each cell of the sweep, -1: none. */
static int choose(struct sample_of_runs *sample, const signed char *outcome, const int64_t *place, int asked,
    struct error *error)
{
    struct digest digest;
    int64_t *cell = find_finished(sample, outcome, place, error);

    if (!cell)
        return -1;
    sweep_digest(sample->sweep, sample->corpus, &digest);
    sample->count = draw_cells(cell, sample->finished, wanted_runs(sample, asked), digest.high ^ digest.low);
    if (sample->count > 0)
        sample->repeat = calloc((size_t)sample->count, sizeof(*sample->repeat));
    for (int64_t i = 0; sample->repeat && i < sample->count; i++)
        sample->repeat[i] = (struct repeat){.cell = cell[i], .place = place[cell[i]]};
    free(cell);
    return sample->repeat ? 0 : verify_no_memory(error);
}

/* Chooses runs of the open view; `outcome` [cells] was read before it was opened. */
static int choose_in_view(
    struct sample_of_runs *sample, const signed char *outcome, int64_t cells, int asked, struct error *error)
{
    int64_t *place;

    if (verify_content(&sample->view, error) != 0 ||
        mapping_places(&sample->view, sample->sweep, sample->corpus, &place, error) != 0)
        return -1;
    int result =
        sample->view.cells == cells
            ? choose(sample, outcome, place, asked, error)
            : error_set(error, ERROR_ENVIRONMENT,
                  "%s: was replaced while it was read; run the same command again", sample->view.name);
    free(place);
    return result;
}

static void sample_release(struct sample_of_runs *sample)
{
    free(sample->repeat);
    view_close(&sample->view);
}

/* On failure -1, nothing held. */
static int sample_open(struct sample_of_runs *sample, const struct sweep *sweep, const struct corpus *corpus,
    int asked, struct error *error)
{
    int64_t cells;
    signed char *outcome = read_outcomes(sweep->output, &cells, error);
    int result = outcome ? 0 : -1;

    *sample = (struct sample_of_runs){.sweep = sweep, .corpus = corpus, .view = {.file = -1}};
    if (result == 0)
        result = view_open(&sample->view, sweep->output, error);
    if (result == 0)
        result = choose_in_view(sample, outcome, cells, asked, error);
    if (result != 0)
        sample_release(sample);
    free(outcome);
    return result;
}

/* ---- the report ---- */

struct tally_of_runs {
    int64_t runs, values; /* that differ */
    int64_t compared; /* values */
    int64_t otherwise; /* runs that were trained with something else than this process has */
};

static void count_differences(const struct sample_of_runs *sample, struct tally_of_runs *tally)
{
    for (int64_t i = 0; i < sample->count; i++) {
        const struct difference *difference = &sample->repeat[i].difference;
        tally->runs += difference->different > 0;
        tally->values += difference->different;
        tally->compared += difference->values;
    }
}

/* "different: learning_rate=0.1 seed=2: train_loss at step 20: 1.5 in a.nc, 1.25 trained again; ..." */
static void name_different(const struct sample_of_runs *sample, int64_t different)
{
    int64_t named = 0;

    for (int64_t i = 0; i < sample->count && named < NAMED_MOST; i++) {
        const struct repeat *repeat = &sample->repeat[i];
        char label[LABEL_SIZE], text[DIFFERENCE_TEXT];
        if (repeat->difference.different == 0)
            continue;
        fprintf(stderr, "different: %s: ", label_cell(sample->sweep, repeat->cell, label));
        lines_put(stderr, difference_text(&repeat->difference, &sample->view, text));
        if (repeat->difference.different > 1)
            fprintf(stderr, "; and %" PRId64 " more", repeat->difference.different - 1);
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
        return verify_no_memory(error); /* verify_content has found it */
    for (int64_t i = 0; i < sample->count; i++) {
        double value;
        if (view_read_cell(&sample->view, &variable, sample->repeat[i].place, &value, error) != 0)
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
    char *host = view_string(&sample->view, session_variable_table[SESSION_VARIABLE_host].name, session);
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
    int64_t *session = malloc((size_t)sample->count * sizeof(*session));

    if (!session)
        return verify_no_memory(error);
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
static int report(const struct sample_of_runs *sample, bool values, struct error *error)
{
    struct tally_of_runs tally = {0};

    count_differences(sample, &tally);
    if (compare_sessions(sample, values, &tally, error) != 0)
        return -1;
    if (values)
        print_values(sample, &tally);
    else
        print_summary(sample, &tally);
    fflush(stdout);
    name_different(sample, tally.runs);
    return tally.runs > 0 ? STATUS_DIFFERENT : STATUS_DONE;
}

/* ---- the command ---- */

/* Returns the exit status, or -1. */
static int verify(const struct arguments *arguments, const struct sweep *sweep, const struct corpus *corpus,
    struct error *error)
{
    struct terminal terminal = terminal_find(stderr);
    struct sample_of_runs sample;
    struct waiting waiting;

    if (sample_open(&sample, sweep, corpus, arguments->runs, error) != 0)
        return -1;
    waiting_begin(&waiting, stderr, &terminal);
    int status = repeat_runs(sample.repeat, sample.count, sweep, corpus, &sample.view,
        arguments_workers(arguments, sweep), &waiting, error);
    waiting_end(&waiting);
    if (status == 0)
        status = report(&sample, arguments_has(arguments, OPTION_VALUES), error);
    sample_release(&sample);
    return status;
}

int command_verify(int argc, char **argv)
{
    struct arguments arguments;
    struct corpus corpus;
    struct sweep sweep;
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status) != 0)
        return status;
    status = arguments_load_sweep(&arguments, &sweep, &error);
    if (status == 0) {
        status = sweep_load_corpus(&sweep, &corpus, &error);
        if (status == 0) {
            status = verify(&arguments, &sweep, &corpus, &error);
            corpus_release(&corpus);
        }
        sweep_release(&sweep);
    }
    arguments_release(&arguments);
    return command_flush(status < 0 ? command_fail(&error) : status);
}
