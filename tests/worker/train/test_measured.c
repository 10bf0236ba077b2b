/* The lengths of metrics' dimensions for each network, and what an instrument gives by block in its place. */
#include "tests/test.h"

#include "worker/run/run.h"
#include "worker/train/inside.h"

enum { ENCODER_BLOCKS = 2, DECODER_BLOCKS = 4, BLOCKS = ENCODER_BLOCKS + DECODER_BLOCKS, HEADS = 3 };

static struct run run_of(enum network network)
{
    struct run run;

    run_init(&run);
    run.network = network;
    run.layers = ENCODER_BLOCKS;
    run.decoder_layers = DECODER_BLOCKS;
    run.width = 6;
    run.heads = HEADS;
    return run;
}

static struct metric_form form_of(const struct run *run)
{
    struct measure measure;

    measure_init(&measure);
    measure.hessian_probes = 2;
    measure.hessian_steps = 3;
    for (int group = 0; group < GROUP_COUNT; group++)
        measure.group[group] = true;
    return metric_form(run, &measure);
}

static const char *last_tensor(const struct run *run)
{
    return metric_dimension_table[DIMENSION_TENSOR].word(form_of(run).along[DIMENSION_TENSOR] - 1);
}

TEST(stacks_have_lengths)
{
    struct run decoder = run_of(NETWORK_DECODER), encoder = run_of(NETWORK_ENCODER),
               both = run_of(NETWORK_ENCODER_DECODER);
    struct metric_form form = form_of(&both);

    CHECK(form.along[DIMENSION_STACK] == 2 && form.along[DIMENSION_LAYER] == DECODER_BLOCKS);
    CHECK(form.along[DIMENSION_DEPTH] == DECODER_BLOCKS + 1 && form.first_stack == 0);
    CHECK(form_of(&decoder).along[DIMENSION_STACK] == 1 && form_of(&decoder).first_stack == 1);
    CHECK(form_of(&decoder).along[DIMENSION_LAYER] == ENCODER_BLOCKS);
    CHECK(form_of(&encoder).along[DIMENSION_STACK] == 1 && form_of(&encoder).first_stack == 0);
    both.layers = 9;
    CHECK(form_of(&both).along[DIMENSION_LAYER] == 9);
    both.decoder_layers = 0;
    CHECK(form_of(&both).along[DIMENSION_LAYER] == 9);
}

/* Norms of queries and keys, and cross-attention, are listed only where they exist. */
TEST(stacks_list_their_tensors)
{
    struct run decoder = run_of(NETWORK_DECODER), both = run_of(NETWORK_ENCODER_DECODER);

    CHECK_TEXT(last_tensor(&decoder), "w3_bias");
    decoder.bias = false;
    CHECK_TEXT(last_tensor(&decoder), "w3_bias");
    decoder.qk_norm = true;
    CHECK_TEXT(last_tensor(&decoder), "k_norm_bias");
    CHECK_TEXT(last_tensor(&both), "cross_ln_bias");
    both.qk_norm = true;
    CHECK_TEXT(last_tensor(&both), "cross_k_norm_bias");
}

/* Number the values of an instrument, put them, and look for each. */
static void check_places(
    const struct run *run, enum metric metric, const int64_t counts[STACKS_MOST], size_t per)
{
    const struct architecture a = run_architecture(run, run->vocabulary);
    struct metric_form form = form_of(run);
    const struct metric_shape_row *shape = &metric_shape_table[metric_table[metric].shape];
    double from[1000], values[1000];
    const struct measured measured = {&form, &a, values};
    size_t size = metric_values(metric, &form), most = (size_t)form.along[shape->dimension[2]];
    size_t taken = size / most / (size_t)form.along[DIMENSION_STACK], next = 0;

    CHECK(size <= 1000);
    for (size_t i = 0; i < 1000; i++) {
        from[i] = (double)i;
        values[i] = -1;
    }
    form.offset[metric] = 0;
    measured_put_blocks(&measured, metric, from, per);
    for (int64_t stack = 0; stack < form.along[DIMENSION_STACK]; stack++)
        for (size_t layer = 0; layer < most; layer++) {
            bool own = (int64_t)layer < counts[stack];
            const double *here = values + ((size_t)stack * most + layer) * taken;
            for (size_t i = 0; i < taken; i++)
                CHECK(here[i] == (own ? (double)(next * per + i) : -1));
            if (own)
                CHECK(measured_block(&measured, metric, (int64_t)next) == here);
            next += own;
        }
    CHECK(values[size] == -1 && next == (size_t)(counts[0] + counts[1]));
}

TEST(stacks_have_places)
{
    struct run decoder = run_of(NETWORK_DECODER), both = run_of(NETWORK_ENCODER_DECODER);
    static const int64_t one[] = {ENCODER_BLOCKS, 0}, two[] = {ENCODER_BLOCKS, DECODER_BLOCKS};
    static const int64_t deeper[] = {ENCODER_BLOCKS + 1, DECODER_BLOCKS + 1};

    check_places(&both, METRIC_layer_norm, two, 1);
    check_places(&both, METRIC_positions_attended, two, HEADS);
    check_places(&both, METRIC_tensor_norm, two, LAYER_TENSOR_COUNT);
    check_places(&both, METRIC_residual_norm, deeper, 1);
    check_places(&decoder, METRIC_tensor_norm, one, LAYER_TENSOR_COUNT);
    check_places(&decoder, METRIC_layer_hessian_ritz, one, 2 * 3);
    both.layers = 5; /* the encoder is the longer one */
    check_places(&both, METRIC_layer_norm, (const int64_t[]){5, DECODER_BLOCKS}, 1);
}
