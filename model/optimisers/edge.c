#include "model/optimisers/edge.h"

#include <math.h>

double edge_bound(const struct optimiser_options *options)
{
    switch (options->kind) {
    case OPTIMISER_ADAMW:
    case OPTIMISER_ADAM:
        return (2 + 2 * options->beta1) / (1 - options->beta1);
    case OPTIMISER_SGD:
        return 2 + 2 * options->momentum;
    case OPTIMISER_NORMALIZED_SGD:
    case OPTIMISER_ADAFACTOR:
    case OPTIMISER_LION:
    case OPTIMISER_MUON:
    case OPTIMISER_COUNT:
        break;
    }
    return NAN;
}

bool edge_has_preconditioner(const struct optimiser_options *options)
{
    return options->kind == OPTIMISER_ADAMW || options->kind == OPTIMISER_ADAM;
}

void edge_root(const struct optimiser *o, int64_t steps, scalar *root)
{
    double first = 1 - pow(o->options.beta1, (double)steps);
    double second = 1 - pow(o->options.beta2, (double)steps);

    for (int64_t k = 0; k < o->portions; k++) {
        const struct tensor *tensor = &o->portion[k].tensor;
        for (int64_t i = tensor->offset; i < tensor->offset + tensor->size; i++) {
            double v = (double)o->second[i];
            double p = first * (sqrt(v / second) + o->options.epsilon) / o->portion[k].rate;
            root[i] = v == 0 ? 0 : (scalar)(1 / sqrt(p));
        }
    }
}
