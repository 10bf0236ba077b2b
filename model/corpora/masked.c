#include "model/corpora/masked.h"

#include <stdbool.h>

#include "model/core/random.h"
#include "model/corpora/objective.h"

/* The draws of a token. */
enum { DRAW_CHOICE, DRAW_FATE, DRAW_WORD, DRAWS };

int64_t masked_targets(int64_t length)
{
    int64_t targets = objective_noise(length);

    return targets > 1 ? targets : 1;
}

/* What the input shows in place of a chosen word. */
static int32_t shown(int32_t word, int64_t vocabulary, int32_t mask, uint64_t seed, uint64_t draw)
{
    uint64_t tenth = random_below(seed, RANDOM_MASKED, draw + DRAW_FATE, 10);

    if (tenth < 8)
        return mask;
    if (tenth == 8)
        return (int32_t)random_below(seed, RANDOM_MASKED, draw + DRAW_WORD, (uint64_t)vocabulary);
    return word;
}

/* Chooses each token with probability (targets still needed) / (tokens still left): each set is equally
 * likely. */
void masked_append(struct batch *batch, const struct text *text, struct line sequence, int64_t vocabulary,
    int32_t mask, uint64_t seed)
{
    int64_t needed = masked_targets(sequence.words);
    int32_t *tokens = batch->tokens + batch->rows, *target = batch->target + batch->rows;

    text_copy(text, sequence.first, sequence.words, tokens);
    for (int64_t i = 0; i < sequence.words; i++) {
        uint64_t draw = DRAWS * (uint64_t)i, left = (uint64_t)(sequence.words - i);
        bool chosen = (int64_t)random_below(seed, RANDOM_MASKED, draw + DRAW_CHOICE, left) < needed;
        target[i] = chosen ? tokens[i] : NO_TARGET;
        needed -= chosen;
        if (chosen)
            tokens[i] = shown(tokens[i], vocabulary, mask, seed, draw);
    }
    batch->rows += sequence.words;
    batch->start[++batch->sequences] = batch->rows;
}
