/* How near a fresh network is to a homogeneous one, where mathematics knows the answer. */
#include "tests/model/lay_out.h"

#include "model/instruments/instruments.h"

static const struct architecture base = {
    .vocabulary = 77,
    .init_scale = 1,
    .residual_scale = 1, /* not the instrument's */
    .context = 3,
    .width = 32,
    .heads = 4,
    .feedforward = 48,
    .layers = 2,
    .biases = BIAS_ALL,
};

/* The tokens are copied where `tokens` is not NULL. */
static struct homogeneity measure(const struct architecture *architecture, int64_t seed, int32_t *tokens)
{
    struct arena arena;
    struct homogeneity_model h;
    struct homogeneity result;

    LAY_OUT(&arena, homogeneity_layout(&h, architecture, &arena));
    homogeneity_measure(&h, seed, &result);
    CHECK(arena.used == arena.size);
    if (tokens)
        memcpy(tokens, h.batch.tokens, (size_t)h.batch.rows * sizeof(*tokens));
    arena_release(&arena);
    return result;
}

TEST(homogeneity_scales)
{
    CHECK(homogeneity_scale(0) == 1 && homogeneity_scale(HOMOGENEITY_SCALES - 1) == 10);
    CHECK_CLOSE(homogeneity_scale(7) - homogeneity_scale(6), 9.0 / 19, 1e-15);
}

/* Every cosine is one, and the last is nearest to 1, for every arrangement. */
TEST(homogeneity_rises_to_the_limit)
{
    for (int placement = NORM_POST; placement <= NORM_OUT; placement++) {
        struct architecture a = base;
        a.norm_placement = (enum norm_placement)placement;
        struct homogeneity h = measure(&a, 1, NULL);
        for (int i = 0; i < HOMOGENEITY_SCALES; i++)
            CHECK(h.cosine[i] > 0 && h.cosine[i] <= 1 + 1e-12);
        CHECK(h.cosine[0] < 0.999 && h.cosine[HOMOGENEITY_SCALES - 1] > h.cosine[0]);
    }
}

/*
 * The output of a LayerNorm with gain c and bias 0 is of norm c sqrt(rows * width), whatever comes in, up to
 * eps: post and pre end with one.
 */
TEST(homogeneity_degree_behind_a_norm)
{
    for (int placement = NORM_POST; placement <= NORM_PRE; placement++) {
        struct architecture a = base;
        a.norm_placement = (enum norm_placement)placement;
        struct homogeneity h = measure(&a, 2, NULL);
        CHECK_CLOSE(h.degree, 1, 1e-4);
        CHECK_CLOSE(h.degree_r2, 1, 1e-6);
    }
}

/*
 * Without biases, with the norm on the sub-layers' outputs and attention that is a mean whatever the scale,
 * all is homogeneous but for eps: the states of degree 1, the logits, whose bias xavier leaves at 0, of 2.
 */
static struct architecture homogeneous(void)
{
    struct architecture a = base;

    a.norm_placement = NORM_OUT;
    a.init = INIT_XAVIER;
    a.zero_query_key = true;
    a.biases = BIAS_OUTPUT;
    return a;
}

TEST(homogeneity_of_a_homogeneous_network)
{
    struct architecture a = homogeneous();
    struct homogeneity h = measure(&a, 3, NULL);

    for (int i = 0; i < HOMOGENEITY_SCALES; i++)
        CHECK_CLOSE(h.cosine[i], 1, 1e-7);
    CHECK_CLOSE(h.degree, 1, 1e-4);
    CHECK_CLOSE(h.degree_r2, 1, 1e-6);
    CHECK_CLOSE(h.output_degree, 2, 1e-4);
    CHECK_CLOSE(h.output_degree_r2, 1, 1e-6);
}

/* Biases count for less the larger the scale: with them, and all else equal, it is none. */
TEST(homogeneity_is_broken_by_biases)
{
    struct architecture a = homogeneous();

    a.init = INIT_TORCH;
    struct homogeneity without = measure(&a, 4, NULL);
    a.biases = BIAS_ALL;
    struct homogeneity with = measure(&a, 4, NULL);
    CHECK(with.cosine[0] < 0.999 && with.cosine[0] < without.cosine[0]);
    CHECK_CLOSE(without.cosine[0], 1, 1e-6);
}

/* The text, the context and the threads of a run are not seen; its seed is, by weights and sequences. */
TEST(homogeneity_is_of_architecture_and_seed)
{
    enum { ROWS = HOMOGENEITY_SEQUENCES * HOMOGENEITY_CONTEXT };
    int32_t tokens[ROWS], others[ROWS];
    int seen[HOMOGENEITY_VOCABULARY] = {0};
    struct architecture a = base;
    struct homogeneity first = measure(&a, 5, tokens);

    a.vocabulary = 1000;
    a.context = 50;
    struct homogeneity again = measure(&a, 5, others);
    CHECK(memcmp(&first, &again, sizeof(first)) == 0 && memcmp(tokens, others, sizeof(tokens)) == 0);
    struct homogeneity other = measure(&a, 6, others);
    CHECK(first.cosine[0] != other.cosine[0] && memcmp(tokens, others, sizeof(tokens)) != 0);
    for (int row = 0; row < ROWS; row++) {
        bool word = tokens[row] >= 0 && tokens[row] < HOMOGENEITY_VOCABULARY;
        CHECK(word);
        if (word)
            seen[tokens[row]]++;
    }
    for (int word = 0; word < HOMOGENEITY_VOCABULARY; word++)
        CHECK(seen[word] > 0);
}
