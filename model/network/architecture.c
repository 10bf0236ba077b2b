/* What follows from an architecture: defaults of numbers that may be 0, its stacks and their blocks. */
#include "model/network/network.h"

int64_t architecture_kv_heads(const struct architecture *architecture)
{
    return architecture->kv_heads ? architecture->kv_heads : architecture->heads;
}

int64_t architecture_depth(const struct architecture *a)
{
    return a->head_width ? a->head_width : a->width / a->heads;
}

bool architecture_has_gradients(const struct architecture *a)
{
    return a->positions != POSITIONS_DISTANCE && !a->token_types && !a->embedding_norm && !a->transform;
}

double architecture_norm_epsilon(const struct architecture *a)
{
    return a->norm_epsilon != 0 ? a->norm_epsilon : 1e-5;
}

double architecture_rotary_base(const struct architecture *a)
{
    return a->rotary_base != 0 ? a->rotary_base : 10000;
}

int64_t architecture_stacks(const struct architecture *architecture)
{
    return architecture->network == NETWORK_ENCODER_DECODER ? 2 : 1;
}

struct stack_form architecture_stack(const struct architecture *a, int64_t stack)
{
    bool both = a->network == NETWORK_ENCODER_DECODER, decoder = both && stack == 1;
    bool encoder = a->network == NETWORK_ENCODER || (both && stack == 0);

    return (struct stack_form){
        .begin = decoder ? a->layers : 0,
        .end = decoder ? a->layers + (a->decoder_layers ? a->decoder_layers : a->layers) : a->layers,
        .mask = encoder ? MASK_NONE : a->attention_mask,
        .cross = decoder,
        .source = both && stack == 0,
    };
}

int64_t architecture_blocks(const struct architecture *architecture)
{
    return architecture_stack(architecture, architecture_stacks(architecture) - 1).end;
}

int64_t architecture_stack_of(const struct architecture *architecture, int64_t block)
{
    int64_t stack = 0;

    while (block >= architecture_stack(architecture, stack).end)
        stack++;
    return stack;
}
