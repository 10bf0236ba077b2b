/* Embeddings with learned, fixed and no positions, of one side of a batch or of two. */
#include "tests/test.h"

#include "model/core/random.h"
#include "model/layers/layers.h"
#include "tests/model/kernels/each_level.h"

enum { VOCABULARY = 7, CONTEXT = 5, WIDTH = 37, ROWS = 1 + CONTEXT + 3, SOURCE_ROWS = 2 + 4 + 1 };

static const int64_t start[] = {0, 1, 6, ROWS}, source_start[] = {0, 2, 6, SOURCE_ROWS};
static const int32_t tokens[] = {3, 0, 6, 6, 1, 3, 2, 2, 6}, source_tokens[] = {6, 3, 3, 5, 0, 6, 1};
static const struct packed target = {3, ROWS, start, tokens},
                           source = {3, SOURCE_ROWS, source_start, source_tokens};

static scalar token[VOCABULARY * WIDTH], position[CONTEXT * WIDTH];
static scalar type[WIDTH];
static scalar dtoken[VOCABULARY * WIDTH], dposition[CONTEXT * WIDTH];
static scalar out[ROWS * WIDTH], dout[ROWS * WIDTH], source_dout[SOURCE_ROWS * WIDTH];

/* Whole numbers: all sums are exact. */
static void draw(scalar *x, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (scalar)((double)random_below(seed, RANDOM_TEST, (uint64_t)i, 2000) - 1000);
}

static struct embedding begin(const struct kernels *kernels, struct team *team, int64_t threads)
{
    draw(token, VOCABULARY * WIDTH, 1);
    draw(position, CONTEXT * WIDTH, 2);
    draw(dout, ROWS * WIDTH, 3);
    draw(source_dout, SOURCE_ROWS * WIDTH, 4);
    draw(dtoken, VOCABULARY * WIDTH, 5);
    draw(dposition, CONTEXT * WIDTH, 6);
    draw(type, WIDTH, 7);
    *team = (struct team){.kernels = kernels, .threads = (int)threads};
    return (struct embedding){.team = team,
        .token = token,
        .position = position,
        .dtoken = dtoken,
        .dposition = dposition,
        .vocabulary = VOCABULARY,
        .context = CONTEXT,
        .width = WIDTH};
}

static void check_out(const struct embedding *embedding)
{
    embedding_forward(embedding, out, &target);
    for (int64_t s = 0; s < 3; s++)
        for (int64_t row = start[s]; row < start[s + 1]; row++)
            for (int64_t c = 0; c < WIDTH; c++) {
                scalar of_position = embedding->position ? position[(row - start[s]) * WIDTH + c] : 0;
                scalar of_type = embedding->type ? type[c] : 0;
                CHECK(out[row * WIDTH + c] == token[tokens[row] * WIDTH + c] + of_position + of_type);
            }
}

/* What one side adds to the gradient of a word. */
static scalar of_word(const struct packed *packed, const scalar *gradient, int32_t word, int64_t c)
{
    scalar sum = 0;

    for (int64_t row = 0; row < packed->rows; row++)
        sum += packed->tokens[row] == word ? gradient[row * WIDTH + c] : 0;
    return sum;
}

/* dtoken of the target, then of the source in addition; dposition of the target, or what it was. */
static void check_gradients(struct embedding *embedding, bool learned)
{
    static scalar was[CONTEXT * WIDTH];

    memcpy(was, dposition, sizeof(was));
    embedding_gradient(embedding, dout, &target);
    embedding->dposition = NULL;
    embedding->add = true;
    embedding_gradient(embedding, source_dout, &source);
    for (int64_t c = 0; c < WIDTH; c++) {
        for (int32_t word = 0; word < VOCABULARY; word++)
            CHECK(dtoken[word * WIDTH + c] ==
                  of_word(&target, dout, word, c) + of_word(&source, source_dout, word, c));
        for (int64_t t = 0; t < CONTEXT; t++) {
            scalar sum = 0;
            for (int64_t s = 0; s < 3; s++)
                sum += start[s] + t < start[s + 1] ? dout[(start[s] + t) * WIDTH + c] : 0;
            CHECK(dposition[t * WIDTH + c] == (learned ? sum : was[t * WIDTH + c]));
        }
    }
}

EACH_LEVEL(embedding_positions)
{
    for (int64_t threads = 1; threads <= 3; threads++)
        for (int kind = 0; kind < 3; kind++) { /* learned, fixed, none */
            struct team team;
            struct embedding embedding = begin(kernels, &team, threads);
            embedding.dposition = kind == 0 ? dposition : NULL;
            embedding.position = kind == 2 ? NULL : position;
            check_out(&embedding);
            embedding.type = type;
            check_out(&embedding);
            check_gradients(&embedding, kind == 0);
        }
}

TEST(embedding_sinusoidal)
{
    enum { LENGTH = 600, WIDEST = 9 };
    static scalar table[LENGTH * WIDEST];

    for (int64_t width = 1; width <= WIDEST; width++) {
        sinusoidal_fill(table, LENGTH, width);
        for (int64_t t = 0; t < LENGTH; t++)
            for (int64_t c = 0; c < width; c++) {
                long double angle =
                    (long double)t / powl(10000, (long double)(c / 2 * 2) / (long double)width);
                double value = (double)(c % 2 ? cosl(angle) : sinl(angle));
                CHECK_CLOSE((double)table[t * width + c], value, sizeof(scalar) == 4 ? 1e-7 : 1e-12);
            }
    }
}
