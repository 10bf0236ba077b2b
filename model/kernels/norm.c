/* Norms of rows and their gradients. Their tangents: norm_tangent.c. */
#include "model/kernels/vector.h"

/* Rows that are summed side by side: a single sum would wait for each of its additions, and the lanes of four
 * sums are added up together. The last rows, if they are fewer, are taken one by one. */
enum { ROWS = 4 };
_Static_assert(ROWS == 4, "vector_sums takes four");

/* The next columns of a row that has `left` of them; lanes behind the last one are 0. */
INLINE vector load_columns(const scalar *from, int64_t left)
{
    return left >= LANES ? vector_load(from) : vector_load_part(from, left);
}

INLINE void store_columns(scalar *to, vector value, int64_t left)
{
    if (left >= LANES)
        vector_store(to, value);
    else
        vector_store_part(to, value, left);
}

/* Makes the lanes behind the last column 0. */
INLINE vector clear_behind(vector value, int64_t left)
{
    return left >= LANES ? value : vector_select(vector_lanes() < (lane_index)left, value, (vector){0});
}

/* ---- forward ---- */

/* mean[k]: of row r + k. */
INLINE void find_means(scalar mean[ROWS], const struct norm_rows *norm, int64_t r, int rows)
{
    const scalar *in = norm->in + r * norm->width;
    vector sum[ROWS] = {0};

    for (int64_t c = 0; c < norm->width; c += LANES) {
        UNROLLED
        for (int k = 0; k < rows; k++)
            sum[k] += load_columns(in + k * norm->width + c, norm->width - c);
    }
    vector_sums(mean, sum[0], sum[1], sum[2], sum[3]);
    SIMD
    for (int k = 0; k < ROWS; k++)
        mean[k] /= (scalar)norm->width;
}

/* variance[k]: of row r + k about mean[k]. */
INLINE void find_variances(
    scalar variance[ROWS], const scalar mean[ROWS], const struct norm_rows *norm, int64_t r, int rows)
{
    const scalar *in = norm->in + r * norm->width;
    vector sum[ROWS] = {0};

    for (int64_t c = 0; c < norm->width; c += LANES) {
        int64_t left = norm->width - c;
        UNROLLED
        for (int k = 0; k < rows; k++) {
            vector x = clear_behind(load_columns(in + k * norm->width + c, left) - mean[k], left);
            sum[k] += x * x;
        }
    }
    vector_sums(variance, sum[0], sum[1], sum[2], sum[3]);
    SIMD
    for (int k = 0; k < ROWS; k++)
        variance[k] /= (scalar)norm->width;
}

/* One row of `out`; in, residual: the same. */
INLINE void norm_row(const struct norm_rows *norm, scalar *out, const scalar *in, const scalar *residual,
    scalar mean, scalar scale)
{
    for (int64_t c = 0; c < norm->width; c += LANES) {
        int64_t left = norm->width - c;
        vector x = (load_columns(in + c, left) - mean) * scale * load_columns(norm->gain + c, left);
        if (norm->bias)
            x += load_columns(norm->bias + c, left);
        if (residual)
            x += load_columns(residual + c, left);
        store_columns(out + c, x, left);
    }
}

INLINE void forward_rows(
    bool centred, const struct norm_rows *norm, scalar *out, const scalar *residual, int64_t r, int rows)
{
    scalar mean[ROWS] = {0}, variance[ROWS], scale[ROWS];

    if (centred)
        find_means(mean, norm, r, rows);
    find_variances(variance, mean, norm, r, rows);
    /* If the variance overflows, the row is NaN: a scale of 0 would hide the fault. */
    SIMD
    for (int k = 0; k < ROWS; k++)
        scale[k] =
            variance[k] < (scalar)INFINITY ? 1 / scalar_sqrt(variance[k] + norm->epsilon) : (scalar)NAN;
    memcpy(norm->mean + r, mean, (size_t)rows * sizeof(*mean));
    memcpy(norm->scale + r, scale, (size_t)rows * sizeof(*scale));
    for (int k = 0; k < rows; k++) {
        int64_t at = (r + k) * norm->width;
        norm_row(norm, out + at, norm->in + at, residual ? residual + at : NULL, mean[k], scale[k]);
    }
}

INLINE void forward(bool centred, const struct norm_rows *norm, scalar *out, const scalar *residual)
{
    int64_t r = 0;

    for (; r + ROWS <= norm->rows; r += ROWS)
        forward_rows(centred, norm, out, residual, r, ROWS);
    for (; r < norm->rows; r++)
        forward_rows(centred, norm, out, residual, r, 1);
}

/* A copy of the struct, which no store can change, leaves its members in registers; here and below. */
void KERNEL(norm)(const struct norm_rows *of, scalar *out, const scalar *residual)
{
    const struct norm_rows norm = *of;

    if (norm.centred)
        forward(true, &norm, out, residual);
    else
        forward(false, &norm, out, residual);
}

/* ---- gradients ---- */

/* With n = (in - mean) scale and d = gain dout: adds the rows' part to dgain and dbias, and finds the means
 * of d and of d n along each row. */
INLINE void sum_rows(scalar mean_d[ROWS], scalar mean_dn[ROWS], const struct norm_rows *norm,
    const struct norm_gradient *g, int64_t r, int rows)
{
    const scalar *in = norm->in + r * norm->width, *dout = g->dout + r * norm->width;
    vector sum_d[ROWS] = {0}, sum_dn[ROWS] = {0};

    for (int64_t c = 0; c < norm->width; c += LANES) {
        int64_t left = norm->width - c;
        vector gain = load_columns(norm->gain + c, left), dgain = load_columns(g->dgain + c, left);
        vector dbias = {0};
        UNROLLED
        for (int k = 0; k < rows; k++) {
            vector o = load_columns(dout + k * norm->width + c, left);
            vector x = load_columns(in + k * norm->width + c, left) - norm->mean[r + k];
            vector n = clear_behind(x * norm->scale[r + k], left); /* a mean times a scale may overflow */
            dgain += o * n;
            dbias += o;
            sum_d[k] += gain * o;
            sum_dn[k] += gain * o * n;
        }
        store_columns(g->dgain + c, dgain, left);
        if (g->dbias)
            store_columns(g->dbias + c, load_columns(g->dbias + c, left) + dbias, left);
    }
    vector_sums(mean_d, sum_d[0], sum_d[1], sum_d[2], sum_d[3]);
    vector_sums(mean_dn, sum_dn[0], sum_dn[1], sum_dn[2], sum_dn[3]);
    SIMD
    for (int k = 0; k < ROWS; k++) {
        mean_d[k] /= (scalar)norm->width;
        mean_dn[k] /= (scalar)norm->width;
    }
}

/* din = scale (d - mean(d) - n mean(d n)), without mean(d) unless `centred`. */
INLINE void gradient_rows(
    bool centred, const struct norm_rows *norm, const struct norm_gradient *g, int64_t r, int rows)
{
    scalar mean_d[ROWS], mean_dn[ROWS];

    sum_rows(mean_d, mean_dn, norm, g, r, rows);
    for (int k = 0; k < rows; k++) {
        int64_t at = (r + k) * norm->width;
        const vector mean = vector_all(norm->mean[r + k]), scale = vector_all(norm->scale[r + k]);
        const vector constant = vector_all(centred ? mean_d[k] : 0);
        const vector slope = scale * mean_dn[k];
        for (int64_t c = 0; c < norm->width; c += LANES) {
            int64_t left = norm->width - c;
            vector d = load_columns(norm->gain + c, left) * load_columns(g->dout + at + c, left) - constant;
            d = scale * (d - (load_columns(norm->in + at + c, left) - mean) * slope);
            if (g->add)
                d += load_columns(g->din + at + c, left);
            store_columns(g->din + at + c, d, left);
        }
    }
}

INLINE void gradient(bool centred, const struct norm_rows *norm, const struct norm_gradient *g)
{
    int64_t r = 0;

    memset(g->dgain, 0, (size_t)norm->width * sizeof(*g->dgain));
    if (g->dbias)
        memset(g->dbias, 0, (size_t)norm->width * sizeof(*g->dbias));
    for (; r + ROWS <= norm->rows; r += ROWS)
        gradient_rows(centred, norm, g, r, ROWS);
    for (; r < norm->rows; r++)
        gradient_rows(centred, norm, g, r, 1);
}

void KERNEL(norm_gradient)(const struct norm_rows *of, const struct norm_gradient *to)
{
    const struct norm_rows norm = *of;
    const struct norm_gradient g = *to;

    if (norm.centred)
        gradient(true, &norm, &g);
    else
        gradient(false, &norm, &g);
}
