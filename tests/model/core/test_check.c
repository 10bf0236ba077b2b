#include "driver/dataset/form/form.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/schedule/inside.h"
#include "driver/sweep/sweep.h"
#include "model/core/check.h"
#include "tests/aborts.h"
#include "tests/driver/schedule/listed.h"
#include "tests/test.h"

static void count_wrongly(void)
{
    int runs = 3;

    INVARIANT(runs == 2 + 1, "never %d", runs);
    INVARIANT(runs == 4, "%d runs of %s", runs, "four");
}

TEST(check_says_where_and_why)
{
    CHECK(says_and_aborts(count_wrongly, "tests/model/core/test_check.c:"));
    CHECK(says_and_aborts(count_wrongly, ": runs == 4 (3 runs of four)\n"));
}

/* ---- the schedule notices what only a defect of its own can cause ---- */

static void chain_a_stranger(void)
{
    struct chain chain;

    chain_init(&chain, 4);
    chain_append(&chain, 4);
}

static void enter_a_stranger(void)
{
    struct pool pool;

    pool_init(&pool, 4);
    pool_enter(&pool, -1, WORKER_IDLE);
}

static void give_too_much(void)
{
    struct slots slots;

    slots_init(&slots, 1, 2);
    for (int64_t run = 0; run < 3; run++)
        slots_give(&slots, 0, run);
}

static void take_from_nothing(void)
{
    struct queue queue;

    queue_init(&queue, (struct pending_runs){NULL, NULL}, 0);
    queue_take(&queue, (struct pick){0});
}

static void end_twice(void)
{
    const struct pending_run pending = {.cell = 7, .cost = 1};
    struct queue queue;

    queue_init(&queue, listed_runs(&(struct run_list){&pending, 1}), 1);
    int64_t run = queue_take(&queue, (struct pick){0});
    queue_end(&queue, run);
    queue_end(&queue, run);
}

static void give_a_cell_twice(void)
{
    const struct pending_run pending[] = {{.cell = 7, .cost = 1}, {.cell = 7, .cost = 2}};
    struct queue queue;

    queue_init(&queue, listed_runs(&(struct run_list){pending, 2}), 2);
}

TEST(check_guards_the_schedule)
{
    CHECK(says_and_aborts(chain_a_stranger, "containers.c:"));
    CHECK(says_and_aborts(enter_a_stranger, "(worker -1 of 4)"));
    CHECK(says_and_aborts(give_too_much, "(worker 0 holds 2)"));
    CHECK(says_and_aborts(take_from_nothing, "(0 waiting)"));
    CHECK(says_and_aborts(end_twice, "queue.c:"));
    CHECK(says_and_aborts(give_a_cell_twice, "(cell 7 is there twice)"));
}

/* ---- the dataset, too ---- */

static void take_a_cell_outside(void)
{
    const struct sweep sweep = {.cells = 4};
    struct run run;

    sweep_cell(&sweep, 4, &run);
}

/* Reads value `index` of a run of two layers from a dataset of three. */
static void find_value(size_t index, int64_t layers)
{
    struct metric_form dataset = {
        .along = {
            [DIMENSION_STEP] = 1, [DIMENSION_STACK] = 1, [DIMENSION_LAYER] = 3, [DIMENSION_TENSOR] = 2}};
    struct metric_form run = dataset;
    size_t count;

    run.along[DIMENSION_LAYER] = layers;
    layout_find(&dataset, &run, METRIC_tensor_norm, index, &count);
}

static void read_behind_the_row(void)
{
    find_value(3, 2);
    find_value(4, 2);
}

static void read_a_longer_run(void)
{
    find_value(0, 3);
    find_value(0, 4);
}

TEST(check_guards_the_dataset)
{
    CHECK(says_and_aborts(take_a_cell_outside, "(cell 4 of 4)"));
    CHECK(says_and_aborts(read_behind_the_row, "value 4 of 4)"));
    CHECK(says_and_aborts(read_a_longer_run, "length 4, 3 in the dataset)"));
}
