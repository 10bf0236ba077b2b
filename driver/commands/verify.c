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
    int64_t *kept_cell; /* [cells] the cell of the dataset for each of the sweep; -1: none */
    struct difference *difference; /* [count] */
    int64_t different, values_different; /* runs and values that differ */
    int64_t values; /* that were compared */
    int64_t otherwise; /* runs that were first trained with something else */
};

/*
 * Chooses `asked` of the runs that are done or diverged; 0: a part of them. Those that `skip` leaves out now
 * are not the sweep's: the sweep file was not checked for them. What the sample has is the caller's to free.
 */
static int choose(struct sample_of_runs *sample, const struct sweep *sweep, const struct corpus *corpus,
    int64_t asked, struct error *error)
{
    struct view first;
    signed char *outcome = outcomes_read(&first, sweep->output, error);
    struct digest digest;

    if (!outcome)
        return -1;
    int64_t cells = first.cells;
    view_close(&first);
    int status = view_open(&sample->view, sweep->output, error);
    if (status == 0)
        status = verify_content(&sample->view, error);
    if (status == 0)
        status = match_cells(&sample->view, sweep, corpus, &sample->kept_cell, error);
    if (status == 0 && sample->view.cells != cells)
        status = error_set(error, ERROR_ENVIRONMENT,
            "%s: was replaced while it was read; run the same command again", sample->view.name);
    sample->cell = memory_new((size_t)sweep->cells, sizeof(*sample->cell));
    for (int64_t i = 0; status == 0 && i < sweep->cells; i++) {
        int64_t kept = sweep_skips(sweep, i) ? -1 : sample->kept_cell[i];
        if (kept >= 0 && (outcome[kept] == OUTCOME_DONE || outcome[kept] == OUTCOME_DIVERGED))
            sample->cell[sample->finished++] = i;
    }
    free(outcome);
    if (status != 0)
        return -1;
    if (sample->finished == 0)
        return error_set(
            error, ERROR_INPUT, "%s: no run of the sweep is done or diverged yet", sample->view.name);
    sweep_digest(sweep, corpus, &digest);
    sample->count = sample_cells(sample->cell, sample->finished,
        asked > 0 ? asked : (sample->finished + PART - 1) / PART, digest.high ^ digest.low);
    sample->difference = memory_zero((size_t)sample->count, sizeof(*sample->difference));
    return 0;
}

/* ---- training again ---- */

/* The folder for the runs that are trained again; removed at the end of the program, also where it has no
 * memory, see memory.h. */
static char *again_folder;

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    if (nftw(again_folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        lines_print(stderr, 0, "%s: cannot be removed: %s", again_folder, strerror(errno));
}

/* Makes the folder beside the output, or in TMPDIR. */
static int make_folder(const char *output, struct error *error)
{
    const char *fallback = getenv("TMPDIR");
    char *folder = memory_format("%s.verify.XXXXXX", output);
    bool made = mkdtemp(folder) != NULL;

    if (!made && (errno == EACCES || errno == EROFS)) {
        free(folder);
        folder = memory_format("%s/normsweep.verify.XXXXXX", fallback && fallback[0] ? fallback : "/tmp");
        made = mkdtemp(folder) != NULL;
    }
    if (made) {
        again_folder = folder;
        atexit(remove_folder);
        return 0;
    }
    error_set(error, ERROR_ENVIRONMENT, "%s: %s; verify needs a folder for the runs that it trains again",
        folder, strerror(errno));
    free(folder);
    return -1;
}

/* Trains the chosen runs into `output`, a path in the folder. The sweep of `start` becomes theirs. Returns
 * the exit status, or -1. */
static int train_again(
    struct start *start, const struct sample_of_runs *sample, const char *output, struct error *error)
{
    const struct texts *setting = &start->arguments->setting;
    const char **argument = memory_zero(6 + 2 * (size_t)setting->count, sizeof(*argument));
    char *list = memory_format("%s/chosen", again_folder);
    int64_t pending;
    int count = 0;

    int status = chosen_write(list, sample->cell, sample->count, error);
    if (status == 0)
        status = sweep_keep_chosen(&start->sweep, list, error);
    if (status == 0) {
        /* The command line of ranks: `run` with the settings of this command and the new dataset. */
        setenv(CHOSEN_VARIABLE, list, 1);
        argument[count++] = "run";
        argument[count++] = "-o";
        argument[count++] = output;
        for (int i = 0; i < setting->count; i++) {
            argument[count++] = "--set";
            argument[count++] = setting->text[i];
        }
        argument[count++] = "--";
        argument[count++] = start->arguments->operand[0];
        start->argc = count;
        start->argv = (char **)argument;
        start->quiet = true;
        free(start->sweep.output);
        start->sweep.output = memory_copy(output);
        status = run_output(start, &pending, error);
        lease_release(start->lease);
        start->lease = NULL;
    }
    free(list);
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

/* Says of the runs of each session with what they were trained, if those that were trained `again` had
 * something else on which numbers may depend. What the dataset does not know does not differ. */
static int compare_sessions(
    struct sample_of_runs *sample, const struct view *again, bool quiet, struct error *error)
{
    const struct view *view = &sample->view;
    double *session = view_cells(view, run_variable_table[RUN_VARIABLE_session].name, error); /* [cells] */
    int64_t *runs = memory_zero((size_t)view->sessions, sizeof(*runs));
    int cause = 0, status = session ? 0 : -1;

    for (int64_t i = 0; status == 0 && i < sample->count; i++) {
        double value = session[sample->kept_cell[sample->cell[i]]];
        if (value >= 0 && value < (double)view->sessions) /* else it is unknown */
            runs[(int64_t)value]++;
    }
    for (int64_t i = 0; status == 0 && !cause && i < view->sessions; i++) {
        struct string there = {0}, here = {0};
        /* No number depends on the variables after these. */
        for (enum session_variable k = 0; runs[i] > 0 && k < SESSION_VARIABLE_mpi; k++) {
            const char *variable = session_variable_table[k].name, *name = variable + strlen("session_");
            char *then = view_string(view, variable, i, &cause);
            char *now = view_string(again, variable, 0, &cause);
            if (then && then[0] && now && strcmp(then, now) != 0) {
                string_format(&there, "%s%s %s", there.length ? ", " : "", name, then);
                string_format(&here, "%s%s %s", here.length ? ", " : "", name, now);
            }
            free(then);
            free(now);
        }
        if (there.length > 0)
            sample->otherwise += runs[i];
        if (there.length > 0 && !quiet && !cause) {
            char *host = view_string(view, session_variable_table[SESSION_VARIABLE_host].name, i, NULL);
            printf("%" PRId64 " of %" PRId64 " runs were trained with %s on %s, and verified with %s; "
                   "differences may come from that\n",
                runs[i], sample->count, there.bytes, host && host[0] ? host : "an unknown host", here.bytes);
            free(host);
        }
        string_release(&there);
        string_release(&here);
    }
    free(runs);
    free(session);
    return cause ? error_set(error, ERROR_ENVIRONMENT, "%s: %s", view->name, strerror(cause)) : status;
}

/* Compares the runs of the dataset at `output` with those of the sample. `quiet`: prints nothing. */
static int compare_runs(struct sample_of_runs *sample, const struct sweep *runs, const char *output,
    bool quiet, struct error *error)
{
    struct view again;
    signed char *outcome = outcomes_read(&again, output, error);
    int status = outcome ? 0 : -1;

    for (int64_t i = 0; status == 0 && i < sample->count; i++) {
        struct difference *difference = &sample->difference[i];
        if (outcome[i] == OUTCOME_DONE || outcome[i] == OUTCOME_DIVERGED) {
            status =
                view_compare(&sample->view, sample->kept_cell[sample->cell[i]], &again, i, difference, error);
            sample->different += difference->different > 0;
            sample->values_different += difference->different;
            sample->values += difference->values;
        } else {
            char *reason = view_string(&again, run_variable_table[RUN_VARIABLE_reason].name, i, NULL);
            status = error_set(error, ERROR_ENVIRONMENT, "verify: %s: %s", name_of(runs, i),
                reason && reason[0] ? reason : "has not ended");
            free(reason);
        }
    }
    if (status == 0)
        status = compare_sessions(sample, &again, quiet, error);
    if (outcome)
        view_close(&again);
    free(outcome);
    return status;
}

/* ---- the report ---- */

/* Prints what was found, and on stderr the runs that differ, "different: learning_rate=0.1 seed=2: train_loss
 * at step 20: 1.5 in a.nc, 1.25 trained again; ..." Returns the exit status. */
static int report(const struct sample_of_runs *sample, const struct sweep *runs, bool values)
{
    int64_t named = 0;

    if (values) {
        printf("finished=%" PRId64 "\n", sample->finished);
        printf("verified=%" PRId64 "\n", sample->count);
        printf("different=%" PRId64 "\n", sample->different);
        printf("values=%" PRId64 "\n", sample->values);
        printf("values_different=%" PRId64 "\n", sample->values_different);
        printf("trained_otherwise=%" PRId64 "\n", sample->otherwise);
        quote_put_output(sample->view.name);
    } else {
        lines_put(stdout, sample->view.name);
        printf(": %" PRId64 " of %" PRId64 " finished run%s trained again: ", sample->count, sample->finished,
            sample->finished == 1 ? "" : "s");
        if (sample->different == 0)
            printf("%" PRId64 " equal in %" PRId64 " values\n", sample->count, sample->values);
        else
            printf("%" PRId64 " equal, %" PRId64 " different, in %" PRId64 " of %" PRId64 " values\n",
                sample->count - sample->different, sample->different, sample->values_different,
                sample->values);
    }
    fflush(stdout);
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
    if (sample->different > named)
        fprintf(stderr, "different: %" PRId64 " more\n", sample->different - named);
    return sample->different > 0 ? STATUS_DIFFERENT : STATUS_DONE;
}

int command_verify(const struct arguments *arguments, struct error *error)
{
    struct start start = {.arguments = arguments, .begun = clock_now()};
    struct sample_of_runs sample = {.view = {.file = -1}};
    bool values = arguments_has(arguments, OPTION_VALUES);
    int status = start_begin(&start, error);

    if (status == 0)
        status = start_load_corpus(&start, error);
    if (status == 0)
        status = choose(&sample, &start.sweep, &start.corpus, arguments->runs, error);
    if (status == 0)
        status = make_folder(start.sweep.output, error);
    if (status == 0) { /* else an exit status of which the user has been told, or -1 */
        char *output = memory_format("%s/again.nc", again_folder);
        status = train_again(&start, &sample, output, error);
        if (status == STATUS_DONE || status == STATUS_RUNS_FAILED)
            status = compare_runs(&sample, &start.sweep, output, values, error);
        free(output);
    }
    if (status == 0)
        status = report(&sample, &start.sweep, values);
    view_close(&sample.view);
    free(sample.cell);
    free(sample.kept_cell);
    free(sample.difference);
    start_release(&start);
    return status;
}
