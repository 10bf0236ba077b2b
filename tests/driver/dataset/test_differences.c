/* An output of another sweep: what is told, and what is left alone. */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#include <netcdf.h>

#include <sys/stat.h>

#define TWO "together: {model: {a: {width: 8, heads: 2}, b: {width: 16, heads: 4}}}\n"
#define EIGHT "seed: [1, 2, 3, 4, 5, 6, 7, 8]\n"

/* What a start with `after` says of an output of `before`; NULL: it is continued. */
struct mismatch {
    const char *before, *after, *told;
};

#define HINT "; use --fresh or another -o, or repeat the --set options of the earlier run"

static const struct mismatch differences[] = {
    {"width: 64\n", "width: 128\n", ": width is 64 in a.nc and 128 in a.yaml; use --fresh or another -o"},
    {"width: 64\nheads: 4\nbias: true\n", "width: 128\nheads: 8\nbias: false\n",
        "width is 64 in a.nc and 128 in a.yaml, heads is 4 in a.nc and 8 in a.yaml, bias is true in a.nc and "
        "false in a.yaml; "},
    {"norm_placement: pre\n", "norm_placement: out\n", "norm_placement is pre in a.nc and out in a.yaml; "},
    {"weight_decay: 0.01\n", "weight_decay: 0.1\n", "weight_decay is 0.01 in a.nc and 0.1 in a.yaml; "},
    {"", "corpus_seed: 3\n", ": corpus_seed is 0 in a.nc and 3 in a.yaml; "}, /* and not: its content */
    {"learning_rate: [0.1, 0.01, 0.001]\n", "learning_rate: [0.01, 0.2]\n",
        "a.yaml no longer has learning_rate 0.1, 0.001, which a.nc contains; "},
    {EIGHT, "seed: [8]\n", "no longer has seed 1, 2, 3, 4, 5 and more, which "},
    {EIGHT, "seed: 8\n", "seed is an axis in a.nc but not in a.yaml; "},
    {"seed: [1]\nlearning_rate: [0.1, 0.01]\n", "seed: 2\nlearning_rate: [0.1, 0.01]\n",
        "seed is an axis in a.nc but not in a.yaml"},
    {"learning_rate: 0.1\n", "learning_rate: [0.2, 0.01]\n",
        "learning_rate is not an axis in a.nc, and its value there is not on the axis in a.yaml; "},
    {"learning_rate: [0.1, 0.01]\n", TWO "learning_rate: [0.1, 0.01]\n", "model is not an axis in "},
    {TWO, "width: [8, 16]\nheads: 2\n", "model is an axis in "},
    {TWO, "together: {model: {a: {width: 8, heads: 4}, b: {width: 16, heads: 4}}}\n",
        "heads of model a is 2 in a.nc and 4 in a.yaml; "},
    {"together: {model: {a: {width: 8, heads: 2}, b: {width: 8, heads: 4}, c: {width: 16, heads: 2}}}\n",
        "together: {model: {b: {width: 8, heads: 8}, d: {width: 16, heads: 2}}}\n",
        "a.yaml no longer has model a, c, which a.nc contains, heads of model b is 4 in a.nc and 8 in "
        "a.yaml; "},
    {TWO, "together: {model: {a: {width: 8, layers: 2}, b: {width: 16, layers: 4}}}\n",
        "model sets other keys in "},
    {TWO, "together: {model: {a: {width: 8, heads: 2, layers: 1}, b: {width: 16, heads: 4, layers: 2}}}\n",
        "model sets other keys in "},
    {"validate: {every: end}\n", "validate: {every: 5, tokens: all}\n",
        "validate is {every: end, tokens: 16384} in a.nc and {every: 5, tokens: all} in a.yaml; "},
    {"optimiser: sgd\nlearning_rate: 0.1\nmomentum: 0.5\nactivation: gelu\nnorm_placement: out\nlayers: 3\n"
     "width: 24\nheads: 6\nfeedforward: 40\nbias: false\ntied: true\nschedule: linear\n"
     "warmup_steps: 3\ngradient_clip: 0.5\n",
        "\n", " ...; use --fresh or another -o"},
    /* options of an earlier run are named if the sweep does not have them now */
    {"width: 8\n# --set width=8\n", "width: 16\n", HINT},
    {"width: 8\n# --set width=8\n", "width: 16\n# --set width=16\n", HINT},
    {"width: 8\n# --set heads=4\n", "width: 16\n# --set heads=4\n", "in a.yaml; use --fresh or another -o"},
    {"width: 8 # --set is named here\n", "width: 16\n", "in a.yaml; use --fresh or another -o"},
    {"width: 8 # --set is named here\n# --set width=8\n", "width: 16\n", HINT},
    /* the same sweep in other words */
    {"seed: [1]\n", "seed: 1\n", NULL},
    {"seed: 1\n", "seed: [1]\n", NULL},
    {TWO, TWO, NULL},
};

/* A message without the folder, whose name is random. */
static void without_folder(const struct bench *bench, const char *text, char *short_text, size_t size)
{
    size_t folder = strlen(bench->folder), used = 0;

    while (*text && used + 1 < size) {
        if (strncmp(text, bench->folder, folder) == 0)
            text += folder + 1;
        else
            short_text[used++] = *text++;
    }
    short_text[used] = '\0';
}

/* Starts a sweep over the bench's output, and removes that; `which` is told of a failure. A text that ends
 * without a blank is the end of the message. */
static void check_start(struct bench *bench, const char *more, const char *told, size_t which)
{
    char yaml[1400], said[1400] = "";

    snprintf(yaml, sizeof(yaml), "%s%s", BASE, more);
    int status = bench_open(bench, yaml, NULL);
    if (status == 0)
        bench_close(bench);
    else
        without_folder(bench, bench->error.text, said, sizeof(said));
    const char *found = told ? strstr(said, told) : NULL;
    bool right = told ? status == -1 && bench->error.status == ERROR_INPUT && found : status == 0;
    if (!right || (told && strstr(told, "another -o") && strcmp(found, told) != 0))
        test_fail(__FILE__, __LINE__, "case %zu: %d, '%s'", which, status, said);
    CHECK(!bench_exists(bench, "a.nc.new") && unlink(bench->path) == 0);
}

IN_BENCH(dataset_tells_how_sweeps_differ, NULL)
{
    for (size_t i = 0; i < sizeof(differences) / sizeof(*differences); i++) {
        char before[1400];
        snprintf(before, sizeof(before), "%s%s", BASE, differences[i].before);
        if (!bench_opens(bench, before))
            return;
        bench_close(bench);
        check_start(bench, differences[i].after, differences[i].told, i);
    }
}

/* Another program has removed an attribute, emptied one, or renamed a variable. */
IN_BENCH(dataset_with_a_part_taken_out, NULL)
{
    static const struct {
        const char *removed, *emptied, *renamed, *after, *told;
    } cases[] = {
        {"tied", NULL, NULL, "",
            "a.nc: the attribute tied is missing; normsweep did not write this; use --fresh or another -o"},
        {"training_precision", NULL, NULL, "", "the attribute training_precision is not a text; "},
        {"gradient_batches", NULL, NULL, "",
            "holds another sweep: the attribute gradient_batches is missing in a.nc; "},
        {"gradient_batches", NULL, NULL, "width: 24\n", "holds another sweep: width is 64 in a.nc "},
        {"sweep", NULL, NULL, "width: 24\n", "width is "},
        {"sweep", NULL, NULL, "", NULL},
        {NULL, "history", NULL, "seed: [0, 1]\n", NULL},
        {NULL, NULL, "layer", "", "layer is missing; normsweep did not write this; "},
        {NULL, NULL, "phase", "", "phase is missing; normsweep did not write this; "},
        {NULL, NULL, "param_norm", "", "holds another sweep: param_norm is missing in a.nc; "},
        {NULL, NULL, "param_norm", "width: 24\n", "holds another sweep: width is 64 in a.nc "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int file, id;
        if (!bench_opens(bench, BASE))
            return;
        bench_close(bench);
        CHECK(nc_open(bench->path, NC_WRITE, &file) == NC_NOERR && nc_redef(file) == NC_NOERR);
        if (cases[i].removed)
            CHECK(nc_del_att(file, NC_GLOBAL, cases[i].removed) == NC_NOERR);
        if (cases[i].emptied)
            CHECK(nc_put_att_text(file, NC_GLOBAL, cases[i].emptied, 0, "") == NC_NOERR);
        if (cases[i].renamed)
            CHECK(nc_inq_varid(file, cases[i].renamed, &id) == NC_NOERR &&
                  nc_rename_var(file, id, "floor") == NC_NOERR);
        CHECK(nc__enddef(file, 0, 8, 0, 8) == NC_NOERR && nc_close(file) == NC_NOERR);
        check_start(bench, cases[i].after, cases[i].told, i);
    }
}

/* ---- what a killed start has left ---- */

IN_BENCH(dataset_replaces_the_new_file_of_a_killed_start, NULL)
{
    char new[BENCH_PATH];

    bench_path(bench, "a.nc.new", new);
    bench_put(bench, "a.nc.new", "half", 4);
    failing_next("unlink", EACCES);
    CHECK(bench_open(bench, BASE, NULL) == -1 && failing_end());
    CHECK(strstr(bench->error.text, "a.nc: Permission denied"));
    failing_after(1, "lstat", EIO);
    CHECK(bench_open(bench, BASE, NULL) == -1 && failing_end());
    CHECK(strstr(bench->error.text, "a.nc: Input/output error") && bench_exists(bench, "a.nc.new"));
    if (bench_opens(bench, BASE))
        bench_close(bench);
    CHECK(!bench_exists(bench, "a.nc.new"));
    unlink(bench->path);
    CHECK(mkdir(new, 0777) == 0);
    CHECK(bench_open(bench, BASE, NULL) == -1 && bench->error.status == ERROR_INPUT);
    CHECK(strstr(bench->error.text, "a.nc.new: File exists"));
    CHECK(rmdir(new) == 0);
}
