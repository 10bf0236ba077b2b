/*
 * What a model predicts over a validation. collapse_begin; then for each batch that transformer_evaluate has
 * filled `predicted` of, collapse_add; then collapse_end, and collapse_unigram_loss, which needs the targets
 * that were added. The unigram loss depends on the corpus and its reading alone, so a process keeps it from
 * run to run (unigram_is_of). Without any batch the measures are NaN; nothing can fail.
 */
#include "model/instruments/instruments.h"

#include <math.h>
#include <string.h>

void collapse_layout(struct collapse *collapse, int64_t vocabulary, int64_t rows, struct arena *arena)
{
    *collapse = (struct collapse){
        .vocabulary = vocabulary,
        .predicted = arena_take(arena, (size_t)rows, sizeof(int32_t)),
        .times = arena_take(arena, (size_t)vocabulary, sizeof(double)),
        .share = arena_take(arena, (size_t)vocabulary, sizeof(double)),
    };
}

void collapse_begin(struct collapse *collapse)
{
    memset(collapse->times, 0, (size_t)collapse->vocabulary * sizeof(*collapse->times));
    memset(collapse->share, 0, (size_t)collapse->vocabulary * sizeof(*collapse->share));
    collapse->right = 0;
}

void collapse_add(struct collapse *collapse, const struct batch *batch)
{
    for (int64_t sequence = 0; sequence < batch->sequences; sequence++) {
        int64_t begin = batch->start[sequence], end = batch->start[sequence + 1], targets = 0;
        for (int64_t row = begin; row < end; row++)
            targets += batch->target[row] != NO_TARGET;
        double share = 1 / (double)targets;
        for (int64_t row = begin; row < end; row++) {
            if (batch->target[row] == NO_TARGET)
                continue;
            collapse->times[collapse->predicted[row]]++;
            collapse->share[batch->target[row]] += share;
            collapse->right += collapse->predicted[row] == batch->target[row];
        }
    }
}

static double sum(const double *x, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    return sum;
}

/* The entropy, in nats, of the distribution that is proportional to `weight`. */
static double entropy(const double *weight, int64_t count)
{
    double total = sum(weight, count), entropy = 0;

    for (int64_t i = 0; i < count; i++)
        if (weight[i] > 0)
            entropy += weight[i] / total * log(total / weight[i]);
    return total > 0 ? entropy : NAN;
}

void collapse_end(const struct collapse *collapse, struct collapse_measures *measures)
{
    *measures = (struct collapse_measures){
        .predicted_entropy = entropy(collapse->times, collapse->vocabulary),
        .accuracy = collapse->right / sum(collapse->times, collapse->vocabulary),
    };
}

double collapse_unigram_loss(struct collapse *collapse, const struct text *training,
    const struct reading *reading, struct batch *scratch)
{
    double *times = collapse->times, all = 0, loss = 0;
    int64_t words = collapse->vocabulary, sequences = reading_sequences(reading, training);
    int64_t stride = training->mapped ? 1 + training->token_count / UNIGRAM_MOST : 1;
    int64_t targets = 0, count = 0;

    memset(times, 0, (size_t)words * sizeof(*times));
    for (int64_t i = 0; i < sequences; i += stride, count++)
        targets += reading_targets(reading, training, i);
    for (int64_t i = 0; i < sequences; i += stride) {
        /* The weight of a target, 1 in a sequence of mean length. */
        double unit = (double)targets / (double)count / (double)reading_targets(reading, training, i);
        validation_sequence(training, reading, i, scratch);
        for (int64_t row = 0; row < scratch->rows; row++)
            if (scratch->target[row] != NO_TARGET)
                times[scratch->target[row]] += unit;
    }
    for (int64_t word = 0; word < words; word++) {
        times[word] = times[word] > 0 ? times[word] : 1;
        all += times[word];
    }
    for (int64_t word = 0; word < words; word++)
        loss -= collapse->share[word] * log(times[word] / all);
    return loss / sum(collapse->share, words);
}

bool unigram_is_of(
    const struct unigram *unigram, const struct corpus *corpus, const struct reading *reading, int64_t tokens)
{
    const struct reading *own = &unigram->reading;

    return unigram->known && memcmp(&unigram->corpus, &corpus->digest, sizeof(corpus->digest)) == 0 &&
           own->sequences == reading->sequences && own->task == reading->task &&
           own->context == reading->context && own->vocabulary == reading->vocabulary &&
           own->end_of_line == reading->end_of_line && own->foreign == reading->foreign &&
           unigram->tokens == tokens;
}
