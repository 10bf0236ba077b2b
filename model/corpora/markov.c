/*
 * A sparse word-bigram source whose stationary frequencies pi follow Zipf's law exactly.
 *
 * Lay the words out on [0, 1) as intervals of lengths pi, in two independent random orders. The overlap of
 * word v's interval in the first layout with word w's interval in the second is the mass of the pair (v, w):
 * the north-west corner rule. Both marginals of this coupling are pi, and it has at most 2V-1 pairs. The
 * joint distribution J of successive words is the mean of MARKOV_COUPLINGS such couplings. So pi is
 * stationary, a word has few successors (below 2 * MARKOV_COUPLINGS on average, frequent words more, as in a
 * language), and the entropy rate is -sum J log(J / pi).
 *
 * Masses are integers, so the marginals are exact and every machine draws the same text.
 *
 * The chain is irreducible. Every word has positive stationary frequency, so no state is transient and the
 * weakly connected components of the graph are its communicating classes: one component is enough. A source
 * whose graph has more is drawn again (rare beyond a handful of words). Pairs that only exist by the rounding
 * of the weights are left out of that graph: they would never be drawn.
 *
 * The end of a line has the first Zipf rank whose frequency is 1/MEAN_LINE or less (the last rank, in a small
 * vocabulary). So the mean line, with its end, has 24 to 32 tokens for vocabularies of 64 to 1600; up to 48
 * for huge vocabularies, about V ln V for V below 12. The other words are in order of rank.
 */
#include "model/corpora/inside.h"

#include <math.h>
#include <stdlib.h>

enum { MEAN_LINE = 24 };

/* The weight of rank 1: MARKOV_COUPLINGS * total then fits in 63 bits. */
static const uint64_t most = UINT64_C(1) << 54;

struct markov_pair {
    uint64_t words; /* from << 32 | to */
    uint64_t mass;
};

/* Memory for building a chain. */
struct workshop {
    int64_t *first, *second; /* [V] the two orders of a coupling; `first` is later the forest of components */
    struct markov_pair *pair; /* [MARKOV_COUPLINGS * (2V-1)] */
    int64_t pairs;
};

static uint64_t rank_weight(int64_t rank)
{
    return most / (uint64_t)rank;
}

static void set_weights(struct markov *markov)
{
    int64_t words = markov->words, line_rank = 1;

    markov->total = 0;
    for (int64_t rank = 1; rank <= words; rank++)
        markov->total += rank_weight(rank);
    while (line_rank < words && rank_weight(line_rank) > markov->total / MEAN_LINE)
        line_rank++;
    for (int64_t word = 0; word < words - 1; word++)
        markov->weight[word] = rank_weight(word + 1 < line_rank ? word + 1 : word + 2);
    markov->weight[words - 1] = rank_weight(line_rank);
}

/* Appends the overlaps of the two layouts. */
static void couple(const struct markov *markov, struct workshop *shop)
{
    int64_t i = 0, j = 0;
    uint64_t left = markov->weight[shop->first[0]], right = markov->weight[shop->second[0]];

    for (;;) {
        uint64_t mass = left < right ? left : right;
        shop->pair[shop->pairs++] =
            (struct markov_pair){(uint64_t)shop->first[i] << 32 | (uint64_t)shop->second[j], mass};
        left -= mass;
        right -= mass;
        if (left == 0 && ++i < markov->words)
            left = markov->weight[shop->first[i]];
        if (right == 0 && ++j < markov->words)
            right = markov->weight[shop->second[j]];
        if (i == markov->words || j == markov->words)
            return; /* both end at once, as the layouts have the same length */
    }
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t first = ((const struct markov_pair *)a)->words, second = ((const struct markov_pair *)b)->words;
    return (first > second) - (first < second);
}

static void draw_pairs(const struct markov *markov, struct workshop *shop, int64_t seed, int64_t attempt)
{
    int64_t kept = 0;

    shop->pairs = 0;
    for (int64_t k = 0; k < MARKOV_COUPLINGS; k++) {
        uint64_t layout = 2 * (uint64_t)(attempt * MARKOV_COUPLINGS + k);
        shuffled(shop->first, markov->words, seed, RANDOM_SOURCE, layout << 32);
        shuffled(shop->second, markov->words, seed, RANDOM_SOURCE, (layout + 1) << 32);
        couple(markov, shop);
    }
    qsort(shop->pair, (size_t)shop->pairs, sizeof(*shop->pair), compare_pairs);
    for (int64_t i = 1; i < shop->pairs; i++) { /* merges equal ones */
        if (shop->pair[i].words == shop->pair[kept].words)
            shop->pair[kept].mass += shop->pair[i].mass;
        else
            shop->pair[++kept] = shop->pair[i];
    }
    shop->pairs = kept + 1;
}

static int64_t find_root(int64_t *parent, int64_t word)
{
    for (; parent[word] != word; word = parent[word])
        parent[word] = parent[parent[word]];
    return word;
}

static bool is_connected(const struct markov *markov, struct workshop *shop)
{
    int64_t *parent = shop->first, components = markov->words;

    for (int64_t word = 0; word < markov->words; word++)
        parent[word] = word;
    for (int64_t i = 0; i < shop->pairs; i++) {
        int64_t from = (int64_t)(shop->pair[i].words >> 32), to = (int64_t)(uint32_t)shop->pair[i].words;
        uint64_t rarer =
            markov->weight[from] < markov->weight[to] ? markov->weight[from] : markov->weight[to];
        if (shop->pair[i].mass < rarer / 64) /* from rounding, or almost never drawn */
            continue;
        int64_t root = find_root(parent, from), other = find_root(parent, to);
        components -= root != other;
        parent[root] = other;
    }
    return components == 1;
}

static void fill_rows(struct markov *markov, const struct workshop *shop)
{
    int64_t from = -1;
    uint64_t mass = 0;

    for (int64_t i = 0; i < shop->pairs; i++) {
        while (from < (int64_t)(shop->pair[i].words >> 32)) {
            markov->row[++from] = i;
            mass = 0;
        }
        mass += shop->pair[i].mass;
        markov->next[i] = (int32_t)(uint32_t)shop->pair[i].words;
        markov->mass[i] = mass;
    }
    markov->row[markov->words] = shop->pairs;
}

static int allocate(struct markov *markov, struct workshop *shop, struct error *error)
{
    int64_t words = markov->words, pairs = MARKOV_COUPLINGS * (2 * words - 1);

    markov->weight = corpus_resize(NULL, words, sizeof(*markov->weight), error);
    markov->row = corpus_resize(NULL, words + 1, sizeof(*markov->row), error);
    markov->next = corpus_resize(NULL, pairs, sizeof(*markov->next), error);
    markov->mass = corpus_resize(NULL, pairs, sizeof(*markov->mass), error);
    shop->first = corpus_resize(NULL, words, sizeof(*shop->first), error);
    shop->second = corpus_resize(NULL, words, sizeof(*shop->second), error);
    shop->pair = corpus_resize(NULL, pairs, sizeof(*shop->pair), error);
    return markov->weight && markov->row && markov->next && markov->mass && shop->first && shop->second &&
                   shop->pair
               ? 0
               : error_prefix(error, "vocabulary");
}

int markov_init(struct markov *markov, int64_t words, int64_t seed, struct error *error)
{
    struct workshop shop = {0};

    *markov = (struct markov){.words = words};
    int status = allocate(markov, &shop, error);
    if (status == 0) {
        set_weights(markov);
        for (int64_t attempt = 0; attempt == 0 || !is_connected(markov, &shop); attempt++)
            draw_pairs(markov, &shop, seed, attempt);
        fill_rows(markov, &shop);
    } else
        markov_release(markov);
    free(shop.first);
    free(shop.second);
    free(shop.pair);
    return status;
}

void markov_release(struct markov *markov)
{
    free(markov->weight);
    free(markov->row);
    free(markov->next);
    free(markov->mass);
    *markov = (struct markov){0};
}

static uint64_t pair_mass(const struct markov *markov, int64_t from, int64_t pair)
{
    return markov->mass[pair] - (pair > markov->row[from] ? markov->mass[pair - 1] : 0);
}

double markov_entropy_rate(const struct markov *markov)
{
    double sum = 0;

    for (int64_t from = 0; from < markov->words; from++) {
        double row_mass = (double)MARKOV_COUPLINGS * (double)markov->weight[from];
        for (int64_t i = markov->row[from]; i < markov->row[from + 1]; i++) {
            double mass = (double)pair_mass(markov, from, i);
            sum -= mass * log(mass / row_mass);
        }
    }
    return sum / ((double)MARKOV_COUPLINGS * (double)markov->total);
}

double markov_loss(const struct markov *markov, int32_t from, int32_t to)
{
    int64_t low = markov->row[from], high = markov->row[from + 1];

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (markov->next[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == markov->row[from + 1] || markov->next[low] != to)
        return INFINITY;
    return log((double)MARKOV_COUPLINGS * (double)markov->weight[from]) -
           log((double)pair_mass(markov, from, low));
}

/* The successor of `from` whose part of the row's mass contains `at`. */
static int32_t successor(const struct markov *markov, int32_t from, uint64_t at)
{
    int64_t low = markov->row[from], high = markov->row[from + 1] - 1;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (markov->mass[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return markov->next[low];
}

void markov_draw(const struct markov *markov, int64_t seed, enum random_purpose purpose,
    const struct breath *breath, struct text *text)
{
    int32_t *tokens = text->tokens;

    if (text->token_count > 0) { /* begins with any word, by stationary frequencies */
        uint64_t at = random_below((uint64_t)seed, purpose, 0, markov->total);
        for (tokens[0] = 0; at >= markov->weight[tokens[0]]; tokens[0]++)
            at -= markov->weight[tokens[0]];
    }
    for (int64_t i = 1; i < text->token_count; i++) {
        breathe_at(breath, i);
        uint64_t row_mass = MARKOV_COUPLINGS * markov->weight[tokens[i - 1]];
        tokens[i] =
            successor(markov, tokens[i - 1], random_below((uint64_t)seed, purpose, (uint64_t)i, row_mass));
    }
}
