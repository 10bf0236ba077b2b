/*
 * The variables of a checkpoint, one after the other: form.c defines, writes or reads each, so that the three
 * cannot differ.
 */
#include "model/core/check.h"
#include "worker/checkpoint/inside.h"
#include "worker/host/host.h"

#include <string.h>

static const char *const dimension_name[DIMENSIONS] = {
#define X(NAME, name, ...) [NAME] = #name,
    METRIC_DIMENSIONS(X)
#undef X
        [VOCABULARY] = "vocabulary",
    [POSITION] = "context",
    [WIDTH] = "width",
    [INPUT] = "input",
    [KEYS] = "keys",
    [HEAD_WIDTH] = "head_width",
    [HEADS] = "heads",
    [FEEDFORWARD] = "feedforward",
    [BUCKETS] = "bucket",
    [BLOCK] = "block",
    [MEASURED_STEP] = "measured_step",
    [TENSOR_LETTER] = "tensor_letter",
    [TENSOR_KIND] = "tensor_kind",
    [FACTOR] = "factor",
};

int64_t find_length(const struct form *form, enum dimension dimension)
{
    size_t length;
    int id;

    if (nc_inq_dimid(form->file, dimension_name[dimension], &id) != NC_NOERR ||
        nc_inq_dimlen(form->file, id, &length) != NC_NOERR)
        return 0;
    return (int64_t)length;
}

void visit_dimensions(struct form *form)
{
    for (int i = 0; i < DIMENSIONS && form->status == NC_NOERR; i++) {
        if (form->pass == DEFINE && form->length[i] > 0)
            form->status =
                nc_def_dim(form->file, dimension_name[i], (size_t)form->length[i], &form->dimension[i]);
        else if (form->pass == GET && find_length(form, i) != form->length[i])
            form->status = NC_EDIMSIZE;
    }
}

/* Writes an attribute of a variable or of the file, unless it is NULL. */
static void put_text(struct form *form, int variable, const char *name, const char *text)
{
    if (form->status == NC_NOERR && text)
        form->status = nc_put_att_text(form->file, variable, name, strlen(text), text);
}

void visit_text(struct form *form, const char *name, const char *text)
{
    INVARIANT(form->pass == DEFINE, "%s in pass %d", name, (int)form->pass);
    put_text(form, NC_GLOBAL, name, text);
}

/* Visits a global attribute that is a number of 8 bytes. */
static void visit_attribute(struct form *form, const char *name, nc_type type, void *value)
{
    nc_type found;
    size_t count;

    if (form->status != NC_NOERR || form->pass == PUT)
        return;
    if (form->pass == DEFINE) {
        form->status = nc_put_att(form->file, NC_GLOBAL, name, type, 1, value);
        return;
    }
    form->status = nc_inq_att(form->file, NC_GLOBAL, name, &found, &count);
    if (form->status == NC_NOERR && (found != type || count != 1))
        form->status = NC_EBADTYPE;
    if (form->status == NC_NOERR)
        form->status = nc_get_att(form->file, NC_GLOBAL, name, value);
}

void visit_integer(struct form *form, const char *name, int64_t *value)
{
    visit_attribute(form, name, NC_INT64, value);
}

void visit_real(struct form *form, const char *name, double *value)
{
    visit_attribute(form, name, NC_DOUBLE, value);
}

void define_array(struct form *form, const struct array *array)
{
    int dimension[RANK_MOST], id;

    if (form->pass != DEFINE || form->status != NC_NOERR)
        return;
    for (int i = 0; i < array->rank; i++)
        dimension[i] = form->dimension[array->dimension[i]];
    form->status = nc_def_var(form->file, array->name, array->type, array->rank, dimension, &id);
    put_text(form, id, "long_name", array->long_name);
    put_text(form, id, "units", array->unit);
    put_text(form, id, "_Encoding", array->encoding);
}

/* Called when a breath is due: syncs what was written, so that no single sync takes long. */
static void pause_moving(struct form *form)
{
    form->moved = 0;
    breathe(form->breath);
    if (form->pass == PUT && form->status == NC_NOERR)
        form->status = nc_sync(form->file);
    if (form->pass == PUT && form->status == NC_NOERR)
        form->status = sync_file(form->path);
    breathe(form->breath);
}

/* Moves a part piece by piece, along the first dimension along which it is longer than 1. */
static void move_pieces(struct form *form, const struct array *array, int id, size_t size,
    const size_t *start, const size_t *count, unsigned char *values)
{
    size_t from[RANK_MOST] = {0}, some[RANK_MOST] = {0}, row = size;
    int along = 0;

    INVARIANT(array->rank >= 1, "%s has no dimension", array->name);
    while (along < array->rank - 1 && count[along] == 1)
        along++;
    for (int i = 0; i < array->rank; i++) {
        from[i] = start[i];
        some[i] = count[i];
        row *= i > along ? count[i] : 1;
    }
    INVARIANT(row > 0, "%s is empty", array->name);
    size_t most = row < BREATH_BYTES ? BREATH_BYTES / row : 1;
    for (size_t done = 0; done < count[along] && form->status == NC_NOERR; done += most) {
        unsigned char *piece = values + done * row;
        some[along] = count[along] - done < most ? count[along] - done : most;
        from[along] = start[along] + done;
        form->status = form->pass == PUT ? nc_put_vara(form->file, id, from, some, piece)
                                         : nc_get_vara(form->file, id, from, some, piece);
        form->moved += some[along] * row;
        if (form->moved >= BREATH_BYTES)
            pause_moving(form);
    }
}

void move_part(
    struct form *form, const struct array *array, const size_t *start, const size_t *count, void *values)
{
    nc_type type;
    size_t size;
    int id, rank;

    if (form->pass == DEFINE || form->status != NC_NOERR)
        return;
    form->status = nc_inq_varid(form->file, array->name, &id);
    if (form->status == NC_NOERR)
        form->status = nc_inq_var(form->file, id, NULL, &type, &rank, NULL, NULL);
    if (form->status == NC_NOERR && (type != array->type || rank != array->rank))
        form->status = NC_EBADTYPE;
    if (form->status == NC_NOERR)
        form->status = nc_inq_type(form->file, type, NULL, &size);
    if (form->status == NC_NOERR)
        move_pieces(form, array, id, size, start, count, values);
}

void visit_array(struct form *form, const struct array *array, void *values)
{
    size_t start[RANK_MOST] = {0}, count[RANK_MOST];

    for (int i = 0; i < array->rank; i++) {
        count[i] = (size_t)form->length[array->dimension[i]];
        if (count[i] == 0)
            return;
    }
    define_array(form, array);
    move_part(form, array, start, count, values);
}

/* nc_close writes the last block of a file and ignores that it cannot; nc_sync before it reports that. */
int written_close(int file)
{
    int synced = nc_sync(file), closed = nc_close(file);

    return synced == NC_NOERR ? closed : synced;
}
