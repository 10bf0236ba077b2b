/* Each call fails once while a run is written: its outcome is in the file exactly if the commit has said so.
 */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#include "driver/dataset/ledger/inside.h"
#include "driver/sweep/sweep.h"

#define YAML BASE "seed: [1, 2]\n"

/* Writes a run as a coordinator does; -1 where a call says that it has failed. */
static int write_run(struct bench *bench, int64_t cell, enum outcome outcome, bool flushes)
{
    const struct pace pace = {10, 20, 3, 4};
    const struct result result = {.outcome = outcome, .last_step = 10, .diverged_step = -1, .norm_growth = 2};
    struct run run;

    sweep_cell(&bench->sweep, cell, &run);
    const struct metric_form form = metric_form(&run, &bench->sweep.measure);
    size_t size = metric_row_size(&form, 5), end = metric_row_size(&form, STEP_OF_RUN);
    double *row = calloc(size + end, sizeof(*row));
    int status = !row;
    if (!status)
        status = dataset_start(bench->dataset, cell, "here", 1, 0, &bench->error);
    if (!status)
        status = dataset_row(bench->dataset, cell, 5, row, 0, size, &bench->error);
    if (!status)
        status = dataset_put_deaths(bench->dataset, cell, 1, &bench->error);
    if (!status)
        status = dataset_put_pace(bench->dataset, &pace, &bench->error);
    if (!status && flushes)
        status = dataset_flush(bench->dataset, &bench->error);
    if (!status)
        status = dataset_row(bench->dataset, cell, STEP_OF_RUN, row, 0, end, &bench->error);
    if (!status)
        status = dataset_result(bench->dataset, cell, &result, &bench->error);
    if (!status)
        status = dataset_commit(bench->dataset, &bench->error);
    free(row);
    return status;
}

static void try_writing(struct bench *bench, const struct failing_kind *kind, enum outcome outcome)
{
    struct error error = {.text = ""};

    if (!bench_opens(bench, YAML))
        return;
    bench->error.text[0] = '\0';
    failing_anew(kind->calls, kind->cause);
    int written = write_run(bench, 1, outcome, true), closed = dataset_close(bench->dataset, &error);
    failing_end();
    sweep_release(&bench->sweep);
    if (written && !strstr(bench->error.text, "a.nc: ") && strcmp(kind->calls, "calloc") != 0)
        test_fail(__FILE__, __LINE__, "%s: '%s'", kind->calls, bench->error.text);
    CHECK(closed == 0 || strstr(error.text, "a.nc: "));
    if (!bench_opens(bench, YAML))
        return;
    enum outcome now = (enum outcome)dataset_outcomes(bench->dataset)[1];
    if (!written && now != outcome)
        test_fail(__FILE__, __LINE__, "%s: committed, but the outcome is %d", kind->calls, (int)now);
    bench_close(bench);
    unlink(bench->path);
}

IN_BENCH(failing_calls_while_a_run_is_written, NULL)
{
    static const enum outcome outcomes[] = {OUTCOME_DONE, OUTCOME_FAILED};

    for (int i = 0; i < 2; i++)
        for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);)
            try_writing(bench, kind, outcomes[i]);
}

/* The disk is full when the buffer is: after each number of bytes that go into it. */
IN_BENCH(failing_calls_while_the_buffer_is_written, YAML)
{
    enum { BYTES = 8000 }; /* more than a run has */
    int failed = 0;

    CHECK(write_run(bench, 1, OUTCOME_DONE, true) == 0);
    for (size_t room = 0; room < BYTES; room += 4) {
        bench->dataset->buffer.used = WRITE_BUFFER_BYTES - room;
        bench->error.text[0] = '\0';
        failing_always("pwrite", ENOSPC);
        int status = room % 8 ? 0 : dataset_return(bench->dataset, 1, &bench->error);
        if (status == 0)
            status = write_run(bench, 1, room % 16 ? OUTCOME_FAILED : OUTCOME_DONE, false);
        CHECK(failing_end() && status == -1);
        failed += strstr(bench->error.text, "a.nc: No space left on device") != NULL;
        dataset_forget(bench->dataset);
    }
    CHECK(failed == BYTES / 4);
    CHECK(write_run(bench, 1, OUTCOME_DONE, true) == 0);
    CHECK(dataset_outcomes(bench->dataset)[1] == OUTCOME_DONE);
}

/* Rows and steps that a run does not have. */
IN_BENCH(dataset_has_texts_and_phases_of_any_run, YAML)
{
    char host[300];
    struct result result = {.outcome = OUTCOME_DONE, .last_step = 10, .norm_growth = NAN};

    memset(host, 'h', sizeof(host));
    host[sizeof(host) - 1] = '\0';
    CHECK(dataset_start(bench->dataset, 0, host, 1, 0, &bench->error) == 0);
    CHECK(dataset_result(bench->dataset, 0, &result, &bench->error) == 0);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK_CLOSE(bench_read_value(bench, "phase", 0), PHASE_NONE, 0);
    CHECK_CLOSE(bench_read_value(bench, "outcome", 0), OUTCOME_DONE, 0);
}

IN_BENCH(dataset_has_the_rows_of_its_runs_alone, YAML)
{
    CHECK(dataset_has_values(bench->dataset, 0, 5, 0, 4));
    CHECK(!dataset_has_values(bench->dataset, 0, 6, 0, 4));
    CHECK(!dataset_has_values(bench->dataset, 0, 5, 1 << 20, 4));
    CHECK(!dataset_has_values(bench->dataset, 0, STEP_OF_RUN, 1 << 20, 4));
    CHECK(
        dataset_result(bench->dataset, 0, &(struct result){.outcome = OUTCOME_PENDING}, &bench->error) == 0);
    CHECK(dataset_outcomes(bench->dataset)[0] == OUTCOME_PENDING);
    bench_close(bench);
    CHECK(dataset_close(NULL, &bench->error) == 0);
}
