/* Each call that a dataset makes fails once: it is one error, the file is as before or whole, and another try
 * succeeds. */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#include "driver/dataset/form/form.h"

#include <netcdf.h>

/* A file as it was. */
struct kept {
    char *bytes;
    size_t size;
};

static struct kept keep_file(const char *path)
{
    struct kept kept;

    kept.bytes = get_bytes(path, &kept.size);
    return kept;
}

/* Is the file as it was? */
static bool is_kept(const struct kept *kept, const char *path)
{
    struct kept now = keep_file(path);
    bool same = now.size == kept->size && (!now.bytes) == (!kept->bytes) &&
                (!now.bytes || memcmp(now.bytes, kept->bytes, now.size) == 0);

    free(now.bytes);
    return same;
}

static void put_back(const struct kept *kept, const char *path)
{
    unlink(path);
    if (kept->bytes)
        put_bytes(path, kept->bytes, kept->size);
}

static int open_dataset(struct bench *bench, bool fresh)
{
    const struct dataset_options options = {.fresh = fresh, .retry_failed = true};

    bench->error.text[0] = '\0';
    bench->dataset = NULL;
    return dataset_open(
        &bench->dataset, bench->path, &bench->sweep, &bench->corpus, &bench_session, &options, &bench->error);
}

static int close_dataset(struct bench *bench)
{
    int status = dataset_close(bench->dataset, &bench->error);

    bench->dataset = NULL;
    return status;
}

/* One line that names the file. */
static bool is_said(const struct bench *bench)
{
    return strstr(bench->error.text, "a.nc") && strstr(bench->error.text, ": ") &&
           !strchr(bench->error.text, '\n');
}

/* Opens an output while the call of a kind after `calls` others fails; or, with -1, one from a new place.
 * `done`: the number of runs that are done in the file. False: no call has failed. */
static bool try_open(struct bench *bench, const struct failing_kind *kind, int calls, bool fresh,
    const struct kept *before, int done)
{
    int ended = 0;

    if (calls < 0)
        failing_anew(kind->calls, kind->cause);
    else
        failing_after(calls, kind->calls, kind->cause);
    int result = open_dataset(bench, fresh);
    bool failed = failing_end();
    if (!result && close_dataset(bench) != 0)
        test_fail(__FILE__, __LINE__, "%s: %s", kind->calls, bench->error.text);
    if (result && !is_said(bench))
        test_fail(__FILE__, __LINE__, "%s: '%s'", kind->calls, bench->error.text);
    if (bench_exists(bench, "a.nc.new") && strcmp(kind->calls, "unlink") != 0)
        test_fail(__FILE__, __LINE__, "%s: a.nc.new is left, %s", kind->calls, bench->error.text);
    if (!is_kept(before, bench->path) && !(fresh && result)) {
        if (open_dataset(bench, false) != 0) {
            test_fail(__FILE__, __LINE__, "%s: %s", kind->calls, bench->error.text);
        } else {
            for (int64_t cell = 0; cell < bench->sweep.cells; cell++)
                ended += dataset_outcomes(bench->dataset)[cell] == OUTCOME_DONE;
            if (ended != (fresh ? 0 : done))
                test_fail(__FILE__, __LINE__, "%s: %d runs are done, result %d", kind->calls, ended, result);
            CHECK(close_dataset(bench) == 0);
        }
    }
    put_back(before, bench->path);
    return failed;
}

/* Lets the calls of all kinds fail while an output is opened. */
static void try_opening(struct bench *bench, bool fresh, int done)
{
    const struct kept before = keep_file(bench->path);

    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);)
        try_open(bench, kind, -1, fresh, &before, done);
    free(before.bytes);
}

/* The same for each file that is opened or looked for, and for some of the calls of netCDF. */
static void try_opening_often(struct bench *bench, int done)
{
    static const struct {
        struct failing_kind kind;
        int apart;
    } often[] = {{{"open", EIO}, 1}, {{"lstat", EIO}, 1}, {{"nc_inq_varid", NC_ENOMEM}, 97},
        {{"nc_sync", EIO}, 1}, {{"nc_*", NC_ENOMEM}, 499}};
    const struct kept before = keep_file(bench->path);

    for (size_t i = 0; i < sizeof(often) / sizeof(*often); i++)
        for (int n = 0; try_open(bench, &often[i].kind, n, false, &before, done); n += often[i].apart)
            ;
    free(before.bytes);
}

#define AXES                                                                                                 \
    "norm_placement: [pre, out]\n"                                                                           \
    "together: {model: {a: {width: 8, heads: 2}, b: {width: 16, heads: 4}}}\n"

IN_BENCH(failing_calls_of_a_new_dataset, NULL)
{
    bench_prepare(bench, BASE AXES "seed: [1, 2]\n");
    try_opening(bench, false, 0);
    bench_unprepare(bench);
}

/* Makes an output in which the first run is done, the second has failed, and others have added something. */
static void make_output(struct bench *bench, const char *yaml)
{
    const double value[2] = {1, 2};
    const size_t start[1] = {0}, count[1] = {2};
    int file, dimension, variable, number, step, over;

    if (!bench_opens(bench, yaml))
        return;
    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    bench_write_run(bench, 1, OUTCOME_FAILED, 1000);
    CHECK(dataset_put_deaths(bench->dataset, 1, 3, &bench->error) == 0);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    bench_close(bench);
    CHECK(nc_open(bench->path, NC_WRITE, &file) == NC_NOERR && nc_redef(file) == NC_NOERR);
    CHECK(nc_put_att_text(file, NC_GLOBAL, "note", 4, "mine") == NC_NOERR);
    CHECK(nc_def_dim(file, "two", 2, &dimension) == NC_NOERR);
    CHECK(nc_def_var(file, "number", NC_DOUBLE, 0, NULL, &number) == NC_NOERR);
    CHECK(nc_def_var(file, "added", NC_DOUBLE, 1, &dimension, &variable) == NC_NOERR);
    CHECK(nc_put_att_text(file, variable, "note", 4, "mine") == NC_NOERR);
    CHECK(nc_inq_dimid(file, "step", &step) == NC_NOERR);
    CHECK(nc_def_var(file, "over_step", NC_DOUBLE, 1, &step, &over) == NC_NOERR);
    CHECK(nc__enddef(file, 0, 8, 0, 8) == NC_NOERR);
    CHECK(nc_put_vara_double(file, variable, start, count, value) == NC_NOERR);
    CHECK(nc_close(file) == NC_NOERR);
}

IN_BENCH(failing_calls_of_a_dataset_that_is_continued, NULL)
{
    static const char yaml[] = BASE AXES "seed: [1, 2]\n";

    make_output(bench, yaml);
    bench_prepare(bench, yaml);
    try_opening(bench, false, 1);
    bench_unprepare(bench);
}

static void grow(struct bench *bench)
{
    make_output(bench, BASE AXES "seed: [1, 2]\n");
    bench_prepare(bench, BASE AXES "seed: [1, 2, 3]\n");
    try_opening(bench, false, 1);
    try_opening_often(bench, 1);
    bench_unprepare(bench);
}

THOROUGH(failing_calls_of_a_dataset_that_grows, "lets every call fail, one after the other")
{
    bench_run(grow, NULL);
}

/* The first of two datasets is replaced; whatever fails, one of them stays. */
IN_BENCH(failing_calls_of_a_fresh_dataset, NULL)
{
    static const char yaml[] = BASE "seed: [1, 2]\n";

    make_output(bench, yaml);
    bench_prepare(bench, yaml);
    CHECK(open_dataset(bench, true) == 0 && close_dataset(bench) == 0);
    try_opening(bench, true, 0);
    bench_unprepare(bench);
}
