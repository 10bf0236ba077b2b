/*
 * Gradients and tangents of whole models in every arrangement, and of their blocks, in double. J is the
 * Jacobian of whatever is tested, H the Hessian of the loss:
 * - the gradient, and H, against central differences;
 * - J against the gradient, another implementation of it: <w, J v> = <J^T w, v>, and element by element;
 * - H against itself: u H v = v H u.
 */
#include "tests/model/draw.h"

#include "model/kernels/kernels.h"
#include "tests/model/network/arrangements.h"
#include "tests/model/network/model_case.h"

#ifdef SCALAR_DOUBLE

static const double exact = 1e-12, differences = 1e-7;

static double size_of(const scalar *a, int64_t count)
{
    return sqrt(dot(a, a, count));
}

/* A model with tangents and planes of its size. */
enum { PLANES = 6 };

struct tangent_case {
    struct model_case base;
    scalar *plane[PLANES];
    int64_t size, state; /* scalars in a plane of weights, of the residual stream */
};

static const int64_t lengths[] = {5, 1, 3};

/* Sequences longer than a block of attention's queries, together longer than a block of the output's rows. */
static const int64_t many[] = {100, 1, 100, 100, 67, 100, 100, 100};

static void begin_case(struct tangent_case *k, const struct architecture *architecture)
{
    if (architecture->context == many[0])
        model_case_init_tangents(&k->base, architecture, many, sizeof(many) / sizeof(*many), 5);
    else
        model_case_init_tangents(&k->base, architecture, lengths, 3, 5);
    model_case_move(&k->base, 0.1);
    k->size = k->base.model.layout.size;
    k->state = k->base.batch.rows * architecture->width;
    for (int i = 0; i < PLANES; i++) {
        k->plane[i] = malloc((size_t)(k->size + k->state) * sizeof(scalar));
        draw(k->plane[i], k->size + k->state, 1, 20 + (uint64_t)i);
    }
}

static void end_case(struct tangent_case *k)
{
    for (int i = 0; i < PLANES; i++)
        free(k->plane[i]);
    model_case_release(&k->base);
}

/* The gradient at weights + step * direction. */
static void gradient_at(struct tangent_case *k, const scalar *direction, double step, scalar *gradient)
{
    struct model_case *base = &k->base;
    scalar *kept = malloc((size_t)k->size * sizeof(*kept));

    memcpy(kept, base->weights, (size_t)k->size * sizeof(*kept));
    for (int64_t i = 0; i < k->size; i++)
        base->weights[i] += step * direction[i];
    transformer_gradient(&base->model, base->weights, &base->batch, gradient);
    memcpy(base->weights, kept, (size_t)k->size * sizeof(*kept));
    free(kept);
}

/*
 * |H v - differences of the gradient| / |H v|. Of fourth order: where a norm divides by something small, as
 * under `out`, the third derivative is large.
 */
static double difference_error(struct tangent_case *k, const scalar *v, const scalar *product)
{
    static const struct {
        double steps, factor;
    } points[] = {{-2, 1.0 / 12}, {-1, -8.0 / 12}, {1, 8.0 / 12}, {2, -1.0 / 12}};
    const double step = 2e-6;
    scalar *sum = k->plane[4], *gradient = k->plane[5];

    memset(sum, 0, (size_t)k->size * sizeof(*sum));
    for (int p = 0; p < 4; p++) {
        gradient_at(k, v, points[p].steps * step, gradient);
        for (int64_t i = 0; i < k->size; i++)
            sum[i] += points[p].factor / step * gradient[i];
    }
    for (int64_t i = 0; i < k->size; i++)
        sum[i] -= product[i];
    return size_of(sum, k->size) / size_of(product, k->size);
}

/* The derivative of the trained loss by one weight, from differences of fourth order: norms of few elements
 * have large third derivatives. A larger step would meet more kinks of relu. */
static double derivative(struct model_case *k, scalar *weight)
{
    const double step = 3e-6, kept = *weight;
    double value[4];

    for (int i = 0; i < 4; i++) {
        *weight = kept + (i < 2 ? i - 2 : i - 1) * step;
        value[i] = transformer_trained_loss(&k->model, k->weights, &k->batch);
    }
    *weight = kept;
    return (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / (12 * step);
}

/* |differences - gradient| / |gradient| */
static double gradient_error(struct model_case *k, const scalar *gradient)
{
    double error = 0;

    for (int64_t i = 0; i < k->model.layout.size; i++)
        error += pow(derivative(k, &k->weights[i]) - gradient[i], 2);
    return sqrt(error) / size_of(gradient, k->model.layout.size);
}

/* Listed arrangements each `stride`th, and some of the drawn ones. The slopes of tangent_hessian_products
 * compare the gradients of all with exact derivatives along one direction. */
static void check_gradients(int stride)
{
    for (int bits = 0; bits < ARRANGEMENTS; bits += bits < LISTED_ARRANGEMENTS ? stride : 8) {
        const struct architecture a = arrangement(bits);
        struct tangent_case k;
        begin_case(&k, &a);
        struct model_case *base = &k.base;
        double loss = transformer_gradient(&base->model, base->weights, &base->batch, k.plane[0]);
        double error = gradient_error(base, k.plane[0]);
        CHECK_CLOSE(transformer_loss(&base->model, base->weights, &base->batch, NULL), loss, 1e-14 * loss);
        if (!(error < differences))
            arrangement_fail(__FILE__, __LINE__, &a, "gradient", error);
        k.plane[0][0] = NAN;
        CHECK(bits > 0 || !(gradient_error(base, k.plane[0]) < differences));
        end_case(&k);
    }
}

TEST(gradient_whole_models)
{
    check_gradients(13); /* prime to all lengths of the list: each two choices meet */
}

THOROUGH(gradient_every_model, "takes a minute; gradient_whole_models has each choice")
{
    check_gradients(1);
}

struct product_errors {
    double loss, slope, symmetry, differences;
};

static struct product_errors product_errors(const struct architecture *architecture)
{
    struct tangent_case k;
    struct product_errors errors;
    double slope, slope_u, loss;

    begin_case(&k, architecture);
    struct model_case *base = &k.base;
    scalar *v = k.plane[0], *u = k.plane[1], *hv = k.plane[2], *hu = k.plane[3], *g = k.plane[4];
    double expected = transformer_gradient(&base->model, base->weights, &base->batch, g);
    double along = dot(g, v, k.size);
    loss = transformer_hessian_product(&base->model, base->weights, &base->batch, v, hv, &slope);
    transformer_hessian_product(&base->model, base->weights, &base->batch, u, hu, &slope_u);
    errors.loss = fabs(loss / expected - 1);
    errors.slope = fabs(slope - along) / (size_of(g, k.size) * size_of(v, k.size));
    errors.symmetry =
        fabs(dot(u, hv, k.size) - dot(v, hu, k.size)) /
        fmax(size_of(u, k.size) * size_of(hv, k.size), size_of(v, k.size) * size_of(hu, k.size));
    errors.differences = difference_error(&k, v, hv);
    end_case(&k);
    return errors;
}

static void check_products(const struct architecture *a)
{
    struct product_errors errors = product_errors(a);

    if (!(errors.loss < exact))
        arrangement_fail(__FILE__, __LINE__, a, "loss", errors.loss);
    if (!(errors.slope < exact))
        arrangement_fail(__FILE__, __LINE__, a, "slope", errors.slope);
    if (!(errors.symmetry < exact))
        arrangement_fail(__FILE__, __LINE__, a, "symmetry", errors.symmetry);
    if (!(errors.differences < differences))
        arrangement_fail(__FILE__, __LINE__, a, "differences", errors.differences);
}

TEST(tangent_hessian_products)
{
    for (int bits = 0; bits < ARRANGEMENTS; bits++) {
        const struct architecture a = arrangement(bits);
        check_products(&a);
    }
}

TEST(tangent_hessian_products_of_many_rows)
{
    for (int bits = 0; bits < ARRANGEMENTS; bits += 37) {
        struct architecture a = arrangement(bits);
        a.context = many[0];
        check_products(&a);
    }
}

/* The gradient of the keys' bias is 0 whatever the weights are, unless the mask multiplies scores. */
TEST(tangent_of_key_bias)
{
    for (int mask = MASK_CAUSAL; mask <= MASK_MULTIPLICATIVE; mask++) {
        struct architecture a = arrangement(2 * ACTIVATION_COUNT);
        struct tangent_case k;
        double slope;
        a.attention_mask = (enum attention_mask)mask;
        begin_case(&k, &a);
        struct model_case *base = &k.base;
        scalar *product = k.plane[1];
        transformer_hessian_product(&base->model, base->weights, &base->batch, k.plane[0], product, &slope);
        const scalar *bias = product + base->model.layout.tensor[tensor_index(&a, TENSOR_K_BIAS, 1)].offset;
        for (int64_t c = 0; c < a.width; c++)
            CHECK((bias[c] == 0) == (mask == MASK_CAUSAL));
        end_case(&k);
    }
}

/* <w, J v> against <J^T w, v>, relative to their factors. */
TEST(tangent_of_blocks)
{
    for (int bits = 0; bits < ARRANGEMENTS; bits++) {
        const struct architecture a = arrangement(bits);
        struct tangent_case k;
        begin_case(&k, &a);
        struct model_case *base = &k.base;
        scalar *v = k.plane[0], *w = k.plane[1], *jv = k.plane[2], *jw = k.plane[3];
        transformer_forward(&base->model, base->weights, &base->batch, false);
        for (int64_t layer = 0; layer < architecture_blocks(&a); layer++) {
            memcpy(jv, v, (size_t)k.state * sizeof(*v));
            memcpy(jw, w, (size_t)k.state * sizeof(*w));
            transformer_block_tangent(&base->model, base->weights, &base->batch, layer, jv);
            transformer_block_gradient(&base->model, base->weights, &base->batch, layer, jw);
            double error = fabs(dot(w, jv, k.state) - dot(jw, v, k.state)) /
                           (size_of(w, k.state) * size_of(jv, k.state));
            if (!(error < exact))
                arrangement_fail(__FILE__, __LINE__, &a, "block", error);
        }
        end_case(&k);
    }
}

/* Can the state of row r before a block of a stack act on that of row i after it? */
static bool acts(const struct tangent_case *k, int64_t stack, int64_t r, int64_t i)
{
    const struct packed side = transformer_side(&k->base.model, &k->base.batch, stack);
    bool causal = architecture_stack(&k->base.model.architecture, stack).mask == MASK_CAUSAL;

    for (int64_t s = 0; s < side.sequences; s++)
        if (side.start[s] <= r && r < side.start[s + 1])
            return i >= (causal ? r : side.start[s]) && i < side.start[s + 1];
    return false;
}

/*
 * The Jacobian of a block, [state, state], column by column from tangents and row by row from gradients: the
 * largest difference of an element, relative to the largest element; infinite if a row acts on one that does
 * not see it.
 */
static double jacobian_error(struct tangent_case *k, int64_t layer, scalar *columns)
{
    struct model_case *base = &k->base;
    const int64_t width = base->model.architecture.width, count = k->state;
    const int64_t stack = architecture_stack_of(&base->model.architecture, layer);
    scalar *unit = k->plane[0];
    double largest = 0, apart = 0;

    for (int64_t j = 0; j < count; j++) {
        scalar *column = columns + j * count;
        for (int64_t i = 0; i < count; i++)
            column[i] = i == j;
        transformer_block_tangent(&base->model, base->weights, &base->batch, layer, column);
        for (int64_t i = 0; i < count; i++) {
            largest = fmax(largest, fabs(column[i]));
            if (!acts(k, stack, j / width, i / width) && !(column[i] == 0))
                return INFINITY;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < count; j++)
            unit[j] = i == j;
        transformer_block_gradient(&base->model, base->weights, &base->batch, layer, unit);
        for (int64_t j = 0; j < count; j++) {
            double here = fabs(unit[j] - columns[j * count + i]);
            apart = here <= apart ? apart : here; /* NaN stays */
        }
    }
    return apart / largest;
}

TEST(tangent_jacobian_of_a_block)
{
    for (int bits = 0; bits < ARRANGEMENTS; bits++) {
        const struct architecture a = arrangement(bits);
        struct tangent_case k;
        if (bits < LISTED_ARRANGEMENTS && (a.tied || a.init != INIT_TORCH))
            continue; /* the blocks are the same */
        begin_case(&k, &a);
        scalar *columns = malloc((size_t)(k.state * k.state) * sizeof(*columns));
        transformer_forward(&k.base.model, k.base.weights, &k.base.batch, false);
        double error = jacobian_error(&k, architecture_blocks(&a) - 1, columns);
        if (!(error < exact))
            arrangement_fail(__FILE__, __LINE__, &a, "jacobian", error);
        free(columns);
        end_case(&k);
    }
}

/* The gradient of the loss with respect to the stream passes through the blocks to that of the embeddings. */
TEST(tangent_stream_gradient)
{
    for (int placement = 0; placement < 3; placement++) {
        struct architecture a = arrangement((2 + placement * FLAGS) * ACTIVATION_COUNT);
        struct tangent_case k;
        begin_case(&k, &a);
        struct model_case *base = &k.base;
        scalar *dstate = k.plane[0], *gradient = k.plane[1], sum = 0;
        double loss = transformer_gradient(&base->model, base->weights, &base->batch, gradient);
        transformer_forward(&base->model, base->weights, &base->batch, false);
        CHECK_CLOSE(
            transformer_output_gradient(&base->model, base->weights, &base->batch, 0, dstate), loss, 1e-14);
        for (int64_t layer = a.layers - 1; layer >= 0; layer--)
            transformer_block_gradient(&base->model, base->weights, &base->batch, layer, dstate);
        /* Positions 1 of the first and the third sequence share a row of the position embedding. */
        const scalar *position = gradient + base->model.layout.tensor[TENSOR_POSITION].offset + a.width;
        for (int64_t c = 0; c < a.width; c++) {
            sum = dstate[1 * a.width + c] + dstate[7 * a.width + c];
            CHECK_CLOSE(position[c], sum, 1e-14);
        }
        end_case(&k);
    }
}

#else

TEST(tangents)
{
    test_skip("float is too coarse for finite differences; tests-double checks these tangents");
}

#endif
