/*
 * Activation functions and products of planes by the whole team, element by element. The kernel of an
 * activation also gives the slope and, where tangents are wanted, the second derivative.
 */
#include "model/layers/layers.h"

static struct items elements(int64_t count, double passes)
{
    return (struct items){count, LINE_ELEMENTS, passes * ELEMENT_NANOSECONDS};
}

const char *const activation_words[ACTIVATION_COUNT + 1] = {
#define X(NAME, word, kernel) [ACTIVATION_##NAME] = #word,
    ACTIVATIONS(X)
#undef X
};

typedef __typeof__(((struct kernels *)NULL)->gelu) activation_kernel;

struct activation_work {
    activation_kernel kernel;
    scalar *y, *x, *curvature;
};

static void activation_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct activation_work *work = context;

    (void)scratch;
    work->kernel(
        work->y + begin, work->x + begin, work->curvature ? work->curvature + begin : NULL, end - begin);
}

void activation_forward(const struct team *team, enum activation activation, scalar *y, scalar *x,
    scalar *curvature, int64_t count)
{
    const activation_kernel kernel[ACTIVATION_COUNT] = {
#define X(NAME, word, kernel) [ACTIVATION_##NAME] = team->kernels->kernel,
        ACTIVATIONS(X)
#undef X
    };
    const struct activation_work work = {kernel[activation], y, x, curvature};

    team_run(team, elements(count, 3), activation_share, &work);
}

struct multiply_work {
    const struct kernels *kernels;
    scalar *out;
    struct dual a, b;
};

static void multiply_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    const struct multiply_work *work = context;
    const struct dual a = work->a, b = work->b;

    (void)scratch;
    if (a.tangent)
        work->kernels->multiply_tangent(
            work->out + begin, a.at + begin, a.tangent + begin, b.at + begin, b.tangent + begin, end - begin);
    else
        work->kernels->multiply(work->out + begin, a.at + begin, b.at + begin, end - begin);
}

void multiply(const struct team *team, scalar *out, struct dual a, struct dual b, int64_t count)
{
    const struct multiply_work work = {team->kernels, out, a, b};

    team_run(team, elements(count, a.tangent ? 2 : 1), multiply_share, &work);
}
