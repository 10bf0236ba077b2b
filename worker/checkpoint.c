#include "worker/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netcdf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef SCALAR_DOUBLE
#define SCALAR_NC NC_DOUBLE
#define put_scalars nc_put_vara_double
#else
#define SCALAR_NC NC_FLOAT
#define put_scalars nc_put_vara_float
#endif

/* `input` is as long as `width`: a variable cannot have one dimension twice. */
enum dimension { LAYER, VOCABULARY, POSITION, WIDTH, INPUT, FEEDFORWARD, DIMENSIONS };

/* The dimensions of a kind of tensor's rows and columns; a vector has columns alone. */
struct dimensions {
    enum dimension rows, columns;
};

static struct dimensions dimensions_of(enum tensor_kind kind)
{
    switch (kind) {
    case TENSOR_TOKEN:
    case TENSOR_OUTPUT:
        return (struct dimensions){VOCABULARY, WIDTH};
    case TENSOR_POSITION:
        return (struct dimensions){POSITION, WIDTH};
    case TENSOR_W1:
        return (struct dimensions){FEEDFORWARD, WIDTH};
    case TENSOR_W2:
        return (struct dimensions){WIDTH, FEEDFORWARD};
    case TENSOR_W1_BIAS:
        return (struct dimensions){DIMENSIONS, FEEDFORWARD};
    case TENSOR_OUTPUT_BIAS:
        return (struct dimensions){DIMENSIONS, VOCABULARY};
    case TENSOR_Q:
    case TENSOR_K:
    case TENSOR_V:
    case TENSOR_O:
        return (struct dimensions){WIDTH, INPUT};
    default:
        return (struct dimensions){DIMENSIONS, WIDTH};
    }
}

struct weights_file {
    int id, dimension[DIMENSIONS], variable[TENSOR_KIND_COUNT];
};

static int define_dimensions(struct weights_file *file, const struct architecture *a)
{
    static const char *const names[] = {
        [LAYER] = "layer",
        [VOCABULARY] = "vocabulary",
        [POSITION] = "context",
        [WIDTH] = "width",
        [INPUT] = "input",
        [FEEDFORWARD] = "feedforward",
    };
    const int64_t length[] = {
        [LAYER] = a->layers,
        [VOCABULARY] = a->vocabulary,
        [POSITION] = a->context,
        [WIDTH] = a->width,
        [INPUT] = a->width,
        [FEEDFORWARD] = a->feedforward,
    };
    int status = NC_NOERR;

    for (int i = 0; i < DIMENSIONS && status == NC_NOERR; i++)
        status = nc_def_dim(file->id, names[i], (size_t)length[i], &file->dimension[i]);
    return status;
}

static int define_variable(struct weights_file *file, const struct tensor *tensor)
{
    struct dimensions of = dimensions_of(tensor->kind);
    int dimension[3], count = 0;

    if (tensor->layer >= 0)
        dimension[count++] = file->dimension[LAYER];
    if (of.rows != DIMENSIONS)
        dimension[count++] = file->dimension[of.rows];
    dimension[count++] = file->dimension[of.columns];
    return nc_def_var(
        file->id, tensor_name(tensor->kind), SCALAR_NC, count, dimension, &file->variable[tensor->kind]);
}

static int define_all(
    struct weights_file *file, const struct architecture *a, const struct weight_layout *layout)
{
    int status = define_dimensions(file, a);

    for (int64_t i = 0; i < layout->tensor_count && status == NC_NOERR; i++)
        if (layout->tensor[i].size > 0 && layout->tensor[i].layer <= 0)
            status = define_variable(file, &layout->tensor[i]);
    return status == NC_NOERR ? nc_enddef(file->id) : status;
}

static int put_tensor(const struct weights_file *file, const struct tensor *tensor, const scalar *weights)
{
    bool matrix = dimensions_of(tensor->kind).rows != DIMENSIONS;
    size_t start[3] = {0}, count[3] = {0};
    int rank = 0;

    if (tensor->layer >= 0) {
        start[rank] = (size_t)tensor->layer;
        count[rank++] = 1;
    }
    if (matrix)
        count[rank++] = (size_t)tensor->rows;
    count[rank] = (size_t)tensor->columns;
    return put_scalars(file->id, file->variable[tensor->kind], start, count, weights + tensor->offset);
}

static int write_file(
    const char *path, const struct architecture *a, const struct weight_layout *layout, const scalar *weights)
{
    struct weights_file file;
    int status = nc_create(path, NC_CLOBBER | NC_64BIT_DATA, &file.id), old;

    if (status != NC_NOERR)
        return status;
    status = nc_set_fill(file.id, NC_NOFILL, &old);
    if (status == NC_NOERR)
        status = define_all(&file, a, layout);
    for (int64_t i = 0; i < layout->tensor_count && status == NC_NOERR; i++)
        if (layout->tensor[i].size > 0)
            status = put_tensor(&file, &layout->tensor[i], weights);
    int closed = nc_close(file.id);
    return status == NC_NOERR ? closed : status;
}

static int sync_file(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    int status = descriptor < 0 || fsync(descriptor) != 0 ? -1 : 0;

    if (descriptor >= 0)
        close(descriptor);
    return status;
}

int checkpoint_save_weights(const char *path, const struct architecture *architecture,
    const struct weight_layout *layout, const scalar *weights, struct error *error)
{
    char part[PATH_MAX];

    if ((size_t)snprintf(part, sizeof(part), "%s.part", path) >= sizeof(part))
        return error_set(error, ERROR_ENVIRONMENT, "%s: the path is too long", path);
    int status = write_file(part, architecture, layout, weights);
    if (status != NC_NOERR) {
        unlink(part);
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, nc_strerror(status));
    }
    if (sync_file(part) != 0 || rename(part, path) != 0) {
        int reason = errno;
        unlink(part);
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", path, strerror(reason));
    }
    return 0;
}
