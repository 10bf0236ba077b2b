/*
 * Every optimiser moves theta by delta = -eta * (lambda * theta + u), u its update; adam and sgd add lambda *
 * theta to the gradient instead. The weights are cut into portions, each with its kind of step and its decay;
 * a row has the step of a portion, and the sums of its update alone, without decay and without a change of
 * state.
 *
 * A run calls optimiser_layout(), then optimiser_begin() with its weights, also when it is resumed, and for
 * each step optimiser_clip() and optimiser_step(). At measured steps it asks before the step: for the update,
 * the stride, the balance and the edge of stability, which change nothing. Threads share a step out: ranges
 * of the plane where elements are apart from each other, whole tensors where they are not, so that the number
 * of threads changes no number. Nothing here can fail: memory comes from the arena of the run.
 */
#include "model/optimisers/inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/core/check.h"
#include "model/core/random.h"

/* ---- the table of optimisers ---- */

static const struct {
    const char *word;
    const struct optimiser_row *row;
    unsigned traits;
} table[OPTIMISER_COUNT] = {
#define X(KIND, word, row, traits) [OPTIMISER_##KIND] = {#word, &(row), (traits)},
    OPTIMISERS(X)
#undef X
};

bool optimiser_has(enum optimiser_kind kind, enum optimiser_trait trait)
{
    return table[kind].traits & trait;
}

struct optimiser_list optimiser_list(enum optimiser_trait trait, const char *last)
{
    struct optimiser_list list = {""};
    size_t at = 0;
    int left = 0;

    for (int kind = 0; kind < OPTIMISER_COUNT; kind++)
        left += optimiser_has((enum optimiser_kind)kind, trait);
    for (int kind = 0; kind < OPTIMISER_COUNT; kind++) {
        if (!optimiser_has((enum optimiser_kind)kind, trait))
            continue;
        left--;
        const char *behind = left > 1 ? ", " : left == 1 ? " " : "";
        at += (size_t)snprintf(list.text + at, sizeof(list.text) - at, "%s%s%s%s", table[kind].word, behind,
            left == 1 ? last : "", left == 1 ? " " : "");
        INVARIANT(at < sizeof(list.text), "no room for %s", table[kind].word);
    }
    return list;
}

/* ---- portions ---- */

/* The weights of a range whose sums stand for themselves. Sums over a tensor add those of its ranges in
 * order, whatever threads they are from. */
enum { COUNTED_RANGE = 4096 };
_Static_assert(COUNTED_RANGE % LINE_ELEMENTS == 0, "shares begin where ranges do");

/* By its role in the network: a matrix of one row, of a feed-forward layer of width 1, is a matrix. */
static bool is_matrix(const struct tensor *tensor)
{
    enum tensor_role role = tensor_table[tensor->kind].role;

    return role == ROLE_MATRIX || role == ROLE_WRITER || role == ROLE_EMBEDDING;
}

static bool is_hidden(const struct tensor *tensor)
{
    return tensor_table[tensor->kind].part == PART_LAYER;
}

/* The words of decay_on under which a tensor decays. */
static unsigned decays_on(const struct tensor *tensor)
{
    bool feedforward = tensor->kind == TENSOR_W1 || tensor->kind == TENSOR_W2 || tensor->kind == TENSOR_W3;
    unsigned matrix = !is_hidden(tensor) ? DECAY_ON_OUTPUT
                      : feedforward      ? DECAY_ON_FEEDFORWARD
                                         : DECAY_ON_ATTENTION;
    const unsigned kind[] = {[ROLE_EMBEDDING] = DECAY_ON_EMBEDDINGS,
        [ROLE_MATRIX] = matrix,
        [ROLE_WRITER] = matrix,
        [ROLE_BIAS] = DECAY_ON_BIASES,
        [ROLE_GAIN] = DECAY_ON_GAINS,
        [ROLE_SHIFT] = DECAY_ON_BIASES};

    return DECAY_ON_ALL | (is_matrix(tensor) ? DECAY_ON_MATRICES : 0u) |
           (is_hidden(tensor) ? DECAY_ON_HIDDEN : 0u) | kind[tensor_table[tensor->kind].role];
}

static struct portion portion_of(const struct optimiser *o, const struct tensor *tensor)
{
    const struct optimiser_options *options = &o->options;
    bool hidden_matrix = is_hidden(tensor) && is_matrix(tensor);

    return (struct portion){
        .row = options->kind == OPTIMISER_MUON && !hidden_matrix ? &adam_row : table[options->kind].row,
        .tensor = *tensor,
        .decays = (!options->decay_on || options->decay_on & decays_on(tensor)) &&
                  !(hidden_matrix && options->norm_rule == NORM_HYPERBALL),
        .rate = hidden_matrix && options->hidden_rate != 0 ? options->hidden_rate : 1};
}

static void place_portions(struct optimiser *o)
{
    const struct weight_layout *layout = o->layout;

    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct portion portion = portion_of(o, &layout->tensor[i]);
        struct portion *last = o->portions ? &o->portion[o->portions - 1] : NULL;
        if (portion.tensor.size == 0)
            continue;
        /* Neighbours that move in one way move together, unless each is looked at. */
        if (o->options.norm_rule == NORM_FREE && !o->moved && last && last->row == portion.row &&
            !last->row->whole && last->decays == portion.decays && last->rate == portion.rate &&
            last->tensor.offset + last->tensor.size == portion.tensor.offset) {
            last->tensor.size += portion.tensor.size;
            last->tensor.rows = 1;
            last->tensor.columns = last->tensor.size;
        } else {
            o->portion[o->portions++] = portion;
        }
    }
}

void optimiser_layout(struct optimiser *optimiser, const struct optimiser_options *options,
    const struct weight_layout *layout, int64_t threads, bool counts, struct arena *arena)
{
    const struct optimiser_row *row = table[options->kind].row;
    bool muon = options->kind == OPTIMISER_MUON;
    int64_t own = row->own_scratch ? row->own_scratch(layout) : 0;
    size_t size = (size_t)layout->size, tensors = (size_t)layout->tensor_count;

    *optimiser = (struct optimiser){.options = *options, .layout = layout};
    team_layout(&optimiser->team, PRECISION_FLOAT, threads, own, arena);
    optimiser->portion = arena_take(arena, tensors, sizeof(*optimiser->portion));
    if (options->norm_rule == NORM_FIXED || options->norm_rule == NORM_HYPERBALL)
        optimiser->norm = arena_take(arena, tensors, sizeof(double));
    if (options->norm_rule == NORM_HYPERBALL || options->norm_rule == NORM_BRAKE)
        optimiser->aside = arena_take(arena, size, sizeof(scalar));
    optimiser->sums = own > 0 ? arena_take(arena, tensors, sizeof(*optimiser->sums)) : NULL;
    if (counts) {
        optimiser->moved = arena_take(arena, tensors, sizeof(*optimiser->moved));
        optimiser->range_moved =
            arena_take(arena, (size_t)(layout->largest / COUNTED_RANGE + 1), sizeof(*optimiser->range_moved));
    }
    if (row->first)
        optimiser->first = arena_take(arena, size, sizeof(scalar));
    if (row->second || muon)
        optimiser->second = arena_take(arena, size, sizeof(scalar));
    if (row->scratch)
        optimiser->scratch =
            arena_take(arena, (size_t)row->scratch * (size_t)layout->largest, sizeof(scalar));
    if (optimiser->portion)
        place_portions(optimiser);
}

bool optimiser_has_factors(const struct optimiser *optimiser)
{
    return optimiser->second && table[optimiser->options.kind].row->second_size;
}

int64_t optimiser_second_size(const struct optimiser *optimiser, const struct tensor *tensor)
{
    const struct optimiser_row *row = portion_of(optimiser, tensor).row;

    if (!optimiser->second || tensor->size == 0)
        return 0;
    return row->second_size ? row->second_size(tensor) : tensor->size;
}

/* ---- rounding ---- */

/* The grain of a thread's share, in elements of the plane. */
enum { ROUNDING_GRAIN = 4096 };
_Static_assert(ROUNDING_GRAIN % ROUNDING_GROUP == 0, "shares begin where groups of draws do");

struct rounding {
    const struct kernels *kernels;
    scalar *weights;
    bool by_chance;
    uint64_t seed; /* of the step's draws */
};

static void round_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct rounding *of = context;

    (void)scratch;
    if (of->by_chance)
        of->kernels->round_bfloat16_by_chance(of->weights + begin, end - begin, of->seed, begin);
    else
        of->kernels->round_bfloat16(of->weights + begin, end - begin);
}

/*
 * Rounds what step `number` has made of the weights: a function of these, the seed and the step, whatever the
 * threads. Step 0 rounds the initial weights, always to the nearest, so that runs with and without chance
 * start alike. A pass of its own over the whole plane: any optimiser's step stays as it is, and what it means
 * to do can be measured beside what rounding leaves of it.
 */
static void round_weights(const struct optimiser *o, scalar *weights, int64_t number)
{
    const struct rounding rounding = {.kernels = o->team.kernels,
        .weights = weights,
        .by_chance = o->options.weights == WEIGHTS_BFLOAT16_STOCHASTIC && number > 0,
        .seed = random_bits(o->options.seed, RANDOM_STEP, (uint64_t)number)};

    if (o->options.weights != WEIGHTS_FLOAT)
        team_run(&o->team, (struct items){o->layout->size, ROUNDING_GRAIN, ELEMENT_NANOSECONDS}, round_share,
            &rounding);
}

/* ---- rules on norms ---- */

static bool is_ruled(const struct optimiser *o, const struct portion *portion)
{
    return o->options.norm_rule != NORM_FREE && is_hidden(&portion->tensor) && is_matrix(&portion->tensor);
}

static double norm_of(const struct optimiser *o, const scalar *at, int64_t size)
{
    return sqrt(o->team.kernels->dot(at, at, size));
}

void optimiser_begin(struct optimiser *o, scalar *initial)
{
    double target = o->options.norm_target;

    for (int64_t i = 0; target != 0 && o->norm && i < o->portions; i++) {
        scalar *at = initial + o->portion[i].tensor.offset;
        if (is_ruled(o, &o->portion[i]))
            weights_scale(at, at, o->portion[i].tensor.size, target);
    }
    round_weights(o, initial, 0);
    for (int64_t i = 0; o->norm && i < o->portions; i++)
        o->norm[i] = norm_of(o, initial + o->portion[i].tensor.offset, o->portion[i].tensor.size);
}

/* hyperball steps from 0: the step leaves -eta u, which is not rounded as theta - eta u would be. */
static void set_aside(const struct optimiser *o, scalar *weights)
{
    for (int64_t i = 0; o->aside && i < o->portions; i++) {
        const struct tensor *tensor = &o->portion[i].tensor;
        size_t bytes = (size_t)tensor->size * sizeof(*weights);
        if (!is_ruled(o, &o->portion[i]))
            continue;
        memcpy(o->aside + tensor->offset, weights + tensor->offset, bytes);
        if (o->options.norm_rule == NORM_HYPERBALL)
            memset(weights + tensor->offset, 0, bytes);
    }
}

/* After a step. */
static void rule_norms(const struct optimiser *o, scalar *weights, double rate)
{
    for (int64_t i = 0; i < o->portions; i++) {
        const struct portion *portion = &o->portion[i];
        int64_t size = portion->tensor.size;
        scalar *at = weights + portion->tensor.offset;
        const scalar *before = o->aside ? o->aside + portion->tensor.offset : NULL;
        if (!is_ruled(o, portion))
            continue;
        double norm = norm_of(o, at, size), wanted = o->norm ? o->norm[i] : 0;
        if (o->options.norm_rule == NORM_HYPERBALL) {
            INVARIANT(before, "no room for the weights before the step");
            double factor = norm > 0 ? rate * portion->rate * wanted / norm : 0;
            for (int64_t k = 0; k < size; k++)
                at[k] = (scalar)((double)before[k] + factor * (double)at[k]);
            norm = norm_of(o, at, size);
        } else if (o->options.norm_rule == NORM_BRAKE) {
            double was = norm_of(o, before, size);
            double outwards = was > 0 ? (o->team.kernels->dot(before, at, size) - was * was) / was : 0;
            wanted = fmax(was + (outwards > 0 ? o->options.brake * outwards : outwards), 0);
            if (was == 0) /* no direction is outwards */
                wanted = norm;
        }
        if (norm > 0)
            weights_scale(at, at, size, wanted / norm);
    }
}

/* ---- steps ---- */

double optimiser_clip(const struct optimiser *optimiser, const scalar *gradient)
{
    double most = optimiser->options.gradient_clip;

    if (most == 0)
        return 1;
    double scale =
        most / (sqrt(optimiser->team.kernels->dot(gradient, gradient, optimiser->layout->size)) + 1e-6);
    return scale < 1 ? scale : 1;
}

static struct step step_of(
    const struct optimiser *o, const struct portion *portion, double scale, int64_t number, double rate)
{
    const struct optimiser_options *options = &o->options;
    double decay = options->weight_decay;

    switch (options->decay_rule) {
    case DECAY_INDEPENDENT:
        decay /= options->peak_rate * portion->rate;
        break;
    case DECAY_CORRECTED:
        decay *= rate / options->peak_rate;
        break;
    case DECAY_SCALED:
    case DECAY_CAUTIOUS:
        break;
    }
    return (struct step){.number = number,
        .rate = rate * portion->rate,
        .scale = scale,
        .decay = portion->decays ? decay : 0,
        .cautious = options->decay_rule == DECAY_CAUTIOUS};
}

/* A step of a portion, which threads share. */
struct portion_step {
    struct optimiser *optimiser;
    const struct portion *portion;
    const struct step *step;
    scalar *weights; /* planes */
    const scalar *gradient;
};

static void step_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct portion_step *of = context;
    struct moved *moved = of->optimiser->range_moved;
    struct step step = *of->step;

    (void)scratch;
    for (int64_t next; begin < end; begin = next) {
        next = moved && begin + COUNTED_RANGE < end ? begin + COUNTED_RANGE : end;
        int64_t at = of->portion->tensor.offset + begin, size = next - begin;
        const struct tensor range = {.offset = at, .rows = 1, .columns = size, .size = size};
        step.moved = moved ? &moved[begin / COUNTED_RANGE] : NULL;
        of->portion->row->step(of->optimiser, &range, &step, of->weights + at, of->gradient + at);
    }
}

/* Shares a step out by ranges of the plane: it passes over weights, gradient and one or two planes more. */
static void step_by_ranges(const struct portion_step *of, struct moved *moved)
{
    int64_t size = of->portion->tensor.size, grain = moved ? COUNTED_RANGE : LINE_ELEMENTS;

    team_run(&of->optimiser->team, (struct items){size, grain, 2 * ELEMENT_NANOSECONDS}, step_share, of);
    if (!moved)
        return;
    *moved = (struct moved){0};
    for (int64_t i = 0; i * COUNTED_RANGE < size; i++) {
        moved->decaying += of->optimiser->range_moved[i].decaying;
        moved->square += of->optimiser->range_moved[i].square;
        moved->product += of->optimiser->range_moved[i].product;
    }
}

/* Steps of whole tensors in a range of the plane, or the sums of their updates, by one thread for each. */
struct whole_work {
    const struct optimiser *optimiser;
    const scalar *gradient; /* plane */
    const scalar *weights; /* of a sum, else NULL: plane */
    struct optimiser *moved; /* of a step, else NULL: the same optimiser, and its weights, which change */
    scalar *moved_weights;
    double scale, rate; /* of the step */
    int64_t number;
    int64_t begin, end; /* the range */
};

/* 0: not for threads to share out, or not in the range. */
static int64_t work_of(const struct whole_work *work, const struct portion *portion)
{
    int64_t at = portion->tensor.offset;

    return portion->row->work && at >= work->begin && at < work->end ? portion->row->work(&portion->tensor)
                                                                     : 0;
}

/* A share of the work has the tensors that begin in it. */
static void whole_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct whole_work *work = context;
    int64_t at = 0;

    for (int64_t i = 0; i < work->optimiser->portions; i++) {
        const struct portion *portion = &work->optimiser->portion[i];
        int64_t takes = work_of(work, portion);
        if (takes > 0 && at >= begin && at < end) {
            struct step step = step_of(work->optimiser, portion, work->scale, work->number, work->rate);
            const struct tensor *tensor = &portion->tensor;
            const scalar *gradient = work->gradient + tensor->offset;
            step.scratch = scratch;
            if (work->moved) {
                step.moved = work->moved->moved ? &work->moved->moved[i] : NULL;
                portion->row->step(
                    work->moved, tensor, &step, work->moved_weights + tensor->offset, gradient);
            } else {
                work->optimiser->sums[i] = portion->row->sums(
                    work->optimiser, tensor, &step, work->weights + tensor->offset, gradient);
            }
        }
        at += takes;
    }
}

static void run_whole(const struct whole_work *work)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < work->optimiser->portions; i++)
        sum += work_of(work, &work->optimiser->portion[i]);
    if (sum > 0)
        team_run(&work->optimiser->team, (struct items){sum, 1, PRODUCT_NANOSECONDS}, whole_share, work);
}

void optimiser_step(struct optimiser *optimiser, scalar *weights, const scalar *gradient, double scale,
    int64_t number, double rate)
{
    const struct whole_work whole = {.optimiser = optimiser,
        .gradient = gradient,
        .moved = optimiser,
        .moved_weights = weights,
        .scale = scale,
        .rate = rate,
        .number = number,
        .end = optimiser->layout->size};

    set_aside(optimiser, weights);
    run_whole(&whole);
    for (int64_t i = 0; i < optimiser->portions; i++) {
        const struct portion *portion = &optimiser->portion[i];
        const struct tensor *tensor = &portion->tensor;
        struct moved *moved = optimiser->moved ? &optimiser->moved[i] : NULL;
        struct step step = step_of(optimiser, portion, scale, number, rate);
        const struct portion_step shared = {optimiser, portion, &step, weights, gradient};
        if (portion->row->work)
            continue;
        step.moved = moved;
        if (portion->row->whole)
            portion->row->step(optimiser, tensor, &step, weights + tensor->offset, gradient + tensor->offset);
        else
            step_by_ranges(&shared, moved);
    }
    rule_norms(optimiser, weights, rate);
    round_weights(optimiser, weights, number);
}

/* The part of a portion in the range [begin, end); size 0: none. Only portions without `whole` are cut. */
static struct tensor part_of(const struct portion *portion, int64_t begin, int64_t end)
{
    struct tensor part = portion->tensor;
    int64_t last = part.offset + part.size < end ? part.offset + part.size : end;
    int64_t first = part.offset > begin ? part.offset : begin;

    if (first >= last)
        part.size = 0;
    else if (last - first < part.size)
        part = (struct tensor){.offset = first, .rows = 1, .columns = last - first, .size = last - first};
    return part;
}

/* Of the updates of a portion up to this step; NaN: theta need not hold past updates in the known way. */
static double memory_of(const struct optimiser *o, const struct portion *portion, const struct step *step)
{
    double steps = (double)(step->number - 1);
    double memory = portion->row->memory ? portion->row->memory(&o->options, step, steps) : 0;
    bool selects = step->cautious && step->decay != 0; /* decays where updates agree with past ones */
    bool rounds = o->options.weights == WEIGHTS_BFLOAT16;

    return memory != 0 && (selects || rounds) ? NAN : memory;
}

/*
 * Does the momentum hold past decay, too? That of sgd does, as its decay is a part of the gradient: with
 * p = theta.b, b the buffer before the step, p' = a p + lambda |theta|^2 - eta |u|^2 while theta.g = 0, and
 * theta.u = a p.
 */
static bool holds_decay(const struct portion *portion, const struct step *step)
{
    return portion->row == &sgd_row && step->decay != 0;
}

struct update optimiser_update(const struct optimiser *optimiser, const scalar *weights,
    const scalar *gradient, double scale, int64_t number, double rate, int64_t begin, int64_t end)
{
    const struct whole_work whole = {.optimiser = optimiser,
        .weights = weights,
        .gradient = gradient,
        .scale = scale,
        .rate = rate,
        .number = number,
        .begin = begin,
        .end = end};
    struct update update = {0};

    run_whole(&whole);
    for (int64_t i = 0; i < optimiser->portions; i++) {
        const struct portion *portion = &optimiser->portion[i];
        const struct tensor part = part_of(portion, begin, end);
        const struct step step = step_of(optimiser, portion, scale, number, rate);
        if (part.size == 0)
            continue;
        struct sums one = portion->row->work ? optimiser->sums[i]
                                             : portion->row->sums(optimiser, &part, &step,
                                                   weights + part.offset, gradient + part.offset);
        update.square += portion->rate * portion->rate * one.square;
        update.product += portion->rate * one.product;
        const scalar *at = weights + part.offset;
        double held =
            holds_decay(portion, &step) ? step.decay * optimiser->team.kernels->dot(at, at, part.size) : 0;
        update.by_chance +=
            portion->rate * memory_of(optimiser, portion, &step) * (step.rate * one.square - held);
    }
    return update;
}

/* ---- forces ---- */

void optimiser_forces(
    const struct optimiser *optimiser, int64_t number, double rate, double (*force)[FORCE_COUNT])
{
    const struct portion *last = NULL; /* of the memory, which takes long to find and is mostly the same */
    double memory = NAN;

    for (int64_t i = 0; i < optimiser->portions; i++) {
        const struct portion *portion = &optimiser->portion[i];
        const struct moved *moved = &optimiser->moved[i];
        const struct step step = step_of(optimiser, portion, 1, number, rate);
        double decayed = step.rate * step.decay;
        int64_t at = portion->tensor.layer * LAYER_TENSOR_COUNT + portion->tensor.kind - LAYER_TENSOR_FIRST;
        if (!is_hidden(&portion->tensor))
            continue;
        if (!last || last->row != portion->row || last->decays != portion->decays ||
            last->rate != portion->rate)
            memory = memory_of(optimiser, portion, &step);
        last = portion;
        double held = holds_decay(portion, &step) ? step.decay * moved->decaying : 0;
        double chance = memory * (step.rate * moved->square - held);
        /* Is the step theta' = theta - D - eta u, and rounded no more than a scalar is? */
        bool coupled = optimiser->options.kind == OPTIMISER_ADAM && step.decay != 0;
        bool plain = optimiser->options.weights == WEIGHTS_FLOAT && !is_ruled(optimiser, portion);
        double known = plain && !coupled ? 1 : NAN;
        force[at][FORCE_DECAY] = known * -(2 - decayed) * decayed * moved->decaying;
        force[at][FORCE_INJECTION] = known * step.rate * step.rate * moved->square;
        force[at][FORCE_CHANCE] = known * 2 * (1 - decayed) * step.rate * chance;
        force[at][FORCE_PULL] = known * -2 * step.rate * moved->product;
        if (!isnan(chance))
            force[at][FORCE_PULL] -= force[at][FORCE_CHANCE];
    }
}

struct stride optimiser_stride(const struct optimiser *optimiser, const struct tensor *tensor, double norm,
    double whole, const scalar *weights, const scalar *gradient, double scale, int64_t number, double rate)
{
    const struct portion portion = portion_of(optimiser, tensor);
    int64_t begin = tensor->offset, end = begin + tensor->size;
    const scalar *g = gradient + begin;
    double taken =
        portion.row == &sgd_row
            ? scale * sqrt(optimiser->team.kernels->dot(g, g, tensor->size))
            : sqrt(optimiser_update(optimiser, weights, gradient, scale, number, rate, begin, end).square);
    double full = portion.row->full ? portion.row->full(&optimiser->options, tensor, norm, whole)
                                    : sqrt((double)tensor->size);

    return (struct stride){.taken = taken, .full = portion.rate * full};
}

struct equilibrium optimiser_equilibrium(
    const struct optimiser *optimiser, const struct tensor *tensor, double rate)
{
    const struct portion portion = portion_of(optimiser, tensor);
    const struct step step = step_of(optimiser, &portion, 1, 1, rate);

    if (!portion.row->balance || optimiser->options.weights != WEIGHTS_FLOAT)
        return equilibrium_unknown();
    if (step.rate * step.decay == 0 || step.cautious || is_ruled(optimiser, &portion))
        return equilibrium_unknown();
    return portion.row->balance(&optimiser->options, tensor, &step);
}

/* ---- the edge of stability ---- */

double edge_bound(const struct optimiser_options *options)
{
    const struct optimiser_row *row = table[options->kind].row;

    return row->edge ? row->edge(options) : NAN;
}

bool edge_has_preconditioner(const struct optimiser_options *options)
{
    return table[options->kind].row->preconditioned;
}

void edge_root(const struct optimiser *optimiser, int64_t steps, scalar *root)
{
    const struct optimiser_options *options = &optimiser->options;
    double first = 1 - pow(options->beta1, (double)steps);
    double second = 1 - pow(options->beta2, (double)steps);

    for (int64_t k = 0; k < optimiser->portions; k++) {
        const struct tensor *tensor = &optimiser->portion[k].tensor;
        for (int64_t i = tensor->offset; i < tensor->offset + tensor->size; i++) {
            double v = (double)optimiser->second[i];
            double p = first * (sqrt(v / second) + options->epsilon) / optimiser->portion[k].rate;
            root[i] = v == 0 ? 0 : (scalar)(1 / sqrt(p));
        }
    }
}
