#ifndef NORMSWEEP_TESTS_MODEL_OPTIMISERS_OPTIMISED_H
#define NORMSWEEP_TESTS_MODEL_OPTIMISERS_OPTIMISED_H

#include "model/optimisers/optimisers.h"
#include "tests/model/draw.h"
#include "tests/model/lay_out.h"

enum { TENSORS_MOST = 8 };

/* A plane of tensors of one block, with an optimiser. */
struct optimised {
    struct tensor tensor[TENSORS_MOST];
    struct weight_layout layout;
    struct optimiser optimiser;
    struct arena arena;
    scalar *weights, *before, *gradient;
    size_t bytes; /* of each plane */
};

static inline void optimised_layout(
    struct optimised *o, const struct optimiser_options *options, int64_t threads)
{
    optimiser_layout(&o->optimiser, options, &o->layout, threads, false, &o->arena);
    o->weights = arena_plane(&o->arena, 1, o->layout.size);
    o->before = arena_plane(&o->arena, 1, o->layout.size);
    o->gradient = arena_plane(&o->arena, 1, o->layout.size);
}

/* Tensors of these kinds, rows and columns behind one another; the weights are 0. */
static inline void optimised_init(struct optimised *o, const struct optimiser_options *options,
    int64_t threads, const struct tensor *tensor, int count)
{
    *o = (struct optimised){.layout = {.tensor_count = count, .tensor = o->tensor}};
    for (int i = 0; i < count; i++) {
        struct tensor *own = &o->tensor[i];
        *own = tensor[i];
        own->offset = o->layout.size;
        own->size = own->rows * own->columns;
        o->layout.size += own->size;
        if (own->size > o->layout.largest)
            o->layout.largest = o->layout.largest_in_layers = own->size;
    }
    o->layout.layers_end = o->layout.size;
    o->bytes = (size_t)o->layout.size * sizeof(scalar);
    LAY_OUT(&o->arena, optimised_layout(o, options, threads));
}

static inline void optimised_release(struct optimised *o)
{
    arena_release(&o->arena);
}

#endif
