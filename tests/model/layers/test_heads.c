/* All heads of packed sequences: heads that share keys and values, and what the number of threads may change.
 */
#include "tests/model/lay_out.h"

#include <stdlib.h>
#include <string.h>

#include "model/core/random.h"
#include "model/layers/attention.h"

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-12 : 2e-5;

enum { HEADS = 6, DEPTH = 5, WIDTH = HEADS * DEPTH, TOKENS = 3 + 1 + 33 + 66, LONGEST = 66 };
enum { BIASES = HEADS * (2 * LONGEST + 2 * ATTENTION_LANES), PLANE = TOKENS * 3 * WIDTH };

static const int64_t start[] = {0, 3, 4, 37, TOKENS};

/* What heads compute from qkv, by a team of its own. */
struct computed {
    scalar mixed[TOKENS * WIDTH], dqkv[PLANE], dbias[BIASES];
    scalar most[HEADS * TOKENS], inverse[HEADS * TOKENS];
};

static scalar qkv[PLANE], dmixed[TOKENS * WIDTH], bias[BIASES];

static void draw(scalar *x, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (scalar)random_normal(seed, RANDOM_TEST, (uint64_t)i);
}

static void draw_all(void)
{
    draw(qkv, PLANE, 1);
    draw(dmixed, TOKENS * WIDTH, 2);
    draw(bias, BIASES, 3);
}

static struct team team_of(int64_t threads, struct arena *arena)
{
    int64_t scratch = heads_scratch(HEADS, DEPTH, LONGEST, true, false);
    struct team team;

    LAY_OUT(arena, team_layout(&team, PRECISION_FLOAT, threads, scratch, arena));
    team.least = 0;
    return team;
}

/* `biased`: with a relative bias, whose gradient is added to 1. */
static void compute(struct computed *c, const scalar *from, int64_t threads, int64_t kv_heads,
    enum attention_mask mask, bool biased)
{
    const struct relative relative = {
        .reach = LONGEST - 1, .stride = relative_stride(LONGEST), .bias = bias, .dbias = c->dbias};
    const struct projected in = projected_together((scalar *)from, WIDTH, kv_heads * DEPTH),
                           din = projected_together(c->dqkv, WIDTH, kv_heads * DEPTH);
    struct arena arena;
    const struct team team = team_of(threads, &arena);
    const struct heads heads = {.team = &team,
        .heads = HEADS,
        .kv_heads = kv_heads,
        .depth = DEPTH,
        .scale = heads_scale(DEPTH),
        .mask = mask,
        .sequences = 4,
        .start = start,
        .key_start = start,
        .most = c->most,
        .inverse = c->inverse,
        .relative = biased ? &relative : NULL};

    memset(c, 0, sizeof(*c));
    for (int64_t i = 0; i < BIASES; i++)
        c->dbias[i] = 1;
    heads_forward(&heads, c->mixed, &in);
    heads_gradient(&heads, &din, dmixed, &in);
    arena_release(&arena);
}

/* Everything but the gradient of the bias is the same bits for any number of threads; that gradient is the
 * same bits whenever the number is the same. */
TEST(heads_by_threads)
{
    static struct computed one, several, again;

    draw_all();
    for (enum attention_mask mask = MASK_CAUSAL; mask <= MASK_NONE; mask++)
        for (int64_t kv_heads = 1; kv_heads <= HEADS; kv_heads++) {
            if (HEADS % kv_heads)
                continue;
            compute(&one, qkv, 1, kv_heads, mask, true);
            for (int64_t threads = 2; threads <= 3; threads++) {
                compute(&several, qkv, threads, kv_heads, mask, true);
                compute(&again, qkv, threads, kv_heads, mask, true);
                CHECK(memcmp(one.mixed, several.mixed, sizeof(one.mixed)) == 0);
                CHECK(memcmp(one.dqkv, several.dqkv, sizeof(one.dqkv)) == 0);
                CHECK(memcmp(&again, &several, sizeof(again)) == 0);
                for (int64_t i = 0; i < BIASES; i++)
                    CHECK_CLOSE((double)one.dbias[i], (double)several.dbias[i], rounding);
            }
        }
}

/* qkv in which every head has keys and values of its own: copies of those that it shares. */
static void copy_shared(scalar *to, int64_t kv_heads)
{
    int64_t narrow = WIDTH + 2 * kv_heads * DEPTH, group = HEADS / kv_heads;

    for (int64_t row = 0; row < TOKENS; row++)
        for (int64_t c = 0; c < 3 * WIDTH; c++) {
            int64_t plane = c / WIDTH, h = c % WIDTH / DEPTH;
            int64_t shared =
                plane == 0 ? c : WIDTH + (plane - 1) * kv_heads * DEPTH + h / group * DEPTH + c % DEPTH;
            to[row * 3 * WIDTH + c] = qkv[row * narrow + shared];
        }
}

/* The gradient of what heads share is the sum over the copies. */
static void check_gradient(const struct computed *shared, const struct computed *copied, int64_t kv_heads)
{
    int64_t narrow = WIDTH + 2 * kv_heads * DEPTH, group = HEADS / kv_heads;

    for (int64_t row = 0; row < TOKENS; row++)
        for (int64_t c = 0; c < narrow; c++) {
            const scalar *from = copied->dqkv + row * 3 * WIDTH;
            int64_t plane = c < WIDTH ? 0 : 1 + (c - WIDTH) / (kv_heads * DEPTH);
            int64_t k = plane ? (c - WIDTH) % (kv_heads * DEPTH) : c;
            double sum = plane ? 0 : (double)from[c];
            for (int64_t i = 0; plane && i < group; i++)
                sum += (double)from[plane * WIDTH + (k / DEPTH * group + i) * DEPTH + k % DEPTH];
            CHECK_CLOSE((double)shared->dqkv[row * narrow + c], sum, rounding);
        }
}

TEST(heads_share_keys_and_values)
{
    static struct computed shared, copied;
    static scalar copies[PLANE];

    draw_all();
    for (int biased = 0; biased < 2; biased++)
        for (int64_t kv_heads = 1; kv_heads <= 3; kv_heads++) {
            copy_shared(copies, kv_heads);
            compute(&shared, qkv, 2, kv_heads, MASK_CAUSAL, biased);
            compute(&copied, copies, 2, HEADS, MASK_CAUSAL, biased);
            CHECK(memcmp(shared.mixed, copied.mixed, sizeof(shared.mixed)) == 0);
            for (int64_t i = 0; i < BIASES; i++)
                CHECK_CLOSE((double)shared.dbias[i], (double)copied.dbias[i], rounding);
            check_gradient(&shared, &copied, kv_heads);
        }
}
