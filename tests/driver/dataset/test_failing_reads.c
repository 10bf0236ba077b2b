/* Each call fails once while a dataset is looked at: what is read is right, or it is not there. */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#include "driver/dataset/form/form.h"
#include "driver/dataset/read/inside.h"

#define YAML                                                                                                 \
    BASE "norm_placement: [pre, out]\ntogether: {model: {a: {width: 8, heads: 2}, b: {width: 16, heads: "    \
         "4}}}\n"                                                                                            \
         "learning_rate: [0.1, 0.01]\n"

/* A look at a dataset: what was read, and how often a function said that it could not. */
struct look {
    const struct bench *bench;
    struct view view;
    struct error error;
    int failures;
};

static void count_failure(struct look *look, bool failed)
{
    look->failures += failed;
    if (failed && look->error.text[0])
        CHECK(strstr(look->error.text, "a.nc") && strstr(look->error.text, ": "));
    look->error.text[0] = '\0';
}

static void check_text(struct look *look, char *found, const char *expected)
{
    count_failure(look, !found);
    if (found)
        CHECK_TEXT(found, expected);
    free(found);
}

static void look_at_texts(struct look *look)
{
    struct view_variable variable;

    check_text(look, view_text(&look->view, "title", NULL), "a test");
    check_text(look, view_string(&look->view, "host", 0, NULL), "here");
    check_text(look, view_string(&look->view, "tensor", 0, NULL), "q");
    count_failure(look, !view_is_text(&look->view, "host"));
    bool found = view_find(&look->view, "outcome", &variable);
    count_failure(look, !found);
    if (!found)
        return;
    check_text(look, view_variable_text(&look->view, &variable, "units", NULL), "1");
    struct view_flags flags;
    view_flags(&look->view, &variable, &flags);
    count_failure(look, flags.count == 0);
    CHECK(flags.count == 0 || (flags.count == OUTCOME_COUNT && strcmp(flags.word[0], "pending") == 0));
}

static void look_at_numbers(struct look *look)
{
    struct view_variable variable;
    double values[64];

    if (!view_find(&look->view, "norm_growth", &variable)) {
        count_failure(look, true);
        return;
    }
    CHECK(view_is_of_runs(&look->view, &variable) && variable.size == 8);
    count_failure(look, view_read(&look->view, &variable, values, &look->error) != 0);
    int status = view_read_cell(&look->view, &variable, 0, values, &look->error);
    count_failure(look, status != 0);
    CHECK(status != 0 || values[0] == bench_growth(look->bench, 0));
    double *cells = view_cells(&look->view, "norm_growth", &look->error);
    count_failure(look, !cells);
    free(cells);
    for (int i = 0; i < 3; i++) {
        static const char *const others[] = {"no_such_variable", "param_norm", "step"};
        cells = view_cells(&look->view, others[i], &look->error);
        count_failure(look, !cells);
        CHECK(!cells || isnan(cells[0]));
        free(cells);
    }
    count_failure(look, !view_find(&look->view, "step", &variable));
    CHECK(!view_is_of_runs(&look->view, &variable));
}

static void look_at_runs(struct look *look)
{
    union param_value value;
    signed char outcome[8] = {0};
    int status = view_outcomes(&look->view, outcome, &look->error);

    count_failure(look, status != 0);
    CHECK(status != 0 || (outcome[0] == OUTCOME_DONE && outcome[1] == OUTCOME_PENDING));
    bool found = view_param(&look->view, param_find("context"), &value, NULL);
    count_failure(look, !found);
    CHECK(!found || value.integer == 4);
    found = view_param(&look->view, param_find("optimiser"), &value, NULL);
    count_failure(look, !found);
    found = view_param(&look->view, param_find("weight_decay"), &value, NULL);
    count_failure(look, !found);
    count_failure(look, verify_content(&look->view, &look->error) != 0);
    count_failure(look, verify_dataset(&look->view, &look->error) != 0);
    count_failure(look, !verify_alignment(&look->view));
}

static void look_beside(struct look *look)
{
    const char *path = look->bench->path;
    struct error error = {.text = "unchanged"};
    char expected[256];

    char *command = conversion_to_copy("a b.nc");
    check_text(look, command, "nccopy -4 -d 5 -s 'a b.nc' 'a b-small.nc'");
    command = conversion_back("b", true);
    check_text(look, command, "nccopy -k cdf5 b b-cdf5.nc, then run with -o b-cdf5.nc");
    command = conversion_to_copy("sweep");
    check_text(look, command, "nccopy -4 -d 5 -s sweep sweep-small.nc");
    command = conversion_back("b.nc", false);
    check_text(look, command, "nccopy -k cdf5 b.nc b-cdf5.nc");
    count_failure(look, view_check(path, &look->error) != 0);
    snprintf(expected, sizeof(expected), "%.*s.yaml", (int)strlen(path) - 3, path);
    mistaken_dataset(expected, &error);
    count_failure(look, strstr(error.text, "its dataset is ") == NULL);
}

/* Everything that commands read. */
static int look_at_all(const struct bench *bench)
{
    struct look look = {.bench = bench};

    int opened = view_open(&look.view, bench->path, &look.error);
    count_failure(&look, opened != 0);
    if (opened == 0) {
        look_at_texts(&look);
        look_at_numbers(&look);
        look_at_runs(&look);
        view_close(&look.view);
    }
    look_beside(&look);
    return look.failures;
}

IN_BENCH(failing_calls_while_a_dataset_is_read, YAML)
{
    char sweep[BENCH_PATH];

    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    bench_close(bench);
    CHECK(bench_prepare(bench, YAML));
    bench_put(bench, "a.yaml", YAML, strlen(YAML));
    CHECK(look_at_all(bench) == 0);
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        failing_anew(kind->calls, kind->cause);
        int failures = look_at_all(bench);
        if (!failing_end() && failures)
            test_fail(__FILE__, __LINE__, "%s: %d failures", kind->calls, failures);
    }
    unlink(bench_path(bench, "a.yaml", sweep));
    bench_unprepare(bench);
}

/* The size that `plan` tells is right, or unknown. */
IN_BENCH(failing_calls_while_a_size_is_reckoned, NULL)
{
    CHECK(bench_prepare(bench, YAML));
    double right = dataset_size(&bench->sweep, &bench->corpus);
    CHECK(right > 0);
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        failing_anew(kind->calls, kind->cause);
        double bytes = dataset_size(&bench->sweep, &bench->corpus);
        bool failed = failing_end();
        if (!(bytes == right || (failed && isnan(bytes))))
            test_fail(__FILE__, __LINE__, "%s: %g bytes", kind->calls, bytes);
    }
    bench_unprepare(bench);
}
