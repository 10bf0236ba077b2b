/* An output of another sweep: what is told, and what is left alone. */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"
#include "tests/test.h"

#include "driver/dataset/dataset.h"

#include <netcdf.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TWO "together: {model: {a: {width: 8, heads: 2}, b: {width: 16, heads: 4}}}\n"
#define EIGHT "seed: [1, 2, 3, 4, 5, 6, 7, 8]\n"

/* The message has the text. */
struct difference {
    const char *before, *after, *told;
};

static const struct difference refused[] = {
    {TWO, "together: {model: {a: {width: 8, layers: 2}, b: {width: 16, layers: 4}}}\n",
        "model sets other keys in "},
    {TWO, "together: {model: {a: {width: 8, heads: 2, layers: 1}, b: {width: 16, heads: 4, layers: 2}}}\n",
        "model sets other keys in "},
    {EIGHT, "seed: [8]\n", "no longer has seed 1, 2, 3, 4, 5 and more, which "},
    {EIGHT, "seed: 8\n", "seed is an axis in "},
    {"seed: [1]\nlearning_rate: [0.1, 0.01]\n", "seed: 2\nlearning_rate: [0.1, 0.01]\n",
        "seed is an axis in "},
    {"learning_rate: [0.1, 0.01]\n", TWO "learning_rate: [0.1, 0.01]\n", "model is not an axis in "},
    {TWO, "width: [8, 16]\nheads: 2\n", "model is an axis in "},
    {"optimiser: sgd\nlearning_rate: 0.1\nmomentum: 0.5\nactivation: gelu\nnorm_placement: out\nlayers: 3\n"
     "width: 24\nheads: 6\nfeedforward: 40\nbias: false\ntied: true\nschedule: linear\n"
     "warmup_steps: 3\ngradient_clip: 0.5\n",
        "\n", " ...; use --fresh or another -o"},
};

/* The same sweep in other words. */
static const struct difference accepted[] = {
    {"seed: [1]\n", "seed: 1\n", ""},
    {"seed: 1\n", "seed: [1]\n", ""},
    {TWO, TWO, ""},
};

static void check_difference(const struct difference *difference, bool refuses)
{
    char before[1400], after[1400];
    struct bench bench;

    snprintf(before, sizeof(before), "%s%s", BASE, difference->before);
    snprintf(after, sizeof(after), "%s%s", BASE, difference->after);
    bench_init(&bench);
    if (!bench_opens(&bench, before))
        return;
    bench_close(&bench);
    int status = bench_open(&bench, after, NULL);
    if (status != (refuses ? -1 : 0) || (refuses && !strstr(bench.error.text, difference->told)))
        test_fail(__FILE__, __LINE__, "%s: %d, '%s'", difference->after, status, bench.error.text);
    if (status == 0)
        bench_close(&bench);
    bench_release(&bench);
}

TEST(dataset_tells_how_sweeps_differ)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        check_difference(&refused[i], true);
    for (size_t i = 0; i < sizeof(accepted) / sizeof(*accepted); i++)
        check_difference(&accepted[i], false);
}

/* Options of an earlier run are named if the sweep does not have them now. */
TEST(dataset_names_the_options_of_the_earlier_run)
{
    static const struct {
        const char *before, *after;
        bool hint;
    } cases[] = {
        {"width: 8\n# --set width=8\n", "width: 16\n", true},
        {"width: 8\n# --set width=8\n", "width: 16\n# --set width=16\n", true},
        {"width: 8\n# --set heads=4\n", "width: 16\n# --set heads=4\n", false},
        {"width: 8 # --set is named here\n", "width: 16\n", false},
        {"width: 8 # --set is named here\n# --set width=8\n", "width: 16\n", true},
        {"width: 8\n", "width: 16\n", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char before[600], after[600];
        struct bench bench;
        snprintf(before, sizeof(before), "%s%s", BASE, cases[i].before);
        snprintf(after, sizeof(after), "%s%s", BASE, cases[i].after);
        bench_init(&bench);
        if (!bench_opens(&bench, before))
            return;
        bench_close(&bench);
        CHECK(bench_open(&bench, after, NULL) == -1);
        bool hint = strstr(bench.error.text, "or repeat the --set options of the earlier run") != NULL;
        if (hint != cases[i].hint)
            test_fail(__FILE__, __LINE__, "case %zu: %s", i, bench.error.text);
        bench_release(&bench);
    }
}

/* Changes the header of the bench's file. */
static void alter(const struct bench *bench, void (*change)(int file))
{
    int file;

    CHECK(nc_open(bench->path, NC_WRITE, &file) == NC_NOERR && nc_redef(file) == NC_NOERR);
    change(file);
    CHECK(nc__enddef(file, 0, 8, 0, 8) == NC_NOERR && nc_close(file) == NC_NOERR);
}

static void forget_tied(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "tied") == NC_NOERR);
}

static void forget_precision(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "training_precision") == NC_NOERR);
}

static void forget_batches(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "gradient_batches") == NC_NOERR);
}

static void forget_sweep(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "sweep") == NC_NOERR);
}

static void empty_history(int file)
{
    CHECK(nc_put_att_text(file, NC_GLOBAL, "history", 0, "") == NC_NOERR);
}

static void hide(int file, const char *name)
{
    int id;

    CHECK(nc_inq_varid(file, name, &id) == NC_NOERR && nc_rename_var(file, id, "floor") == NC_NOERR);
}

static void hide_layers(int file)
{
    hide(file, "layer");
}

static void hide_phase(int file)
{
    hide(file, "phase");
}

static void hide_norm(int file)
{
    hide(file, "param_norm");
}

/* Another program has taken something out. */
TEST(dataset_with_a_part_taken_out)
{
    static const struct {
        void (*change)(int file);
        const char *after, *told; /* NULL: it is continued */
    } cases[] = {
        {forget_tied, "", "the attribute tied is missing; normsweep did not write this; use --fresh or"},
        {forget_precision, "",
            "the attribute training_precision is not a text; normsweep did not write this"},
        {forget_batches, "", "holds another sweep: the attribute gradient_batches is missing in "},
        {forget_batches, "width: 24\n", "holds another sweep: width is 64 in "},
        {forget_sweep, "width: 24\n", "width is "},
        {forget_sweep, "", NULL},
        {empty_history, "seed: [0, 1]\n", NULL},
        {hide_layers, "", "layer is missing; normsweep did not write this; use --fresh or another -o"},
        {hide_phase, "", "phase is missing; normsweep did not write this; use --fresh or another -o"},
        {hide_norm, "", "holds another sweep: param_norm is missing in "},
        {hide_norm, "width: 24\n", "holds another sweep: width is 64 in "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char after[600];
        struct bench bench;
        snprintf(after, sizeof(after), "%s%s", BASE, cases[i].after);
        bench_init(&bench);
        if (!bench_opens(&bench, BASE))
            return;
        bench_close(&bench);
        alter(&bench, cases[i].change);
        int status = bench_open(&bench, after, NULL);
        if (status != (cases[i].told ? -1 : 0) || (status && !strstr(bench.error.text, cases[i].told)))
            test_fail(__FILE__, __LINE__, "case %zu: %d, '%s'", i, status, bench.error.text);
        if (status == 0)
            bench_close(&bench);
        bench_release(&bench);
    }
}

/* ---- what a killed start has left ---- */

TEST(dataset_replaces_the_new_file_of_a_killed_start)
{
    struct bench bench;
    char new[128];

    bench_init(&bench);
    snprintf(new, sizeof(new), "%s.new", bench.path);
    FILE *file = fopen(new, "w");
    CHECK(file && fputs("half", file) >= 0 && fclose(file) == 0);
    failing_next("unlink", EACCES);
    CHECK(bench_open(&bench, BASE, NULL) == -1 && failing_end());
    CHECK(strstr(bench.error.text, "a.nc: Permission denied"));
    failing_after(1, "lstat", EIO);
    CHECK(bench_open(&bench, BASE, NULL) == -1 && failing_end());
    CHECK(strstr(bench.error.text, "a.nc: Input/output error") && bench_exists(&bench, "a.nc.new"));
    if (bench_opens(&bench, BASE))
        bench_close(&bench);
    CHECK(!bench_exists(&bench, "a.nc.new"));
    unlink(bench.path);
    CHECK(mkdir(new, 0777) == 0);
    CHECK(bench_open(&bench, BASE, NULL) == -1 && bench.error.status == ERROR_INPUT);
    CHECK(strstr(bench.error.text, "a.nc.new: File exists"));
    CHECK(rmdir(new) == 0);
    bench_release(&bench);
}
