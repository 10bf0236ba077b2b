/*
 * One walk over the contents of a checkpoint defines, writes or reads them, depending on the pass, so that
 * the three cannot drift apart.
 */
#include "model/core/check.h"
#include "model/kernels/kernels.h"
#include "worker/checkpoint/inside.h"
#include "worker/host/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 64, TENSOR_NAME = 24 };

/* ---- dimensions ---- */

/* The dimension of blocks: that of the metrics' layers, unless these are counted stack by stack. */
static enum dimension block_dimension(const struct architecture *a)
{
    return architecture_stacks(a) > 1 ? BLOCK : LAYER;
}

static bool shares_keys(const struct architecture *a)
{
    return architecture_kv_heads(a) < a->heads;
}

static void set_lengths(struct form *form, bool weights_alone)
{
    const struct architecture *a = &form->snapshot->model->architecture;
    const struct metric_form *rows = &form->snapshot->history->form;
    const struct optimiser *optimiser = form->snapshot->optimiser;

    form->length[block_dimension(a)] = architecture_blocks(a);
    form->length[VOCABULARY] = a->vocabulary;
    form->length[POSITION] = a->context;
    form->length[WIDTH] = a->width;
    form->length[INPUT] = a->width;
    form->length[KEYS] = shares_keys(a) ? extent_length(a, EXTENT_KEYS) : 0;
    form->length[HEAD_WIDTH] = a->qk_norm ? extent_length(a, EXTENT_Q_NORM) : 0;
    form->length[HEADS] = a->positions == POSITIONS_RELATIVE ? a->heads : 0;
    form->length[FEEDFORWARD] = a->feedforward;
    form->length[BUCKETS] = a->positions == POSITIONS_RELATIVE ? RELATIVE_BUCKETS : 0;
    if (weights_alone)
        return;
    for (int i = 0; i < (int)DIMENSION_COUNT; i++)
        form->length[i] = rows->along[i];
    if (architecture_stacks(a) == 1)
        form->length[STACK] = 0;
    form->length[STEP] = form->snapshot->history->row_count;
    form->length[MEASURED_STEP] = form->snapshot->history->norm_count;
    form->length[TENSOR_LETTER] = TENSOR_NAME;
    form->length[TENSOR_KIND] = LAYER_TENSOR_COUNT;
    form->length[FACTOR] = 0;
    for (int64_t i = 0; optimiser_has_factors(optimiser) && i < optimiser->layout->tensor_count; i++)
        form->length[FACTOR] += optimiser_second_size(optimiser, &optimiser->layout->tensor[i]);
}

/* ---- planes ---- */

/* The dimension of each length of tensors; rows of a vector have none. */
static const enum dimension extent_dimension[EXTENT_COUNT] = {
    [EXTENT_ONE] = DIMENSIONS,
    [EXTENT_VOCABULARY] = VOCABULARY,
    [EXTENT_CONTEXT] = POSITION,
    [EXTENT_WIDTH] = WIDTH,
    [EXTENT_QUERIES] = WIDTH,
    [EXTENT_KEYS] = KEYS,
    [EXTENT_HEADS] = HEADS,
    [EXTENT_FEEDFORWARD] = FEEDFORWARD,
    [EXTENT_BUCKETS] = BUCKETS,
    [EXTENT_Q_NORM] = HEAD_WIDTH,
    [EXTENT_K_NORM] = HEAD_WIDTH,
};

static enum dimension dimension_of(const struct form *form, enum tensor_extent extent)
{
    return extent == EXTENT_KEYS && !shares_keys(&form->snapshot->model->architecture)
               ? WIDTH
               : extent_dimension[extent];
}

/* Visits a tensor of a plane, in the variable of its kind. */
static void visit_tensor(struct form *form, const char *prefix, int64_t i, scalar *values)
{
    const struct weight_layout *layout = &form->snapshot->model->layout;
    const struct tensor *tensor = &layout->tensor[i];
    const struct tensor_row *row = &tensor_table[tensor->kind];
    char name[NAME_MOST];
    struct array array = {.name = name, .type = SCALAR_NC};
    size_t start[RANK_MOST] = {0}, count[RANK_MOST];

    snprintf(name, sizeof(name), "%s%s", prefix, row->name);
    if (tensor->layer >= 0) {
        start[0] = (size_t)tensor->layer;
        count[array.rank] = 1;
        array.dimension[array.rank++] = block_dimension(&form->snapshot->model->architecture);
    }
    if (row->rows != EXTENT_ONE) {
        count[array.rank] = (size_t)tensor->rows;
        array.dimension[array.rank++] = dimension_of(form, row->rows);
    }
    count[array.rank] = (size_t)tensor->columns;
    array.dimension[array.rank] = dimension_of(form, row->columns);
    if (row->rows != EXTENT_ONE && dimension_of(form, row->rows) == array.dimension[array.rank])
        array.dimension[array.rank] = INPUT;
    array.rank++;
    if (tensor->layer <= 0 || layout->tensor[i - LAYER_TENSOR_COUNT].size == 0) /* the first of its kind */
        define_array(form, &array);
    move_part(form, &array, start, count, values);
}

/* Visits the tensors in the range [begin, end) of the layout. plane[0] is scalar `begin`; NULL: none. */
static void visit_plane(struct form *form, const char *prefix, scalar *plane, int64_t begin, int64_t end)
{
    const struct weight_layout *layout = &form->snapshot->model->layout;

    for (int64_t i = 0; plane && i < layout->tensor_count && form->status == NC_NOERR; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        if (tensor->size == 0 || tensor->offset < begin || tensor->offset >= end)
            continue;
        INVARIANT(tensor->offset + tensor->size <= end, "%s of layer %lld: [%lld, %lld) of [%lld, %lld)",
            tensor_table[tensor->kind].name, (long long)tensor->layer, (long long)tensor->offset,
            (long long)(tensor->offset + tensor->size), (long long)begin, (long long)end);
        visit_tensor(form, prefix, i, plane + (tensor->offset - begin));
    }
}

/* Visits second moments that are not as large as the weights: adafactor's factors, and muon's, whose matrices
 * have none; one tensor after another. */
static void visit_factors(struct form *form, const struct optimiser *optimiser)
{
    const struct array factors = {.name = "second_moment_factors",
        .type = SCALAR_NC,
        .rank = 1,
        .dimension = {FACTOR},
        .long_name = "factors of the second moment, tensor by tensor: rows, then columns"};
    size_t start = 0;

    define_array(form, &factors);
    for (int64_t i = 0; i < optimiser->layout->tensor_count && form->status == NC_NOERR; i++) {
        const struct tensor *tensor = &optimiser->layout->tensor[i];
        size_t count = (size_t)optimiser_second_size(optimiser, tensor);
        if (count > 0)
            move_part(form, &factors, &start, &count, optimiser->second + tensor->offset);
        start += count;
    }
}

static void visit_optimiser(struct form *form)
{
    const struct optimiser *optimiser = form->snapshot->optimiser;
    int64_t size = optimiser->layout->size;

    visit_plane(form, "first_moment_", optimiser->first, 0, size);
    if (form->length[FACTOR] > 0)
        visit_factors(form, optimiser);
    else
        visit_plane(form, "second_moment_", optimiser->second, 0, size);
}

static void visit_instruments(struct form *form)
{
    const struct array layer_square = {.name = "kept_layer_square",
        .type = NC_DOUBLE,
        .rank = 1,
        .dimension = {block_dimension(&form->snapshot->model->architecture)}};
    /* of all kinds of tensors, also those that rows leave out */
    const struct array force_sum = {.name = "counted_force_sum",
        .type = NC_DOUBLE,
        .rank = 3,
        .dimension = {block_dimension(&form->snapshot->model->architecture), TENSOR_KIND, FORCE}};
    struct instruments *instruments = form->snapshot->instruments;
    const struct weight_layout *layout = &form->snapshot->model->layout;

    visit_plane(form, "kept_", instruments->kept, layout->layers_begin, layout->layers_end);
    visit_array(form, &layer_square, instruments->layer_square);
    visit_real(form, "kept_square", &instruments->kept_square);
    visit_array(form, &force_sum, instruments->force_sum);
}

/* ---- rows ---- */

/* Copies a metric's values of all rows to the contiguous array `values`, or `back` to the rows. */
static void gather_rows(const struct history *history, enum metric metric, double *values, bool back)
{
    size_t count = metric_values(metric, &history->form), offset = history->form.offset[metric];

    for (int64_t i = 0; i < history->row_count; i++, values += count) {
        double *in_row = history_row(history, i) + offset;
        memcpy(back ? in_row : values, back ? values : in_row, count * sizeof(*values));
    }
}

static void visit_metric(struct form *form, enum metric metric)
{
    const struct metric_row *row = &metric_table[metric];
    enum metric_dimension dimension[METRIC_RANK_MOST];
    struct array array = {.name = row->name,
        .type = NC_DOUBLE,
        .rank = metric_dimensions(metric, &form->snapshot->history->form, dimension),
        .long_name = row->long_name,
        .unit = row->unit};
    const struct history *history = form->snapshot->history;
    size_t count = (size_t)history->row_count * metric_values(metric, &history->form);
    double *values = malloc((count + 1) * sizeof(*values));

    if (!values) {
        form->status = ENOMEM;
        return;
    }
    for (int i = 0; i < array.rank; i++)
        array.dimension[i] = (enum dimension)dimension[i];
    if (form->pass == PUT)
        gather_rows(history, metric, values, false);
    visit_array(form, &array, values);
    if (form->pass == GET && form->status == NC_NOERR)
        gather_rows(history, metric, values, true);
    free(values);
}

static void visit_tensor_names(struct form *form)
{
    const struct array names = {.name = "tensor",
        .type = NC_CHAR,
        .rank = 2,
        .dimension = {TENSOR, TENSOR_LETTER},
        .encoding = "utf-8"};
    char text[LAYER_TENSOR_COUNT][TENSOR_NAME + 1] = {{0}};
    char letters[LAYER_TENSOR_COUNT * TENSOR_NAME];

    for (int i = 0; i < LAYER_TENSOR_COUNT; i++) {
        snprintf(text[i], sizeof(text[i]), "%s", tensor_table[LAYER_TENSOR_FIRST + i].name);
        memcpy(letters + (size_t)i * TENSOR_NAME, text[i], TENSOR_NAME);
    }
    visit_array(form, &names, letters);
}

static void visit_history(struct form *form)
{
    const struct array step = {.name = "step", .type = NC_INT64, .rank = 1, .dimension = {STEP}};
    const struct array norm_step = {
        .name = "measured_step", .type = NC_INT64, .rank = 1, .dimension = {MEASURED_STEP}};
    const struct array norm = {.name = "measured_norm",
        .type = NC_DOUBLE,
        .rank = 1,
        .dimension = {MEASURED_STEP},
        .long_name = "parameter norms that the law of growth is fitted to",
        .unit = "1"};
    const struct array reach = {.name = "measured_reach",
        .type = NC_DOUBLE,
        .rank = 1,
        .dimension = {MEASURED_STEP},
        .long_name = "how far steps reach, by which a run may end early",
        .unit = "1"};
    const struct history *history = form->snapshot->history;

    visit_array(form, &step, history->step);
    for (enum metric metric = 0; metric < METRIC_COUNT && form->status == NC_NOERR; metric++)
        if (!metric_is_of_run(metric))
            visit_metric(form, metric);
    visit_array(form, &norm_step, history->norm_step);
    visit_array(form, &norm, history->norm);
    visit_array(form, &reach, history->reach);
    visit_tensor_names(form);
}

/* ---- the whole ---- */

static void visit_times(struct form *form)
{
    struct result *result = form->snapshot->result;

    visit_integer(form, "tokens", &result->tokens);
    visit_real(form, "seconds", &result->seconds);
    visit_real(form, "step_seconds", &result->step_seconds);
    visit_real(form, "measure_seconds", &result->measure_seconds);
    visit_real(form, "validate_seconds", &result->validate_seconds);
    visit_real(form, "saturate_seconds", &result->saturate_seconds);
    visit_real(form, "gradients_seconds", &result->gradients_seconds);
    visit_real(form, "hessian_seconds", &result->hessian_seconds);
    visit_real(form, "residual_seconds", &result->residual_seconds);
    visit_real(form, "lyapunov_seconds", &result->lyapunov_seconds);
    visit_real(form, "attention_seconds", &result->attention_seconds);
    visit_real(form, "sharpness_seconds", &result->sharpness_seconds);
    visit_real(form, "spectra_seconds", &result->spectra_seconds);
    visit_integer(form, "measured", &result->measured);
    visit_integer(form, "validated", &result->validated);
    visit_integer(form, "saturated", &result->saturated);
    visit_integer(form, "gradients", &result->gradients);
    visit_integer(form, "hessians", &result->hessians);
    visit_integer(form, "residuals", &result->residuals);
    visit_integer(form, "lyapunovs", &result->lyapunovs);
    visit_integer(form, "attended", &result->attended);
    visit_integer(form, "sharpened", &result->sharpened);
    visit_integer(form, "spectra", &result->spectra);
}

/* Visits everything but step and last_step. */
static void visit_contents(struct form *form, bool weights_alone)
{
    const struct snapshot *snapshot = form->snapshot;

    visit_times(form);
    visit_plane(form, "", snapshot->weights, 0, snapshot->model->layout.size);
    if (weights_alone) {
        network_visit(form, &snapshot->model->architecture);
        return;
    }
    visit_optimiser(form);
    visit_instruments(form);
    visit_history(form);
}

static void define_parameters(struct form *form, const struct run *run)
{
    char text[PARAM_TEXT];

    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        union param_value value = param_get(param, run);
        if (param->kind == PARAM_REAL)
            visit_real(form, param->name, &value.real);
        else if (param->kind == PARAM_INTEGER)
            visit_integer(form, param->name, &value.integer);
        else
            visit_text(form, param->name, param_format(param, value, text, sizeof(text)));
    }
}

/* What a reader of weights needs to know beside the architecture. The token that ends lines is the last word
 * of the corpus, but for bytes; sums are not lines that end. */
static void define_network(struct form *form)
{
    const struct run *run = form->snapshot->run;
    int64_t none = -1, end = form->snapshot->model->architecture.vocabulary -
                             objective_words_added((enum objective)run->objective, run->context) - 1;

    if (run->corpus == CORPUS_BYTES)
        end = '\n';
    else if (run->corpus == CORPUS_MODULAR)
        end = none;
    visit_text(form, "family", FORM_FAMILY_RUN);
    visit_text(form, "has_output", "true");
    visit_integer(form, "start_token", &end);
    visit_integer(form, "end_token", &end);
    visit_integer(form, "padding_token", &none);
}

static void define_all(struct form *form, const struct digest *digest, bool weights_alone)
{
    struct snapshot position = *form->snapshot;
    char text[DIGEST_TEXT];
    int64_t format = FORMAT_VERSION;
    int old;

    form->status = nc_set_fill(form->file, NC_NOFILL, &old);
    visit_dimensions(form);
    digest_format(digest, text);
    visit_text(form, SEAL_NAME, SEAL_BLANK); /* first, so that it is in the file's first bytes */
    visit_text(form, "title", weights_alone ? FORM_TITLE_WEIGHTS : FORM_TITLE_CHECKPOINT);
    visit_integer(form, "format_version", &format);
    visit_text(form, "digest", text);
    visit_text(form, "blas_kernel", environment_blas_kernel());
    visit_text(form, "vector_level", kernels_best((enum precision)position.run->precision)->level);
    visit_text(form, "scalar", SCALAR_NAME);
    visit_integer(form, "step", &position.step);
    visit_integer(form, "last_step", &position.last_step);
    define_parameters(form, position.run);
    if (weights_alone)
        define_network(form);
    visit_contents(form, weights_alone);
    if (form->status == NC_NOERR)
        form->status = nc_enddef(form->file);
}

int form_write(const char *path, const struct digest *digest, const struct snapshot *snapshot,
    bool weights_alone, const struct breath *breath)
{
    struct form form = {.pass = DEFINE, .path = path, .breath = breath, .snapshot = snapshot};

    form.status = nc_create(path, NC_CLOBBER | NC_64BIT_DATA, &form.file);
    if (form.status != NC_NOERR)
        return form.status;
    set_lengths(&form, weights_alone);
    define_all(&form, digest, weights_alone);
    form.pass = PUT;
    visit_contents(&form, weights_alone);
    int closed = written_close(form.file);
    return form.status == NC_NOERR ? closed : form.status;
}

/* Does an attribute have this text? `found` receives its text, truncated; "?" without such an attribute. */
static bool says(const struct form *form, const char *name, const char *text, char found[NAME_MOST])
{
    char all[4 * NAME_MOST];
    nc_type type;
    size_t length;

    snprintf(found, NAME_MOST, "?");
    if (nc_inq_att(form->file, NC_GLOBAL, name, &type, &length) != NC_NOERR || type != NC_CHAR ||
        length >= sizeof(all) || nc_get_att_text(form->file, NC_GLOBAL, name, all) != NC_NOERR)
        return false;
    all[length] = '\0';
    snprintf(found, NAME_MOST, "%.*s", NAME_MOST - 1, all);
    return strcmp(all, text) == 0;
}

/* Sets `unfit` to what would give this process other numbers than the file's. */
static void compare_origin(struct form *form, const struct digest *digest, char *unfit, size_t size)
{
    const struct param *param = param_find("precision");
    char text[DIGEST_TEXT], found[NAME_MOST];
    bool rounded = says(form, param->name, param->words[PRECISION_BFLOAT16], found);
    const struct {
        const char *name, *what, *here;
    } depends[] = {{"blas_kernel", "BLAS kernel", environment_blas_kernel()},
        {"vector_level", "vector level", kernels_best(rounded ? PRECISION_BFLOAT16 : PRECISION_FLOAT)->level},
        {"scalar", "scalar", SCALAR_NAME}};
    int64_t format = 0;

    unfit[0] = '\0';
    digest_format(digest, text);
    visit_integer(form, "format_version", &format);
    if (form->status == NC_NOERR && format != FORMAT_VERSION)
        snprintf(unfit, size, "of another version of this program");
    else if (!says(form, "digest", text, found))
        snprintf(unfit, size, "of another run");
    for (size_t i = 0; i < sizeof(depends) / sizeof(*depends) && !unfit[0]; i++)
        if (!says(form, depends[i].name, depends[i].here, found))
            snprintf(unfit, size, "made with %s %s, here it is %s", depends[i].what, found, depends[i].here);
}

int form_read(const char *path, const struct digest *digest, struct snapshot *snapshot,
    const struct breath *breath, char *unfit, size_t size)
{
    struct form form = {.pass = GET, .path = path, .breath = breath, .snapshot = snapshot};

    form.status = nc_open(path, NC_NOWRITE, &form.file);
    if (form.status != NC_NOERR)
        return form.status;
    compare_origin(&form, digest, unfit, size);
    if (!unfit[0]) {
        struct history *history = snapshot->history;
        int64_t rows = find_length(&form, STEP), norms = find_length(&form, MEASURED_STEP);
        if (rows <= history->rows_most && norms <= history->rows_most) {
            history->row_count = rows;
            history->norm_count = norms;
        } else {
            form.status = NC_EDIMSIZE;
        }
        set_lengths(&form, false);
        visit_dimensions(&form);
        visit_integer(&form, "step", &snapshot->step);
        visit_contents(&form, false);
    }
    nc_close(form.file);
    return form.status;
}

int form_look(const char *path, const struct digest *digest, int64_t *step, char *unfit, size_t size)
{
    struct form form = {.pass = GET, .path = path};

    form.status = nc_open(path, NC_NOWRITE, &form.file);
    if (form.status != NC_NOERR)
        return form.status;
    compare_origin(&form, digest, unfit, size);
    if (!unfit[0])
        visit_integer(&form, "step", step);
    nc_close(form.file);
    return form.status;
}
