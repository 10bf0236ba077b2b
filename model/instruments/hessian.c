/*
 * The measurement of a spectrum, as a sequence of Lanczos processes whose products the caller computes: see
 * the loop in instruments.h. First the processes of all parameters, one for each probe, then that of P^-1 H,
 * then those of each layer; part_of says which one is under way and where its vectors lie in the plane.
 * hessian_layout runs over an arena that counts, too, where there is no memory for the layers' spectra. A
 * product that is not finite ends its process and makes the results NaN; nothing can fail.
 */
#include "model/instruments/instruments.h"

#include <math.h>
#include <string.h>

static void spectrum_layout(
    struct spectrum *spectrum, int64_t probes, int64_t steps, int64_t size, struct arena *arena)
{
    spectrum->ritz = arena_take(arena, (size_t)(probes * steps), sizeof(double));
    spectrum->weight = arena_take(arena, (size_t)(probes * steps), sizeof(double));
    spectrum->size = size;
}

static int64_t layer_size(const struct weight_layout *layout, int64_t layer)
{
    return layout->layer_begin ? layout->layer_begin[layer + 1] - layout->layer_begin[layer] : 0;
}

void hessian_layout(struct hessian *h, const struct weight_layout *layout, int64_t layers, int64_t probes,
    int64_t steps, bool by_layer, bool preconditioned, struct arena *arena)
{
    size_t plane = (size_t)layout->size;
    struct spectrum counted;

    *h = (struct hessian){.probes = probes, .steps = steps, .layers = layers, .layout = layout};
    h->layer = by_layer ? arena_take(arena, (size_t)layers, sizeof(*h->layer)) : NULL;
    lanczos_layout(&h->lanczos, layout->size, steps, arena);
    spectrum_layout(&h->whole, probes, steps, layout->size, arena);
    for (int64_t layer = 0; by_layer && layer < layers; layer++)
        spectrum_layout(
            h->layer ? &h->layer[layer] : &counted, probes, steps, layer_size(layout, layer), arena);
    h->root = preconditioned ? arena_take(arena, plane, sizeof(*h->root)) : NULL;
    h->direction = by_layer || preconditioned ? arena_take(arena, plane, sizeof(*h->direction)) : NULL;
    h->ritz = arena_take(arena, (size_t)steps, sizeof(double));
    h->weight = arena_take(arena, (size_t)steps, sizeof(double));
}

/* ---- the processes: first those of all parameters, then P^-1 H, then those of the layers ---- */

/* The process under way: its spectrum, NULL for P^-1 H; its range of the plane; its probe. */
struct spectrum_part {
    struct spectrum *spectrum;
    int64_t begin, size, probe;
};

static struct spectrum_part part_of(struct hessian *h)
{
    int64_t at = h->process, behind = at - h->probes - h->has_root;

    if (at < h->probes)
        return (struct spectrum_part){&h->whole, 0, h->layout->size, at};
    if (behind < 0)
        return (struct spectrum_part){NULL, 0, h->layout->size, 0};
    int64_t layer = behind / h->probes;
    return (struct spectrum_part){
        &h->layer[layer], h->layout->layer_begin[layer], layer_size(h->layout, layer), behind % h->probes};
}

static void spectrum_begin(struct spectrum *spectrum)
{
    spectrum->largest = spectrum->smallest = spectrum->trace = spectrum->trace_error = NAN;
}

void hessian_begin(struct hessian *h, uint64_t seed, bool has_root)
{
    h->seed = seed;
    h->has_root = has_root;
    h->process = -1;
    h->preconditioned = NAN;
    spectrum_begin(&h->whole);
    for (int64_t layer = 0; h->layer && layer < h->layers; layer++)
        spectrum_begin(&h->layer[layer]);
}

bool hessian_next(struct hessian *h)
{
    if (++h->process == h->probes + h->has_root + (h->layer ? h->layers * h->probes : 0))
        return false;
    struct spectrum_part part = part_of(h);
    lanczos_begin(&h->lanczos, part.size, h->seed, (uint64_t)part.probe);
    h->added = 0;
    return true;
}

const scalar *hessian_direction(struct hessian *h)
{
    struct spectrum_part part = part_of(h);
    const scalar *vector = lanczos_vector(&h->lanczos);

    if (!vector || part.spectrum == &h->whole)
        return vector;
    if (part.spectrum) {
        memset(h->direction, 0, (size_t)h->layout->size * sizeof(*h->direction));
        memcpy(h->direction + part.begin, vector, (size_t)part.size * sizeof(*vector));
    } else {
        for (int64_t i = 0; i < part.size; i++)
            h->direction[i] = h->root[i] * vector[i];
    }
    return h->direction;
}

void hessian_add(struct hessian *h, const scalar *product)
{
    struct spectrum_part part = part_of(h);
    const scalar *from = product + part.begin, *root = part.spectrum ? NULL : h->root;
    double *sum = h->lanczos.product;

    if (h->added++ == 0)
        memset(sum, 0, (size_t)part.size * sizeof(*sum));
    for (int64_t i = 0; i < part.size; i++)
        sum[i] += root ? (double)root[i] * (double)from[i] : (double)from[i];
}

void hessian_step(struct hessian *h)
{
    double *sum = h->lanczos.product;

    for (int64_t i = 0; h->added > 1 && i < h->lanczos.size; i++)
        sum[i] /= (double)h->added;
    h->added = 0;
    lanczos_step(&h->lanczos);
}

/* ---- results ---- */

void hessian_close(struct hessian *h)
{
    struct spectrum_part part = part_of(h);
    struct spectrum *s = part.spectrum;
    int64_t at = part.probe * h->steps, last = h->steps - 1;
    double *ritz = s ? s->ritz + at : h->ritz, *weight = s ? s->weight + at : h->weight;

    lanczos_end(&h->lanczos, ritz, weight);
    while (last > 0 && isnan(ritz[last])) /* numbers stand before what is not one */
        last--;
    double largest = ritz[last], smallest = ritz[0];
    if (!s) {
        h->preconditioned = largest;
        return;
    }
    /* The mean of the probes so far, and in trace_error the sum of squares about it (Welford 1962). */
    double trace = (double)part.size * h->lanczos.first;
    double before = part.probe ? s->trace : 0, squares = part.probe ? s->trace_error : 0;
    s->trace = before + (trace - before) / (double)(part.probe + 1);
    s->trace_error = squares + (trace - before) * (trace - s->trace);
    /* NaN stays. */
    if (part.probe == 0 || (!isnan(s->largest) && !(largest <= s->largest)))
        s->largest = largest;
    if (part.probe == 0 || (!isnan(s->smallest) && !(smallest >= s->smallest)))
        s->smallest = smallest;
    if (part.probe == h->probes - 1) {
        double probes = (double)h->probes;
        s->trace_error = h->probes > 1 ? sqrt(s->trace_error / (probes - 1) / probes) : NAN;
    }
}

int64_t hessian_products(int64_t layers, int64_t probes, int64_t steps, bool by_layer, bool preconditioned)
{
    return steps * (probes * (1 + (by_layer ? layers : 0)) + preconditioned);
}

double hessian_bound(int64_t size, int64_t probes, int64_t steps, double width)
{
    double n = (double)size, risk = HESSIAN_RISK_PERCENT / 100.;
    double of_steps = 12 / ((double)steps - 0.5);
    double of_probes = sqrt(4 * log(2 * n / risk) / ((n + 2) * (double)probes));

    return fmax(of_steps, of_probes) * width;
}
