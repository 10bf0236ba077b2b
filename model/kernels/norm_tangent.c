/*
 * Tangents of the norms and of their gradients, by rows. With n = (in - mean) scale, a dot for tangents, and
 * the means over a row of what stands in <>:
 *     scale. = -scale a,  a = scale <n in.>          n. = scale (in. - <in.>) - a n
 *     out = gain n + bias                            out. = gain n. + gain. n + bias.
 *     din = scale (d - <d> - n <d n>), d = gain dout
 *     din. = scale (d. - <d.> - n. <d n> - n <d. n + d n.>) - a din
 * rmsnorm has neither the means of rows nor <in.>, <d> and <d.>.
 */
#include "model/kernels/level.h"

/* One row of a norm, and what its tangent needs. */
struct row {
    const scalar *in, *tin;
    scalar mean, scale;
    scalar tmean, a; /* <in.>, 0 for rmsnorm; a */
};

INLINE struct row row_of(bool centred, const struct norm_rows *norm, int64_t r)
{
    int64_t width = norm->width;
    struct row row = {norm->in + r * width, norm->tin + r * width, norm->mean[r], norm->scale[r], 0, 0};
    const scalar *in = row.in, *tin = row.tin, mean = row.mean;
    scalar sum = 0, product = 0;

    SIMD_SUM(sum, product)
    for (int64_t c = 0; c < width; c++) {
        sum += tin[c];
        product += (in[c] - mean) * tin[c];
    }
    row.tmean = centred ? sum / (scalar)width : 0;
    row.a = row.scale * row.scale * product / (scalar)width;
    return row;
}

/* n and its tangent at column c. */
INLINE scalar normed(const struct row *row, int64_t c)
{
    return (row->in[c] - row->mean) * row->scale;
}

INLINE scalar tnormed(const struct row *row, int64_t c)
{
    return row->scale * (row->tin[c] - row->tmean) - row->a * normed(row, c);
}

INLINE void tangent_rows(bool centred, const struct norm_rows *norm, scalar *tout, const scalar *tresidual)
{
    const scalar *gain = norm->gain, *tgain = norm->tgain, *tbias = norm->tbias;
    int64_t width = norm->width;

    for (int64_t r = 0; r < norm->rows; r++) {
        const struct row row = row_of(centred, norm, r);
        const scalar *residual = tresidual ? tresidual + r * width : NULL;
        scalar *out = tout + r * width;
        SIMD
        for (int64_t c = 0; c < width; c++) {
            scalar of_tensors = (tgain ? tgain[c] * normed(&row, c) : 0) + (tbias ? tbias[c] : 0);
            out[c] = gain[c] * tnormed(&row, c) + of_tensors + (residual ? residual[c] : 0);
        }
    }
}

void KERNEL(norm_tangent)(const struct norm_rows *norm, scalar *tout, const scalar *tresidual)
{
    if (norm->centred)
        tangent_rows(true, norm, tout, tresidual);
    else
        tangent_rows(false, norm, tout, tresidual);
}

/* <d>, <d n> and their tangents. */
struct means {
    scalar d, td, dn, tdn;
};

/* Also adds the row's contribution to tdgain and tdbias. */
INLINE struct means means_of(bool centred, const struct norm_rows *norm, const struct row *row,
    scalar *tdgain, scalar *tdbias, const scalar *dout, const scalar *tdout)
{
    const scalar *gain = norm->gain, *tgain = norm->tgain;
    scalar d_sum = 0, td_sum = 0, dn_sum = 0, tdn_sum = 0, width = (scalar)norm->width;

    SIMD_SUM(d_sum, td_sum, dn_sum, tdn_sum)
    for (int64_t c = 0; c < norm->width; c++) {
        scalar n = normed(row, c), tn = tnormed(row, c);
        scalar d = gain[c] * dout[c], td = gain[c] * tdout[c] + (tgain ? tgain[c] * dout[c] : 0);
        d_sum += d;
        td_sum += td;
        dn_sum += d * n;
        tdn_sum += td * n + d * tn;
        tdgain[c] += tdout[c] * n + dout[c] * tn;
        if (tdbias)
            tdbias[c] += tdout[c];
    }
    return (struct means){
        centred ? d_sum / width : 0, centred ? td_sum / width : 0, dn_sum / width, tdn_sum / width};
}

INLINE void gradient_tangent_rows(bool centred, const struct norm_rows *norm, scalar *tdin, scalar *tdgain,
    scalar *tdbias, const scalar *dout, const scalar *tdout, bool add)
{
    const scalar *gain = norm->gain, *tgain = norm->tgain;
    int64_t width = norm->width;

    memset(tdgain, 0, (size_t)width * sizeof(*tdgain));
    if (tdbias)
        memset(tdbias, 0, (size_t)width * sizeof(*tdbias));
    for (int64_t r = 0; r < norm->rows; r++, tdin += width, dout += width, tdout += width) {
        const struct row row = row_of(centred, norm, r);
        const struct means mean = means_of(centred, norm, &row, tdgain, tdbias, dout, tdout);
        SIMD
        for (int64_t c = 0; c < width; c++) {
            scalar n = normed(&row, c), tn = tnormed(&row, c);
            scalar d = gain[c] * dout[c], td = gain[c] * tdout[c] + (tgain ? tgain[c] * dout[c] : 0);
            scalar about = d - mean.d - n * mean.dn, tabout = td - mean.td - tn * mean.dn - n * mean.tdn;
            scalar t = row.scale * (tabout - row.a * about);
            tdin[c] = add ? tdin[c] + t : t;
        }
    }
}

void KERNEL(norm_gradient_tangent)(const struct norm_rows *norm, const struct norm_gradient *g)
{
    if (norm->centred)
        gradient_tangent_rows(true, norm, g->din, g->dgain, g->dbias, g->dout, g->tdout, g->add);
    else
        gradient_tangent_rows(false, norm, g->din, g->dgain, g->dbias, g->dout, g->tdout, g->add);
}
