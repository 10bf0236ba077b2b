/*
 * The file is small and has one writer and no reader meanwhile, so it is written at once: nothing of the
 * ledger's order of writes is needed. It has no outcome and another `source`, so that no command takes it for
 * a sweep.
 */
#include "driver/dataset/form/inside.h"
#include "driver/output/output.h"
#include "driver/tables/tables.h"
#include "model/core/check.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/host/host.h"

#include <netcdf.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- values ---- */

static int64_t blocks_of(const struct architecture *a, int64_t stack)
{
    const struct stack_form form = architecture_stack(a, stack);

    return form.end - form.begin;
}

static int64_t longest_stack(const struct architecture *a)
{
    int64_t longest = 0;

    for (int64_t stack = 0; stack < architecture_stacks(a); stack++)
        longest = blocks_of(a, stack) > longest ? blocks_of(a, stack) : longest;
    return longest;
}

/* Up to the last kind of tensor that any layer has. */
static int64_t kinds_of(const struct weight_layout *layout)
{
    int64_t kinds = 0;

    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        int64_t kind = (int64_t)tensor->kind - LAYER_TENSOR_FIRST;
        if (tensor->layer >= 0 && tensor->size > 0 && kind >= kinds)
            kinds = kind + 1;
    }
    return kinds;
}

int inspected_init(struct inspected *inspected, const struct architecture *architecture,
    const struct weight_layout *layout, int64_t bins)
{
    *inspected = (struct inspected){.architecture = architecture};
    inspected->form = (struct metric_form){.along = {
                                               [DIMENSION_STEP] = 1,
                                               [DIMENSION_STACK] = architecture_stacks(architecture),
                                               [DIMENSION_LAYER] = longest_stack(architecture),
                                               [DIMENSION_TENSOR] = kinds_of(layout),
                                               [DIMENSION_HEAD] = architecture->heads,
                                               [DIMENSION_BIN] = bins,
                                           }};
    metric_form_place(&inspected->form);
    inspected->row = malloc(inspected->form.row_size * sizeof(double));
    for (size_t i = 0; inspected->row && i < inspected->form.row_size; i++)
        inspected->row[i] = NAN;
    return inspected->row ? 0 : -1;
}

void inspected_release(struct inspected *inspected)
{
    free(inspected->row);
    inspected->row = NULL;
}

static double *row_of(const struct inspected *inspected, enum metric metric)
{
    return inspected->row + inspected->form.offset[metric];
}

void inspected_put(struct inspected *inspected, enum metric metric, const double *values)
{
    memcpy(row_of(inspected, metric), values, metric_values(metric, &inspected->form) * sizeof(*values));
    inspected->has[metric] = true;
}

/* Each stack of the row is as long as the longest one; of each block, the row has what it has room for. */
void inspected_put_blocks(struct inspected *inspected, enum metric metric, const double *values, int64_t each)
{
    int64_t stacks = inspected->form.along[DIMENSION_STACK], layers = inspected->form.along[DIMENSION_LAYER];
    int64_t room = (int64_t)metric_values(metric, &inspected->form) / (stacks * layers);

    INVARIANT(
        room <= each, "%s: %lld of %lld values", metric_table[metric].name, (long long)room, (long long)each);
    for (int64_t stack = 0; stack < stacks; stack++)
        for (int64_t i = 0; i < blocks_of(inspected->architecture, stack); i++, values += each)
            memcpy(row_of(inspected, metric) + (stack * layers + i) * room, values,
                (size_t)room * sizeof(*values));
    inspected->has[metric] = true;
}

int inspected_dimensions(
    const struct inspected *inspected, enum metric metric, enum metric_dimension dimension[METRIC_RANK_MOST])
{
    int rank = metric_dimensions(metric, &inspected->form, dimension);

    memmove(dimension, dimension + 1, (size_t)(rank - 1) * sizeof(*dimension)); /* the step */
    return rank - 1;
}

bool inspected_has(const struct inspected *inspected, enum metric_dimension dimension)
{
    enum metric_dimension of[METRIC_RANK_MOST];

    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        for (int i = 0, rank = inspected->has[metric] ? inspected_dimensions(inspected, metric, of) : 0;
             i < rank; i++)
            if (of[i] == dimension)
                return true;
    return false;
}

bool inspected_value(const struct inspected *inspected, enum metric metric, size_t index,
    int64_t place[DIMENSION_COUNT], double *value)
{
    const struct metric_shape_row *shape = &metric_shape_table[metric_table[metric].shape];
    size_t rest = index;

    memset(place, 0, DIMENSION_COUNT * sizeof(*place));
    for (int i = shape->rank - 1; i >= 0; i--) {
        size_t length = (size_t)inspected->form.along[shape->dimension[i]];
        place[shape->dimension[i]] = (int64_t)(rest % length);
        rest /= length;
    }
    *value = row_of(inspected, metric)[index];
    if (place[DIMENSION_LAYER] >= blocks_of(inspected->architecture, place[DIMENSION_STACK]))
        return false;
    return metric != METRIC_tensor_norm || !isnan(*value);
}

/* ---- attributes ---- */

/* The word that a sweep file has for a parameter's value. */
static const char *word_of(const char *param, int value)
{
    const struct param *row = param_find(param);

    return row ? row->words[value] : NULL;
}

enum { NO_NUMBER = -1 };

/* A number that only a text has. */
static int64_t of_text(const struct inspected *inspected, int64_t number)
{
    return inspected->tokens ? number : NO_NUMBER;
}

int inspected_attributes(
    const struct inspected *inspected, struct inspected_attribute attribute[INSPECTED_ATTRIBUTES])
{
    const struct inspected *i = inspected;
    const struct architecture *a = i->architecture;
    const struct inspected_attribute all[] = {
        {"family", i->family, NO_NUMBER},
        {"file", i->file, NO_NUMBER},
        {"text", i->text, NO_NUMBER},
        {"comment", i->note, NO_NUMBER},
        {"network", word_of("network", (int)a->network), NO_NUMBER},
        {"norm_placement", word_of("norm_placement", (int)a->norm_placement), NO_NUMBER},
        {"norm", word_of("norm", (int)a->norm), NO_NUMBER},
        {"activation", word_of("activation", (int)a->activation), NO_NUMBER},
        {"layers", NULL, a->layers},
        {"decoder_layers", NULL, architecture_stacks(a) > 1 ? blocks_of(a, 1) : NO_NUMBER},
        {"width", NULL, a->width},
        {"heads", NULL, a->heads},
        {"kv_heads", NULL, architecture_kv_heads(a)},
        {"feedforward", NULL, a->feedforward},
        {"vocabulary", NULL, a->vocabulary},
        {"context", NULL, a->context < INT32_MAX ? a->context : NO_NUMBER}, /* else without bounds */
        {"parameters", NULL, i->parameters},
        {"window", NULL, of_text(i, i->window)},
        {"sequences", NULL, of_text(i, i->sequences)},
        {"tokens", NULL, of_text(i, i->tokens)},
        {"lines", i->tokens ? i->lines ? "true" : "false" : NULL, NO_NUMBER},
        {"lines_cut", NULL, i->lines ? i->lines_cut : NO_NUMBER},
        {"tokens_left_out", NULL, i->lines ? NO_NUMBER : of_text(i, i->left_out)},
        {"mask", NULL, i->mask},
        {"sentinel", NULL, i->sentinel},
    };
    _Static_assert(sizeof(all) / sizeof(*all) <= INSPECTED_ATTRIBUTES, "there is room for all");
    int count = 0;

    for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
        if (all[k].text || all[k].number != NO_NUMBER)
            attribute[count++] = all[k];
    return count;
}

static void put_attributes(struct definition *definition, const struct inspected *inspected)
{
    struct inspected_attribute attribute[INSPECTED_ATTRIBUTES];
    int count = inspected_attributes(inspected, attribute);
    bool same = strcmp(inspected->family, inspected->file) == 0;
    char title[512];

    snprintf(
        title, sizeof(title), "%s%s%s", inspected->family, same ? "" : ", ", same ? "" : inspected->file);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_CONVENTIONS, DATASET_CONVENTIONS);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_TITLE, title);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_SOURCE, INSPECTED_SOURCE);
    definition_history(definition, NULL);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_REFERENCES, DATASET_REFERENCES);
    for (int i = 0; i < count; i++) {
        if (attribute[i].text)
            definition_text(definition, NC_GLOBAL, attribute[i].name, attribute[i].text);
        else
            definition_integer(definition, NC_GLOBAL, attribute[i].name, NC_INT64, attribute[i].number);
    }
}

/* ---- states ---- */

/* The variables of states, and how many dimensions each has behind `stack`. */
enum kept { KEPT_TOKEN, KEPT_SEQUENCE, KEPT_STATE, KEPT_OUTPUT, KEPT_COUNT };

static const struct {
    const char *name, *long_name, *comment;
    bool is_word; /* of a text: an integer */
    bool has_depth;
} kept_table[KEPT_COUNT] = {
    [KEPT_TOKEN] = {"token", "token", "id that the network reads at the position", true, false},
    [KEPT_SEQUENCE] = {"sequence", "sequence", "number of the sequence, from 0 on", true, false},
    [KEPT_STATE] = {"state", "residual stream", "after so many blocks", false, true},
    [KEPT_OUTPUT] = {"output", "output of the stack", "behind the final norm, if there is one", false, false},
};

#define NC_SCALAR _Generic((scalar)0, float : NC_FLOAT, double : NC_DOUBLE)
#define PUT_SCALARS _Generic((scalar)0, float : nc_put_vara_float, double : nc_put_vara_double)

static bool has_states(const struct inspected *inspected)
{
    return inspected->states.sequences > 0;
}

static int64_t longest_side(const struct inspected *inspected)
{
    int64_t longest = 0;

    for (int64_t stack = 0; stack < inspected->form.along[DIMENSION_STACK]; stack++) {
        int64_t rows = inspected->states.stack[stack].rows;
        longest = rows > longest ? rows : longest;
    }
    return longest;
}

/* Of a dimension of metrics. */
static int dimension_of(struct definition *definition, enum metric_dimension dimension)
{
    return definition_dimension(
        definition, metric_dimension_table[dimension].name, definition->outline.form->along[dimension]);
}

static void define_states(struct definition *definition, const struct inspected *inspected)
{
    int position = definition_dimension(definition, "position", longest_side(inspected));
    int width = definition_dimension(definition, "width", inspected->architecture->width);

    for (enum kept kept = 0; kept < KEPT_COUNT; kept++) {
        int dimension[4], count = 0;
        if (definition->outline.dimension[DIMENSION_STACK])
            dimension[count++] = dimension_of(definition, DIMENSION_STACK);
        dimension[count++] = position;
        if (kept_table[kept].has_depth)
            dimension[count++] = dimension_of(definition, DIMENSION_DEPTH);
        if (!kept_table[kept].is_word)
            dimension[count++] = width;
        nc_type type = kept_table[kept].is_word ? NC_INT : NC_SCALAR;
        int variable = definition_variable(definition, kept_table[kept].name, type, 0, count, dimension);
        definition_describe(definition, variable, kept_table[kept].long_name, "1", kept_table[kept].comment);
        if (definition->status != NC_NOERR)
            return;
        if (kept_table[kept].is_word && count > 1) /* stacks of different lengths */
            definition_integer(definition, variable, "_FillValue", NC_INT, -1);
        else if (!kept_table[kept].is_word)
            definition_keep(definition,
                nc_put_att_double(definition->file, variable, "_FillValue", NC_SCALAR, 1, &(double){NAN}));
    }
}

static int kept_variable(struct definition *definition, enum kept kept)
{
    int variable = -1;

    if (definition->status == NC_NOERR)
        definition_keep(definition, lookup_variable(definition->file, kept_table[kept].name, &variable));
    return variable;
}

/* Writes the states of one stack after `depth` blocks. */
static void write_depth(
    struct definition *definition, const struct inspected *inspected, int64_t stack, int64_t depth)
{
    const struct inspected_stack *of = &inspected->states.stack[stack];
    size_t rows = (size_t)of->rows, width = (size_t)inspected->architecture->width;
    size_t start[] = {(size_t)stack, 0, (size_t)depth, 0}, count[] = {1, rows, 1, width};
    int first = !definition->outline.dimension[DIMENSION_STACK];
    int variable = kept_variable(definition, KEPT_STATE);

    if (definition->status == NC_NOERR)
        definition_keep(definition, PUT_SCALARS(definition->file, variable, start + first, count + first,
                                        of->state + (size_t)depth * rows * width));
}

static void write_stack(struct definition *definition, const struct inspected *inspected, int64_t stack)
{
    const struct inspected_stack *of = &inspected->states.stack[stack];
    size_t start[] = {(size_t)stack, 0, 0};
    size_t count[] = {1, (size_t)of->rows, (size_t)inspected->architecture->width};
    int first = !definition->outline.dimension[DIMENSION_STACK];
    int token = kept_variable(definition, KEPT_TOKEN), sequence = kept_variable(definition, KEPT_SEQUENCE);
    int output = kept_variable(definition, KEPT_OUTPUT);

    if (definition->status != NC_NOERR)
        return;
    definition_keep(
        definition, nc_put_vara_int(definition->file, token, start + first, count + first, of->token));
    definition_keep(
        definition, nc_put_vara_int(definition->file, sequence, start + first, count + first, of->sequence));
    definition_keep(
        definition, PUT_SCALARS(definition->file, output, start + first, count + first, of->output));
    for (int64_t depth = 0; depth < of->depths; depth++)
        write_depth(definition, inspected, stack, depth);
}

/* ---- the file ---- */

/* Takes a word out of a text. */
static void leave_out(char *text, const char *word)
{
    for (char *place = text; (place = strstr(place, word));)
        memmove(place, place + strlen(word), strlen(place + strlen(word)) + 1);
}

/* All tokens of the text are measured here, where a sweep takes some of a validation text. */
static void describe_metric(struct definition *definition, int id)
{
    const struct variable *row = &definition->row[id];
    bool loss = row->which == METRIC_valid_loss;
    char *comment = strdup(loss ? "mean loss on the predicted tokens of the text" : row->comment);

    if (comment)
        leave_out(comment, "validated ");
    definition_describe(definition, id, loss ? "loss (nats)" : row->long_name, row->unit, comment);
    free(comment);
}

static void write_values(struct definition *definition, const struct inspected *inspected)
{
    for (int i = 0; i < definition->count && definition->status == NC_NOERR; i++)
        if (definition->row[i].kind == VARIABLE_METRIC)
            definition_keep(definition, nc_put_var_double(definition->file, i,
                                            row_of(inspected, (enum metric)definition->row[i].which)));
    for (int64_t stack = 0; has_states(inspected) && stack < inspected->form.along[DIMENSION_STACK]; stack++)
        write_stack(definition, inspected, stack);
}

/* Writes a new file. Returns a netCDF status or an errno. */
static int write_new(const struct inspected *inspected, const char *path)
{
    struct metric_form form = inspected->form;
    struct definition definition = {.outline = {.form = &form}};

    form.along[DIMENSION_DEPTH] = form.along[DIMENSION_LAYER] + 1;
    memcpy(definition.outline.metric, inspected->has, sizeof(inspected->has));
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        definition.outline.dimension[i] =
            inspected_has(inspected, i) || (i == DIMENSION_DEPTH && has_states(inspected));
    definition.row = variable_table(&definition.outline, &definition.count);
    definition_keep(&definition, definition.row ? NC_NOERR : NC_ENOMEM);
    if (definition.status == NC_NOERR)
        definition_keep(&definition, nc_create(path, NC_NOCLOBBER | NC_64BIT_DATA, &definition.file));
    if (definition.status != NC_NOERR) {
        free(definition.row);
        return definition.status;
    }
    put_attributes(&definition, inspected);
    definition_variables(&definition);
    for (int i = 0; i < definition.count; i++)
        if (definition.row[i].kind == VARIABLE_METRIC)
            describe_metric(&definition, i);
    if (has_states(inspected))
        define_states(&definition, inspected);
    definition_keep(&definition, nc_enddef(definition.file));
    definition_write(&definition);
    if (definition.status == NC_NOERR)
        write_values(&definition, inspected);
    definition_keep(&definition, written_close(definition.file));
    free(definition.row);
    return definition.status == NC_NOERR ? sync_file(path) : definition.status;
}

int inspected_write(const struct inspected *inspected, const char *path, struct error *error)
{
    char *whole = output_resolve(path), *new = whole ? output_fresh(whole) : NULL;
    int status = errno;

    if (new) {
        status = write_new(inspected, new);
        if (status == 0 && rename(new, whole) != 0)
            status = errno;
        if (status != 0 && status != NC_EEXIST && status != EEXIST)
            unlink(new);
    }
    free(whole);
    free(new);
    return status == 0 ? 0 : layout_error(error, path, status);
}

/* Is this a file of inspected_write? A netCDF status. */
static int check_source(const char *path, bool *ours)
{
    char source[sizeof(INSPECTED_SOURCE)] = "";
    size_t length = 0;
    nc_type type = NC_NAT;
    int file, status = nc_open(path, NC_NOWRITE, &file);

    *ours = false;
    if (status == NC_ENOTNC)
        return NC_NOERR;
    if (status != NC_NOERR)
        return status;
    status = lookup_attribute(file, NC_GLOBAL, ATTRIBUTE_SOURCE, &type, &length);
    if (status == NC_NOERR && type == NC_CHAR && length == strlen(INSPECTED_SOURCE)) {
        status = nc_get_att_text(file, NC_GLOBAL, ATTRIBUTE_SOURCE, source);
        *ours = memcmp(source, INSPECTED_SOURCE, length) == 0;
    }
    nc_close(file);
    return status == NC_ENOTATT ? NC_NOERR : status;
}

/* Checks a file that exists. */
static int check_old(const char *name, const char *path, mode_t kind, struct error *error)
{
    bool ours = false;
    int status = S_ISREG(kind) ? check_source(path, &ours) : S_ISDIR(kind) ? EISDIR : 0;

    if (status > 0)
        return layout_error(error, name, status);
    if (status == NC_NOERR && ours)
        return 0;
    return error_set(
        error, ERROR_INPUT, "%s: exists, and " PROGRAM " inspect did not write it; give another -o", name);
}

int inspected_check(const char *path, struct error *error)
{
    char *whole = output_resolve(path), *folder = whole ? output_folder(whole) : NULL;
    int cause = folder ? output_folder_fault(folder) : errno, result = 0;
    mode_t kind = 0;

    if (cause) {
        result = layout_error(error, path, cause);
    } else {
        int there = output_exists(whole, &kind);
        if (there < 0)
            result = layout_error(error, path, errno);
        else if (there)
            result = check_old(path, whole, kind, error);
    }
    free(whole);
    free(folder);
    return result;
}
