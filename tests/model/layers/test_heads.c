/* All heads of packed sequences: what the number of threads may change. */
#include "tests/model/lay_out.h"

#include "model/layers/layers.h"
#include "tests/model/draw.h"

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

/* With a relative bias, whose gradient is added to 1. */
static void compute(struct computed *c, int64_t threads, int64_t kv_heads, enum attention_mask mask)
{
    const struct relative relative = {
        .reach = LONGEST - 1, .stride = relative_stride(LONGEST), .bias = bias, .dbias = c->dbias};
    const struct projected in = projected_together(qkv, WIDTH, kv_heads * DEPTH),
                           din = projected_together(c->dqkv, WIDTH, kv_heads * DEPTH);
    struct arena arena;
    struct team team;

    LAY_OUT(&arena, team_layout(&team, PRECISION_FLOAT, threads,
                        heads_scratch(HEADS, DEPTH, LONGEST, true, false), &arena));
    team.least = 0;
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
        .relative = relative};
    memset(c, 0, sizeof(*c));
    for (int64_t i = 0; i < BIASES; i++)
        c->dbias[i] = 1;
    heads_forward(&heads, c->mixed, &in, NULL);
    heads_gradient(&heads, &din, (struct dual){.at = dmixed}, &in, NULL);
    arena_release(&arena);
}

/* Everything but the gradient of the bias is the same bits for any number of threads; that gradient is the
 * same bits whenever the number is the same. */
TEST(heads_by_threads)
{
    static struct computed one, several, again;

    draw(qkv, PLANE, 1, 1);
    draw(dmixed, TOKENS * WIDTH, 1, 2);
    draw(bias, BIASES, 1, 3);
    for (enum attention_mask mask = MASK_CAUSAL; mask <= MASK_NONE; mask++)
        for (int64_t kv_heads = 1; kv_heads <= HEADS; kv_heads++) {
            if (HEADS % kv_heads)
                continue;
            compute(&one, 1, kv_heads, mask);
            for (int64_t threads = 2; threads <= 3; threads++) {
                compute(&several, threads, kv_heads, mask);
                compute(&again, threads, kv_heads, mask);
                CHECK(memcmp(one.mixed, several.mixed, sizeof(one.mixed)) == 0);
                CHECK(memcmp(one.dqkv, several.dqkv, sizeof(one.dqkv)) == 0);
                CHECK(memcmp(&again, &several, sizeof(again)) == 0);
                for (int64_t i = 0; i < BIASES; i++)
                    CHECK_CLOSE((double)one.dbias[i], (double)several.dbias[i], rounding);
            }
        }
}
