/* Shared by the tests of the dataset. */
#include "tests/driver/dataset/bench.h"

#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"
#include "driver/sweep/inside.h"

const struct session bench_session = {
    "1.2.3", "abcdef", "a compiler", "a library", "a kernel", "a level", "an MPI", "a host", "bad hosts"};

void bench_init(struct bench *bench)
{
    *bench = (struct bench){0};
    scratch_folder(bench->folder);
    snprintf(bench->path, sizeof(bench->path), "%s/a.nc", bench->folder);
}

bool bench_prepare(struct bench *bench, const char *yaml)
{
    bench->dataset = NULL;
    if (sweep_parse(&bench->sweep, "a.yaml", ".", yaml, strlen(yaml), NULL, 0, &bench->error) != 0)
        return false;
    if (sweep_load_corpus(&bench->sweep, &bench->corpus, &bench->error) == 0)
        return true;
    sweep_release(&bench->sweep);
    return false;
}

void bench_unprepare(struct bench *bench)
{
    corpus_release(&bench->corpus);
    sweep_release(&bench->sweep);
}

int bench_open(struct bench *bench, const char *yaml, const struct dataset_options *options)
{
    static const struct dataset_options none;

    if (!bench_prepare(bench, yaml))
        return -1;
    int result = dataset_open(&bench->dataset, bench->path, &bench->sweep, &bench->corpus, &bench_session,
        options ? options : &none, &bench->error);
    corpus_release(&bench->corpus);
    if (result != 0) {
        sweep_release(&bench->sweep);
        bench->dataset = NULL;
    }
    return result;
}

void bench_close(struct bench *bench)
{
    CHECK(dataset_close(bench->dataset, &bench->error) == 0);
    bench->dataset = NULL;
    sweep_release(&bench->sweep);
}

bool bench_opens(struct bench *bench, const char *yaml)
{
    if (bench_open(bench, yaml, NULL) == 0)
        return true;
    test_fail(__FILE__, __LINE__, "%s", bench->error.text);
    return false;
}

bool bench_reopens(struct bench *bench, const char *yaml)
{
    bench_close(bench);
    return bench_opens(bench, yaml);
}

void bench_run(void (*test)(struct bench *bench), const char *yaml)
{
    struct bench bench;

    bench_init(&bench);
    if (!yaml || bench_opens(&bench, yaml))
        test(&bench);
    if (bench.dataset)
        bench_close(&bench);
    bench_release(&bench);
}

void bench_release(struct bench *bench)
{
    const char *names[] = {"a.nc", "a.nc.old", "a.nc.new", "b.nc"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char path[BENCH_PATH];
        unlink(bench_path(bench, names[i], path));
    }
    CHECK(rmdir(bench->folder) == 0);
}

/* A made-up measurement: depends on the run, step and index, not on where it is stored. */
static double made_up(const struct run *run, int64_t step, size_t index)
{
    return run->learning_rate * 1e6 + (double)run->seed * 1e4 + (double)step + (double)index / 1024;
}

void bench_write_row(struct bench *bench, int64_t cell, int64_t step, size_t parts)
{
    struct run run;
    sweep_cell(&bench->sweep, cell, &run);
    const struct metric_form form = metric_form(&run, &bench->sweep.measure);
    size_t size = metric_row_size(&form, step);
    double *row = malloc(size * sizeof(*row));

    for (size_t i = 0; i < size; i++)
        row[i] = made_up(&run, step, i);
    for (size_t offset = 0; offset < size; offset += parts) {
        size_t count = size - offset < parts ? size - offset : parts;
        CHECK(dataset_row(bench->dataset, cell, step, row + offset, offset, count, &bench->error) == 0);
    }
    free(row);
}

static double growth_of(const struct bench *bench, const struct run *run)
{
    const struct metric_form form = metric_form(run, &bench->sweep.measure);

    return made_up(run, STEP_OF_RUN, form.offset[METRIC_norm_growth]);
}

static struct result made_up_result(const struct run *run, enum outcome outcome)
{
    struct result result = {.outcome = outcome,
        .last_step = run->steps,
        .diverged_step = outcome == OUTCOME_DIVERGED ? 7 : -1,
        .seconds = 2,
        .step_seconds = 1,
        .tokens = 1000};

    if (outcome == OUTCOME_FAILED)
        snprintf(result.reason, sizeof(result.reason), "it rained");
    return result;
}

void bench_write_run(struct bench *bench, int64_t cell, enum outcome outcome, size_t parts)
{
    struct run run;
    struct result result;

    sweep_cell(&bench->sweep, cell, &run);
    CHECK(dataset_start(bench->dataset, cell, "here", 1, 0, &bench->error) == 0);
    for (int64_t step = 0; step <= run.steps; step += 5)
        bench_write_row(bench, cell, step, parts);
    bench_write_row(bench, cell, STEP_OF_RUN, parts);
    result = made_up_result(&run, outcome);
    result.norm_growth = growth_of(bench, &run);
    CHECK(dataset_result(bench->dataset, cell, &result, &bench->error) == 0);
}

/* All values of a variable of the bench's file. The caller frees them. */
static double *read_variable(
    const struct bench *bench, struct view *view, const char *name, struct view_variable *variable)
{
    struct error error;

    if (view_open(view, bench->path, &error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        return NULL;
    }
    double *values = NULL;
    if (view_find(view, name, variable)) {
        values = malloc((size_t)variable->size * sizeof(*values));
        CHECK(view_read(view, variable, values, &error) == 0);
    }
    CHECK(values != NULL);
    return values;
}

double bench_read_value(const struct bench *bench, const char *name, int64_t index)
{
    struct view view;
    struct view_variable variable;
    double *values = read_variable(bench, &view, name, &variable);
    double value = values && index < variable.size ? values[index] : -12345;

    free(values);
    view_close(&view);
    return value;
}

/* The index in a run's own row of value `index` of a row of the file; false if the run has no such value. */
static bool in_run(enum metric metric, const struct metric_form *form, const struct view *view,
    const struct view_variable *variable, int64_t index, size_t *place)
{
    enum metric_dimension dimension[METRIC_RANK_MOST];
    int rank = metric_dimensions(metric, &view->form, dimension);
    size_t stride = 1;
    bool there = true;

    *place = 0;
    for (int i = rank - 1; i > 0; i--) { /* all but step */
        int64_t length = variable->length[variable->dimension_count - rank + i];
        int64_t own = form->along[dimension[i]], at = index % length;
        if (dimension[i] == DIMENSION_STACK && own == 1)
            at -= form->first_stack;
        there = there && at >= 0 && at < own;
        *place += (size_t)at * stride;
        stride *= (size_t)own;
        index /= length;
    }
    return there;
}

int64_t bench_count_wrong(const struct bench *bench, enum metric metric, int64_t cell)
{
    struct view view;
    struct view_variable variable;
    double *values = read_variable(bench, &view, metric_table[metric].name, &variable);
    struct run run;
    int64_t wrong = 0;

    if (!values)
        return -1;
    sweep_cell(&bench->sweep, cell, &run);
    struct metric_form form = metric_form(&run, &bench->sweep.measure);
    int64_t block = variable.size / view.cells, per_step = block / view.step_count;
    for (int64_t i = 0; i < block; i++) {
        double value = values[cell * block + i];
        int64_t step = view.step[i / per_step];
        size_t place;
        bool there = step <= run.steps && in_run(metric, &form, &view, &variable, i % per_step, &place);
        bool right = there ? value == made_up(&run, step, form.offset[metric] + place) : isnan(value);
        wrong += !right;
    }
    free(values);
    view_close(&view);
    return wrong;
}

char *bench_path(const struct bench *bench, const char *name, char path[BENCH_PATH])
{
    snprintf(path, BENCH_PATH, "%s/%s", bench->folder, name);
    return path;
}

bool bench_exists(const struct bench *bench, const char *name)
{
    char path[BENCH_PATH];

    return file_exists(bench_path(bench, name, path));
}

void bench_put(const struct bench *bench, const char *name, const void *bytes, size_t size)
{
    char path[BENCH_PATH];

    put_bytes(bench_path(bench, name, path), bytes, size);
}

void bench_check_text(const struct bench *bench, const char *name, const char *text)
{
    char path[BENCH_PATH];
    size_t size;
    char *found = get_bytes(bench_path(bench, name, path), &size);

    CHECK_TEXT(found ? found : "no file", text);
    free(found);
}

double bench_growth(const struct bench *bench, int64_t cell)
{
    struct run run;

    sweep_cell(&bench->sweep, cell, &run);
    return growth_of(bench, &run);
}
