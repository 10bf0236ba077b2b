/* The state of an encoder-decoder, as a checkpoint keeps it: every value comes back to its place. */
#include "tests/scratch.h"
#include "tests/worker/small_run.h"

#include "tests/model/draw.h"
#include "worker/checkpoint/inside.h"
#include "worker/train/inside.h"

#include <netcdf.h>

enum { ROWS = 3, ENCODER_BLOCKS = 2, DECODER_BLOCKS = 3, BLOCKS = ENCODER_BLOCKS + DECODER_BLOCKS };

struct state {
    struct run run;
    struct measure measure;
    struct transformer model; /* its architecture and layout alone */
    struct optimiser optimiser;
    struct instruments instruments;
    struct history history;
    struct result result;
    scalar *weights;
    struct arena arena;
};

static void lay_out(struct state *s)
{
    const struct optimiser_options options = run_optimiser(&s->run);
    const struct metric_form form = metric_form(&s->run, &s->measure);
    struct weight_layout *layout = &s->model.layout;

    weight_layout_init(layout, &s->model.architecture, false, &s->arena);
    optimiser_layout(&s->optimiser, &options, layout, 1, false, &s->arena);
    instruments_layout(&s->instruments, layout, &s->model.architecture, false, &s->arena);
    history_layout(&s->history, &form, ROWS, &s->arena);
    s->weights = arena_take(&s->arena, (size_t)layout->size, sizeof(scalar));
}

static void state_init(struct state *s, enum network network)
{
    *s = (struct state){0};
    s->run = small_run(8, 6, 9);
    s->run.network = network;
    s->run.objective = network == NETWORK_ENCODER_DECODER ? OBJECTIVE_SPANS : OBJECTIVE_NEXT;
    s->run.layers = ENCODER_BLOCKS;
    s->run.decoder_layers = DECODER_BLOCKS;
    measure_init(&s->measure);
    s->measure.group[GROUP_HEADS] = s->measure.group[GROUP_RESIDUAL] = true;
    s->model.architecture = run_architecture(&s->run, 7);
    lay_out(s);
    size_t size = s->arena.used;
    s->arena = (struct arena){0};
    CHECK(arena_init(&s->arena, size) == 0);
    lay_out(s);
}

static void state_release(struct state *s)
{
    measure_release(&s->measure);
    arena_release(&s->arena);
}

/* Gives every value of the state a number of its own. */
static void draw_state(struct state *s)
{
    const struct weight_layout *layout = &s->model.layout;

    draw(s->weights, layout->size, 1, 1);
    draw(s->optimiser.first, layout->size, 1, 2);
    draw(s->optimiser.second, layout->size, 1, 3);
    draw(s->instruments.kept, layout->layers_end - layout->layers_begin, 1, 4);
    for (int64_t i = 0; i < s->instruments.blocks; i++)
        s->instruments.layer_square[i] = 1.5 + (double)i;
    s->instruments.kept_square = 77;
    for (int64_t row = 0; row < ROWS; row++) {
        double *values = history_begin_row(&s->history);
        for (size_t i = 0; i < s->history.form.row_size; i++)
            values[i] = (double)row * 1e4 + (double)i;
        history_add_row(&s->history, 2 * row);
        history_add_norm(&s->history, 2 * row, (double)row + 0.25);
    }
}

static struct snapshot snapshot_of(struct state *s)
{
    return (struct snapshot){.run = &s->run,
        .model = &s->model,
        .step = 4,
        .last_step = 9,
        .weights = s->weights,
        .optimiser = &s->optimiser,
        .instruments = &s->instruments,
        .history = &s->history,
        .result = &s->result};
}

#define SAME(a, b, field, count)                                                                             \
    CHECK(memcmp((a).field, (b).field, (size_t)(count) * sizeof(*(a).field)) == 0)

static void compare(const struct state *a, const struct state *b)
{
    const struct weight_layout *layout = &a->model.layout;

    SAME(*a, *b, weights, layout->size);
    SAME(*a, *b, optimiser.first, layout->size);
    SAME(*a, *b, optimiser.second, layout->size);
    SAME(*a, *b, instruments.kept, layout->layers_end - layout->layers_begin);
    SAME(*a, *b, instruments.layer_square, a->instruments.blocks);
    CHECK(b->history.row_count == ROWS && b->history.norm_count == ROWS);
    SAME(*a, *b, history.values, ROWS * a->history.form.row_size);
    SAME(*a, *b, history.norm, ROWS);
}

/* Saves and loads a state. Returns the length of a dimension of the file, 0 without it. */
static size_t survive(enum network network, const char *dimension)
{
    static struct state before, after;
    char path[SCRATCH_PATH], unfit[200];
    const struct digest digest = {1, 2};
    size_t length = 0;
    int file, id;

    state_init(&before, network);
    state_init(&after, network);
    draw_state(&before);
    struct snapshot saved = snapshot_of(&before), loaded = snapshot_of(&after);
    scratch_file(path);
    CHECK(form_write(path, &digest, &saved, false, NULL) == 0);
    if (nc_open(path, NC_NOWRITE, &file) == NC_NOERR) {
        if (nc_inq_dimid(file, dimension, &id) == NC_NOERR)
            nc_inq_dimlen(file, id, &length);
        nc_close(file);
    }
    CHECK(form_read(path, &digest, &loaded, NULL, unfit, sizeof(unfit)) == 0);
    CHECK_TEXT(unfit, "");
    compare(&before, &after);
    unlink(path);
    state_release(&before);
    state_release(&after);
    return length;
}

TEST(checkpoint_keeps_two_stacks)
{
    CHECK(survive(NETWORK_ENCODER_DECODER, "block") == BLOCKS);
    CHECK(survive(NETWORK_ENCODER_DECODER, "stack") == 2);
    CHECK(survive(NETWORK_ENCODER_DECODER, "layer") == DECODER_BLOCKS);
}

TEST(checkpoint_of_one_stack_has_no_other_dimensions)
{
    CHECK(survive(NETWORK_DECODER, "layer") == ENCODER_BLOCKS);
    CHECK(survive(NETWORK_DECODER, "stack") == 0 && survive(NETWORK_DECODER, "block") == 0);
}
