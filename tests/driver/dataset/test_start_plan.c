/* What a start would do with the file at its output: each case alone, as a plan, before anything is written.
 */
#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"
#include "tests/driver/dataset/bench.h"

#include <netcdf.h>

#define SMALL                                                                                                \
    "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\nwidth: 8\nheads: 2\n"          \
    "measure: {every: 5, metrics: [norms]}\n"
#define BIT(of) (1u << REWRITE_##of)

/* A file of the sweep `before`, and what a start of `after` plans for it. */
static const struct planned {
    const char *before, *after; /* before NULL: there is no file */
    bool fresh;
    enum start_fate fate;
    unsigned rewrite; /* a bit for each reason; the text differs wherever anything of the sweep does */
} plans[] = {
    {NULL, "steps: 10\n", false, START_MAKES, 0},
    {"steps: 10\n", "steps: 10\n", false, START_CONTINUES, 0},
    {"steps: 10\n", "steps: 10\n", true, START_SETS_ASIDE, 0},
    {"steps: 10\nsave_weights: state\n", "steps: 20\nsave_weights: state\n", false, START_GROWS, 0},
    {"steps: 10\n", "steps: 10\ntitle: another\n", false, START_REWRITES, BIT(TEXT)},
    {"steps: 10\nseed: [1, 2]\n", "steps: 10\nseed: [1, 2, 3]\n", false, START_REWRITES,
        BIT(TEXT) | BIT(CELLS)},
    {"steps: 10\nseed: [1, 2]\n", "steps: 10\nseed: [2, 1]\n", false, START_REWRITES, BIT(TEXT) | BIT(CELLS)},
    {"steps: 10\nlearning_rate: [1e-3]\n", "steps: 10\nlearning_rate: 1e-3\nseed: [0, 1]\n", false,
        START_REWRITES, BIT(TEXT) | BIT(CELLS)}, /* an axis in place of another */
    {"steps: [10, 20]\nskip: [{steps: 20}]\n", "steps: [10, 20]\n", false, START_REWRITES,
        BIT(TEXT) | BIT(STEPS)},
    {"steps: 10\nlayers: [1, 2]\nskip: [{layers: 2}]\n", "steps: 10\nlayers: [1, 2]\n", false, START_REWRITES,
        BIT(TEXT) | BIT(LENGTHS)},
};

/* Makes the plan of a start on the bench's output; checks its fate and its reasons. */
static void check_plan(
    struct bench *bench, const char *yaml, bool fresh, enum start_fate fate, unsigned rewrite)
{
    const struct dataset_options options = {.fresh = fresh};
    struct start_plan plan;
    unsigned found = 0;

    if (!bench_prepare(bench, yaml))
        return;
    int made = start_plan_make(&plan, bench->path, &bench->sweep, &bench->corpus, &options, &bench->error);
    CHECK(made == 0);
    if (made == 0) {
        for (int i = 0; i < REWRITE_COUNT; i++)
            found |= plan.fate == START_REWRITES && plan.rewrite[i] ? 1u << i : 0;
        CHECK(plan.fate == fate && found == rewrite);
        start_plan_release(&plan);
    }
    bench_unprepare(bench);
}

TEST(start_plan_of_each_case)
{
    for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
        char before[512], after[512];
        struct bench bench;
        bench_init(&bench);
        snprintf(before, sizeof(before), SMALL "%s", plans[i].before ? plans[i].before : "");
        snprintf(after, sizeof(after), SMALL "%s", plans[i].after);
        if (!plans[i].before || bench_opens(&bench, before)) {
            if (plans[i].before)
                bench_close(&bench);
            check_plan(&bench, after, plans[i].fresh, plans[i].fate, plans[i].rewrite);
        }
        bench_release(&bench);
    }
}

/* The last row of the session table is taken by the last start that fits. */
IN_BENCH(start_plan_when_the_table_of_starts_is_full, NULL)
{
    for (int i = 0; i < SESSIONS_FIRST; i++) {
        check_plan(bench, SMALL "steps: 10\n", false, i == 0 ? START_MAKES : START_CONTINUES, 0);
        if (!bench_opens(bench, SMALL "steps: 10\n"))
            break;
        bench_close(bench);
    }
    check_plan(bench, SMALL "steps: 10\n", false, START_REWRITES, BIT(SESSIONS));
}

/* A longer header moves everything behind it: numbers then begin at odd multiples of 4. */
IN_BENCH(start_plan_when_another_program_has_moved_numbers, NULL)
{
    bool aligned = true;

    if (bench_opens(bench, SMALL "steps: 10\n"))
        bench_close(bench);
    for (int i = 0; aligned && i < 8; i++) {
        char name[8] = "note";
        struct view view;
        int file;
        name[4] = (char)('a' + i);
        CHECK(nc_open(bench->path, NC_WRITE, &file) == NC_NOERR && nc_redef(file) == NC_NOERR);
        CHECK(nc_put_att_text(file, NC_GLOBAL, name, i % 2 ? 4 : 8, "a remark") == NC_NOERR);
        CHECK(nc_enddef(file) == NC_NOERR && nc_close(file) == NC_NOERR);
        CHECK(view_open(&view, bench->path, &bench->error) == 0);
        aligned = verify_alignment(&view);
        view_close(&view);
    }
    CHECK(!aligned);
    check_plan(bench, SMALL "steps: 10\n", false, START_REWRITES, BIT(OFFSETS));
}
