/* Datasets of networks with one stack and with two. */
#include "tests/driver/dataset/bench.h"

#include "driver/dataset/read/read.h"
#include "driver/sweep/sweep.h"

#include <netcdf.h>

/* One of each network; the encoder-decoder has the longer decoder. */
#define DECODER "decoder: {network: decoder, objective: next, decoder_layers: 0}"
#define ENCODER "encoder: {network: encoder, objective: masked, decoder_layers: 0}"
#define BOTH "both: {network: encoder_decoder, objective: spans, decoder_layers: 3}"
#define SWEEP(networks) BASE "layers: 2\ntogether: {kind: {" networks "}}\n"
#define MIXED SWEEP(DECODER ", " ENCODER ", " BOTH)
enum { OF_DECODER, OF_ENCODER, OF_BOTH, STEPS = 3 };

static bool has_name(const struct bench *bench, const char *name)
{
    struct view view;
    int id;

    CHECK(view_open(&view, bench->path, &(struct error){0}) == 0);
    bool found =
        nc_inq_dimid(view.file, name, &id) == NC_NOERR || nc_inq_varid(view.file, name, &id) == NC_NOERR;
    view_close(&view);
    return found;
}

/* The number of dimensions of a variable. */
static int rank_of(const struct bench *bench, const char *name)
{
    struct view view;
    int id, rank = -1;

    CHECK(view_open(&view, bench->path, &(struct error){0}) == 0);
    if (nc_inq_varid(view.file, name, &id) == NC_NOERR)
        nc_inq_varndims(view.file, id, &rank);
    view_close(&view);
    return rank;
}

static void check_all(const struct bench *bench, int64_t cell)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        CHECK(metric_is_of_run(metric) || bench_count_wrong(bench, metric, cell) == 0);
}

/* A decoder alone is told apart as a decoder, an encoder alone as an encoder. */
IN_BENCH(stacks_of_mixed_networks, MIXED)
{
    enum { LAYERS = 3 }; /* the longest stack */

    bench_write_run(bench, OF_DECODER, OUTCOME_DONE, 1000);
    bench_write_run(bench, OF_ENCODER, OUTCOME_DONE, 7);
    bench_write_run(bench, OF_BOTH, OUTCOME_DONE, 11);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    for (int64_t cell = OF_DECODER; cell <= OF_BOTH; cell++)
        check_all(bench, cell);
    for (int64_t layer = 0; layer < LAYERS; layer++) { /* layer_norm at step 0: [kind][step][stack][layer] */
        int64_t of_decoder = layer, of_encoder = STEPS * 2 * LAYERS + layer;
        CHECK(isnan(bench_read_value(bench, "layer_norm", of_decoder)));
        CHECK(isnan(bench_read_value(bench, "layer_norm", of_decoder + LAYERS)) == (layer == 2));
        CHECK(isnan(bench_read_value(bench, "layer_norm", of_encoder)) == (layer == 2));
        CHECK(isnan(bench_read_value(bench, "layer_norm", of_encoder + LAYERS)));
    }
}

/* Networks of one stack do without the dimension, also where decoders and encoders are mixed. */
IN_BENCH(stacks_are_a_dimension_only_where_there_are_two, SWEEP(DECODER ", " ENCODER))
{
    CHECK(!has_name(bench, "stack") && !has_name(bench, "stack_norm"));
    CHECK(rank_of(bench, "layer_norm") == 3 && rank_of(bench, "residual_growth") == 2);
    bench_close(bench);
    unlink(bench->path);
    if (!bench_opens(bench, SWEEP(BOTH)))
        return;
    CHECK(has_name(bench, "stack") && rank_of(bench, "stack_norm") == 3);
    CHECK(rank_of(bench, "layer_norm") == 4 && rank_of(bench, "residual_growth") == 3);
    CHECK(rank_of(bench, "param_norm") == 2 && rank_of(bench, "hessian_ritz") == 4);
}

/* An encoder-decoder is added to a file that told no stacks apart. */
IN_BENCH(stacks_come_to_a_file_of_one, SWEEP(DECODER ", " ENCODER))
{
    bench_write_run(bench, OF_DECODER, OUTCOME_DONE, 1000);
    bench_write_run(bench, OF_ENCODER, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    if (!bench_reopens(bench, MIXED))
        return;
    bench_write_run(bench, OF_BOTH, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    CHECK(dataset_outcomes(bench->dataset)[OF_ENCODER] == OUTCOME_DONE);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        for (int64_t cell = OF_DECODER; cell <= OF_BOTH; cell++) {
            bool old = cell < OF_BOTH && metric_table[metric].shape != METRIC_PER_STACK_OF_TWO;
            CHECK(metric_is_of_run(metric) || !(old || cell == OF_BOTH) ||
                  bench_count_wrong(bench, metric, cell) == 0);
        }
    for (int64_t row = 0; row < (int64_t)2 * STEPS;
         row++) { /* of the runs there: their one stack is the whole */
        int64_t own = row < STEPS ? 1 : 0;
        double norm = bench_read_value(bench, "param_norm", row);
        CHECK(isfinite(norm) && bench_read_value(bench, "stack_norm", 2 * row + own) == norm);
        CHECK(isnan(bench_read_value(bench, "stack_norm", 2 * row + 1 - own)));
        CHECK(bench_read_value(bench, "stack_direction_cosine", 2 * row + own) ==
              bench_read_value(bench, "direction_cosine", row));
    }
}

/* The next start finds everything as it was left, and runs of one stack may still be added. */
IN_BENCH(stacks_stay_when_a_file_is_continued, SWEEP(ENCODER ", " BOTH))
{
    bench_write_run(bench, 0, OUTCOME_DONE, 1000);
    bench_write_run(bench, 1, OUTCOME_DONE, 1000);
    CHECK(dataset_commit(bench->dataset, &bench->error) == 0);
    bench_close(bench);
    for (int i = 0; i < 2; i++) { /* as it is, then with another network */
        if (!bench_opens(bench, i ? MIXED : SWEEP(ENCODER ", " BOTH)))
            return;
        check_all(bench, i ? OF_ENCODER : 0);
        check_all(bench, i ? OF_BOTH : 1);
        bench_close(bench);
    }
}

IN_BENCH(stacks_are_named_where_a_run_differs, MIXED)
{
    const struct difference difference = {
        .different = 1, .metric = METRIC_layer_norm, .place = (1 * 2 + 1) * 3 + 2, .stored = 1.5, .again = 7};
    char text[DIFFERENCE_TEXT], expected[DIFFERENCE_TEXT];
    struct view view;

    CHECK(view_open(&view, bench->path, &bench->error) == 0 && verify_dataset(&view, &bench->error) == 0);
    snprintf(expected, sizeof(expected),
        "layer_norm at step 5, stack decoder, layer 2: 1.5 in %s, 7 trained again", bench->path);
    CHECK_TEXT(difference_text(&difference, &view, text), expected);
    view_close(&view);
}
