/* The passes of `inspect` over a network and its text, and their results. */
#include "driver/inspect/inside.h"
#include "driver/terminal/terminal.h"
#include "driver/text/text.h"
#include "model/core/denormals.h"
#include "model/core/limits.h"
#include "model/corpora/corpora.h"
#include "model/instruments/instruments.h"
#include "worker/host/host.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The line of progress: work is counted in blocks that are loaded. */
struct progress_line {
    struct waiting waiting;
    double begun; /* clock_now() */
    int64_t loads, loads_done;
    int64_t batch, batches; /* 0: the norms */
    int64_t blocks;
};

struct measurement {
    struct saved *network;
    struct inspect_text *text;
    struct architecture architecture; /* with the context that the text needs */
    int64_t threads;
    bool keep_states;

    struct weight_source files, source; /* the source shows the progress and passes on to the files */
    struct progress_line progress;
    struct weight_layout layout; /* of the files: a table of positions is as long as there */
    struct weight_planes planes;
    struct norms norms;
    struct saturation saturation;
    struct collapse collapse;
    struct batch batch;
    double loss; /* summed over the sequences */
    struct inspected_states states;
};

/* ---- memory ---- */

static void layout_states(struct measurement *m, struct arena *arena)
{
    const struct architecture *a = &m->architecture;

    for (int64_t stack = 0; m->keep_states && stack < architecture_stacks(a); stack++) {
        const struct stack_form form = architecture_stack(a, stack);
        struct inspected_stack *of = &m->states.stack[stack];
        of->rows = form.source ? m->text->kept_rows.source : m->text->kept_rows.rows;
        of->depths = form.end - form.begin + 1;
        of->token = arena_take(arena, (size_t)of->rows, sizeof(*of->token));
        of->sequence = arena_take(arena, (size_t)of->rows, sizeof(*of->sequence));
        of->state = arena_plane(arena, of->depths * of->rows, a->width);
        of->output = arena_plane(arena, of->rows, a->width);
    }
}

static void layout_text(struct measurement *m, struct arena *arena)
{
    const struct batch_rows room = m->text->room;
    int64_t rows = room.rows > room.source ? room.rows : room.source;

    saturation_layout(&m->saturation, &m->architecture, rows, m->threads, true, true, true, arena);
    m->saturation.model.layout = m->layout;
    collapse_layout(&m->collapse, m->architecture.vocabulary, room.rows, arena);
    batch_layout(&m->batch, (struct batch_rows){rows, room.source}, arena);
    m->planes.scaled = arena_plane(arena, 1, m->layout.size);
    layout_states(m, arena);
}

static void layout_all(struct measurement *m, struct arena *arena)
{
    weight_layout_init(&m->layout, &m->network->architecture, true, arena);
    norms_layout(&m->norms, &m->layout, &m->network->architecture, arena);
    m->planes.weights = arena_plane(arena, 1, m->layout.size);
    if (m->text->text.token_count)
        layout_text(m, arena);
}

/* The bytes that are needed. */
static size_t count_all(struct measurement *m)
{
    struct arena counted = {0};

    layout_all(m, &counted);
    return counted.used;
}

/* The bytes that windows of one token would need. */
static size_t count_least(struct measurement *m)
{
    struct inspect_text least = *m->text;
    struct measurement one = *m;

    least.window = 1;
    one.text = &least;
    one.architecture = inspect_text_architecture(&least, &m->network->architecture);
    least.room = (struct batch_rows){one.architecture.context, one.architecture.context};
    return count_all(&one);
}

/* Takes memory for batches as large as planned, or as there is memory for. */
static int take_memory(struct measurement *m, struct arena *arena, struct error *error)
{
    bool has_text = m->text->text.token_count > 0;
    const char *hint = "";
    size_t size = count_all(m);

    while (size > limits()->memory || arena_init(arena, size) < 0) {
        if (has_text && inspect_text_shrink(m->text)) {
            size = count_all(m);
            continue;
        }
        if (has_text && count_least(m) < (size < limits()->memory ? size / 2 : limits()->memory))
            hint = "; a smaller --context needs less";
        if (size <= limits()->memory)
            return error_set(error, ERROR_ENVIRONMENT,
                "no memory: the system does not give the %.1f MiB that are needed; see ulimit -v%s",
                (double)size / 0x1p20, hint);
        return error_set(error, ERROR_ENVIRONMENT,
            "no memory: %.1f MiB are needed, this process may use %.1f MiB%s", (double)size / 0x1p20,
            (double)limits()->memory / 0x1p20, hint);
    }
    layout_all(m, arena);
    return 0;
}

/* ---- progress ---- */

static void progress_say(struct progress_line *p, int64_t layer)
{
    double spent = clock_now() - p->begun;
    char left[32], batch[64] = "norms";

    if (p->batch > 0)
        snprintf(batch, sizeof(batch), "batch %" PRId64 " of %" PRId64, p->batch, p->batches);
    duration_format(spent * (double)(p->loads - p->loads_done) / (double)p->loads_done, left, sizeof(left));
    waiting_say(
        &p->waiting, "%s, block %" PRId64 " of %" PRId64 ", %s left", batch, layer + 1, p->blocks, left);
}

/* Loads from the files; the time left is that of the blocks to come. */
static void load(void *context, const struct weight_layout *layout, int64_t layer, scalar *weights)
{
    struct measurement *m = context;

    if (layer >= 0 && m->progress.loads_done > 0 && waiting_is_due(&m->progress.waiting))
        progress_say(&m->progress, layer);
    m->progress.loads_done += layer >= 0;
    m->files.load(m->files.context, layout, layer, weights);
}

/* ---- passes ---- */

static int measure_norms(struct measurement *m, struct error *error)
{
    char of_block[32];

    for (int64_t layer = -1; layer < architecture_blocks(&m->architecture); layer++) {
        load(m, &m->layout, layer, m->planes.weights);
        const struct tensor *broken = norms_add(&m->norms, m->planes.weights, layer);
        snprintf(of_block, sizeof(of_block), " of block %" PRId64, layer);
        if (broken)
            return error_set(error, ERROR_INPUT, "%s: %s%s: not all values are finite as a " SCALAR_NAME,
                m->network->path, tensor_table[broken->kind].name, layer < 0 ? "" : of_block);
    }
    norms_end(&m->norms);
    return 0;
}

/* Keeps a state of the first sequences; with the first one, what the rows are. */
static void keep_state(
    void *context, int64_t stack, int64_t depth, const scalar *state, const struct packed *side)
{
    struct measurement *m = context;
    struct inspected_stack *of = &m->states.stack[stack];
    int64_t width = m->architecture.width;

    for (int64_t row = 0, sequence = 0; depth == 0 && row < of->rows; row++) {
        while (row >= side->start[sequence + 1])
            sequence++;
        of->token[row] = side->tokens[row];
        of->sequence[row] = (int32_t)sequence;
    }
    for (int64_t row = 0; row < of->rows; row++) {
        scalar *kept = depth < 0 ? of->output + row * width : of->state + (row * of->depths + depth) * width;
        memcpy(kept, state + row * width, (size_t)width * sizeof(*kept));
    }
}

static void add_loss(struct measurement *m, const scalar *state)
{
    m->loss += (double)m->batch.sequences * blockwise_loss(&m->saturation.model, m->planes.weights, &m->batch,
                                                state, NULL, m->collapse.predicted);
    collapse_add(&m->collapse, &m->batch);
}

/* Both networks side by side; the loss of the same pass, if the network predicts what it has read. */
static void compare_all(struct measurement *m)
{
    const struct inspect_text *text = m->text;
    struct saturation *s = &m->saturation;
    struct validation validation;

    s->visit = m->keep_states ? keep_state : NULL;
    s->visitor = m;
    validation_init(&validation, &text->text, &text->compared, INT64_MAX);
    saturation_begin(s, &m->planes);
    while (validation_next(&validation, text->room, &m->batch)) {
        m->progress.batch++;
        saturation_add(s, &m->planes, &m->batch);
        s->visit = NULL;
        if (text->has_loss && !text->is_masked)
            add_loss(m, s->state[COMPARED_THETA][s->stacks - 1]);
    }
    saturation_end(s);
}

/* Masked words, in passes of theta alone, through an encoder. What lies outside the blocks is still loaded.
 */
static void predict_all(struct measurement *m)
{
    const struct inspect_text *text = m->text;
    struct transformer *model = &m->saturation.model;
    scalar *weights = m->planes.weights, *state = m->saturation.state[COMPARED_THETA][0];
    struct validation validation;

    validation_init(&validation, &text->text, &text->predicted, INT64_MAX);
    while (validation_next(&validation, text->room, &m->batch)) {
        m->progress.batch++;
        blockwise_embed(model, weights, &m->batch, 0, state);
        for (int64_t layer = 0; layer < architecture_blocks(&m->architecture); layer++) {
            load(m, &m->layout, layer, weights);
            blockwise_block(model, weights, &m->batch, layer, false, NULL, state);
        }
        blockwise_finish(model, weights, &m->batch, 0, state);
        add_loss(m, state);
    }
}

/* ---- results ---- */

static void put(struct inspected *inspected, enum metric metric, const double *values)
{
    measured_put(&inspected->measured, metric, values);
    inspected->has[metric] = true;
}

static void put_norms(struct inspected *inspected, const struct norms *norms)
{
    put(inspected, METRIC_param_norm, &norms->param_norm);
    put(inspected, METRIC_embedding_norm, &norms->embedding_norm);
    put(inspected, METRIC_output_norm, &norms->output_norm);
    put(inspected, METRIC_total_norm, &norms->total_norm);
    if (norms->stacks > 1)
        put(inspected, METRIC_stack_norm, norms->stack_norm);
    measured_put_blocks(&inspected->measured, METRIC_layer_norm, norms->layer_norm, 1);
    measured_put_blocks(&inspected->measured, METRIC_tensor_norm, norms->tensor_norm, LAYER_TENSOR_COUNT);
    inspected->has[METRIC_layer_norm] = inspected->has[METRIC_tensor_norm] = true;
}

/* Nats: an untrained network guesses, too. */
#define GUESSING_MARGIN 0.1

static void put_loss(struct inspected *inspected, const struct measurement *m)
{
    double loss = m->loss / (double)m->text->sequences;
    struct collapse_measures predicted;

    collapse_end(&m->collapse, &predicted);
    if (loss > log((double)m->architecture.vocabulary) + GUESSING_MARGIN)
        inspected->note = "the loss is worse than guessing: are the ids those of this network's tokenizer?";
    put(inspected, METRIC_valid_loss, &loss);
    put(inspected, METRIC_accuracy, &predicted.accuracy);
    put(inspected, METRIC_predicted_entropy, &predicted.predicted_entropy);
}

static void put_text(struct inspected *inspected, const struct measurement *m)
{
    const struct inspect_text *text = m->text;

    inspected->window = text->window;
    inspected->sequences = text->sequences;
    inspected->tokens = text->tokens;
    inspected->lines = text->compared.sequences == SEQUENCES_LINES;
    inspected->lines_cut = text->lines_cut;
    inspected->left_out = text->left_out;
    inspected->states = m->states;
    inspected->states.sequences = m->keep_states ? text->kept : 0;
    if (text->has_loss)
        put_loss(inspected, m);
    measured_put_saturation(&inspected->measured, &m->saturation);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (metric_table[metric].group == GROUP_SATURATION || metric_table[metric].group == GROUP_HEADS)
            inspected->has[metric] = true;
}

static void put_all(struct inspected *inspected, const struct measurement *m)
{
    const struct inspect_text *text = m->text;
    bool has_text = text->text.token_count > 0;

    inspected_init(inspected, &m->network->architecture, &m->layout, has_text ? m->saturation.bins : 0);
    inspected->family = m->network->family;
    inspected->parameters = architecture_parameters(&m->network->architecture);
    inspected->note = text->note;
    inspected->has_output = m->network->has_output;
    inspected->mask = text->is_masked && text->has_loss ? text->foreign.mask : -1;
    inspected->sentinel = has_text && text->reads_spans ? text->foreign.sentinel : -1;
    put_norms(inspected, &m->norms);
    if (has_text)
        put_text(inspected, m);
    inspected_table(inspected);
}

int inspect_network(struct inspected *inspected, struct arena *arena, struct saved *network,
    const struct inspect_request *request, struct error *error)
{
    struct inspect_text text;

    if (inspect_text_read(&text, network, request, error) < 0)
        return -1;
    struct measurement m = {.network = network,
        .text = &text,
        .architecture = inspect_text_architecture(&text, &network->architecture),
        .threads = request->threads,
        .keep_states = request->states,
        .files = saved_source(network)};
    m.source = (struct weight_source){load, &m};
    m.planes.source = &m.source;
    *arena = (struct arena){0};
    int status = take_memory(&m, arena, error);
    if (status < 0) {
        error_prefix(error, "%s", network->path);
    } else {
        bool flushed = denormals_flush(true); /* as in training */
        const struct terminal terminal = terminal_find(stderr);
        int64_t blocks = architecture_blocks(&m.architecture);
        int64_t passes = text.batches * (1 + (text.has_loss && text.is_masked));
        m.progress = (struct progress_line){
            .begun = clock_now(), .loads = blocks * (1 + passes), .batches = passes, .blocks = blocks};
        waiting_begin(&m.progress.waiting, stderr, &terminal);
        status = measure_norms(&m, error);
        if (status == 0 && text.text.token_count) {
            collapse_begin(&m.collapse);
            compare_all(&m);
            if (text.has_loss && text.is_masked)
                predict_all(&m);
        }
        denormals_flush(flushed);
        waiting_end(&m.progress.waiting);
        if (status == 0)
            status = saved_check(network, error);
        if (status == 0)
            put_all(inspected, &m);
        else
            arena_release(arena);
    }
    inspect_text_release(&text);
    return status;
}
