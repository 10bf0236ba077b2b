/*
 * The dataset of `inspect`: variables of a sweep's table, without axes, runs and steps. The file is small and
 * has one writer and no reader meanwhile, so it is written at once: nothing of the ledger's order of writes
 * is needed. It has no outcome and another `source`, so that no command takes it for a sweep.
 *
 * inspected_check comes first, since a path that cannot be written is to be refused early; then
 * inspected_init, measured_put() and the functions beside it, inspected_table, inspected_write.
 */
#include "driver/dataset/form/inside.h"
#include "driver/output/output.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/host/host.h"

#include <errno.h>
#include <sys/stat.h>

/* ---- values ---- */

static int64_t blocks_of(const struct architecture *a, int64_t stack)
{
    const struct stack_form form = architecture_stack(a, stack);

    return form.end - form.begin;
}

void inspected_init(struct inspected *inspected, const struct architecture *architecture,
    const struct weight_layout *layout, int64_t bins)
{
    struct metric_form *form = &inspected->form;

    *inspected = (struct inspected){.architecture = architecture};
    form->along[DIMENSION_STEP] = 1;
    form->along[DIMENSION_STACK] = architecture_stacks(architecture);
    form->along[DIMENSION_HEAD] = architecture->heads;
    form->along[DIMENSION_BIN] = bins;
    for (int64_t stack = 0; stack < architecture_stacks(architecture); stack++)
        if (blocks_of(architecture, stack) > form->along[DIMENSION_LAYER])
            form->along[DIMENSION_LAYER] = blocks_of(architecture, stack);
    for (int64_t i = 0; i < layout->tensor_count; i++) { /* up to the last kind that any layer has */
        const struct tensor *tensor = &layout->tensor[i];
        int64_t kind = (int64_t)tensor->kind - LAYER_TENSOR_FIRST;
        if (tensor->layer >= 0 && tensor->size > 0 && kind >= form->along[DIMENSION_TENSOR])
            form->along[DIMENSION_TENSOR] = kind + 1;
    }
    metric_form_place(form);
    form->along[DIMENSION_DEPTH] = form->along[DIMENSION_LAYER] + 1; /* of states; no metric has it */
    inspected->measured = (struct measured){form, architecture, memory_new(form->row_size, sizeof(double))};
    for (size_t i = 0; i < form->row_size; i++)
        inspected->measured.values[i] = NAN;
}

void inspected_release(struct inspected *inspected)
{
    free(inspected->measured.values);
    free(inspected->variable);
    *inspected = (struct inspected){0};
}

void inspected_table(struct inspected *inspected)
{
    const struct inspected_states *states = &inspected->states;
    struct outline outline = {.form = &inspected->form, .width = inspected->architecture->width};

    memcpy(outline.metric, inspected->has, sizeof(outline.metric));
    for (int64_t stack = 0; states->sequences > 0 && stack < inspected->form.along[DIMENSION_STACK]; stack++)
        if (states->stack[stack].rows > outline.positions)
            outline.positions = states->stack[stack].rows;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        enum metric_dimension dimension[METRIC_RANK_MOST];
        int rank = inspected->has[metric] ? metric_dimensions(metric, &inspected->form, dimension) : 0;
        for (int i = 0; i < rank; i++)
            outline.dimension[dimension[i]] = dimension[i] != DIMENSION_STEP;
    }
    outline.dimension[DIMENSION_DEPTH] = outline.positions > 0;
    inspected->outline = outline;
    inspected->variable = variable_table(&outline, &inspected->variables);
    if (!inspected->variable)
        memory_end();
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

/* ---- the file ---- */

/* Writes the states of each stack, as many positions and depths as it has. */
static int write_states(const struct inspected *inspected, int file, int id, const struct variable *row)
{
    bool stacks = inspected->outline.dimension[DIMENSION_STACK];
    int status = NC_NOERR;

    for (int64_t stack = 0; status == NC_NOERR && stack < inspected->form.along[DIMENSION_STACK]; stack++) {
        const struct inspected_stack *of = &inspected->states.stack[stack];
        const void *data[] = {of->token, of->sequence, of->state, of->output};
        size_t start[METRIC_RANK_MOST] = {0}, count[METRIC_RANK_MOST];
        for (int i = 0; i < row->rank; i++)
            count[i] = (size_t)row->length[i];
        if (stacks) {
            start[0] = (size_t)stack;
            count[0] = 1;
        }
        int first = stacks;
        count[first] = (size_t)of->rows;
        if (row->which == STATE_stream)
            count[first + 1] = (size_t)of->depths;
        status = nc_put_vara(file, id, start, count, data[row->which]);
    }
    return status;
}

/* Writes a new file. Returns a netCDF status or an errno. */
static int write_new(const struct inspected *inspected, const char *path)
{
    struct definition definition = {
        .outline = inspected->outline, .row = inspected->variable, .count = inspected->variables};
    struct inspected_attribute attribute[INSPECTED_ATTRIBUTES];
    int attributes = inspected_attributes(inspected, attribute);
    bool same = strcmp(inspected->family, inspected->file) == 0;
    char title[512];

    definition_keep(&definition, nc_create(path, NC_NOCLOBBER | NC_64BIT_DATA, &definition.file));
    if (definition.status != NC_NOERR)
        return definition.status;
    snprintf(
        title, sizeof(title), "%s%s%s", inspected->family, same ? "" : ", ", same ? "" : inspected->file);
    definition_text(&definition, NC_GLOBAL, ATTRIBUTE_CONVENTIONS, DATASET_CONVENTIONS);
    definition_text(&definition, NC_GLOBAL, ATTRIBUTE_TITLE, title);
    definition_text(&definition, NC_GLOBAL, ATTRIBUTE_SOURCE, INSPECTED_SOURCE);
    definition_history(&definition, NULL);
    definition_text(&definition, NC_GLOBAL, ATTRIBUTE_REFERENCES, DATASET_REFERENCES);
    for (int i = 0; i < attributes; i++)
        if (attribute[i].text)
            definition_text(&definition, NC_GLOBAL, attribute[i].name, attribute[i].text);
        else
            definition_integer(&definition, NC_GLOBAL, attribute[i].name, NC_INT64, attribute[i].number);
    definition_variables(&definition);
    definition_keep(&definition, nc_enddef(definition.file));
    definition_write(&definition);
    for (int id = 0; id < definition.count && definition.status == NC_NOERR; id++) {
        const struct variable *row = &definition.row[id];
        if (row->kind == VARIABLE_METRIC)
            definition_keep(&definition, nc_put_var_double(definition.file, id,
                                             measured_values(&inspected->measured, (enum metric)row->which)));
        else if (row->kind == VARIABLE_STATE)
            definition_keep(&definition, write_states(inspected, definition.file, id, row));
    }
    definition_keep(&definition, written_close(definition.file));
    return definition.status == NC_NOERR ? sync_file(path) : definition.status;
}

int inspected_write(const struct inspected *inspected, const char *path, struct error *error)
{
    char *whole, *new = NULL;
    int status = output_resolve(path, &whole);

    if (status == 0)
        status = output_fresh(whole, &new);
    if (status == 0) {
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

/* Is this a file of inspected_write? 0, or the errno with which it could not be read. */
static int check_source(const char *path, bool *ours)
{
    char source[sizeof(INSPECTED_SOURCE)] = "";
    size_t length = 0;
    nc_type type = NC_NAT;
    int file, status = nc_open(path, NC_NOWRITE, &file);

    if (status == NC_NOERR) {
        status = lookup_attribute(file, NC_GLOBAL, ATTRIBUTE_SOURCE, &type, &length);
        if (status == NC_NOERR && type == NC_CHAR && length == strlen(INSPECTED_SOURCE))
            status = nc_get_att_text(file, NC_GLOBAL, ATTRIBUTE_SOURCE, source);
        *ours = status == NC_NOERR && strcmp(source, INSPECTED_SOURCE) == 0;
        nc_close(file);
    }
    return status > 0 ? status : 0;
}

int inspected_check(const char *path, struct error *error)
{
    char *whole, *folder = NULL;
    int cause = output_resolve(path, &whole);
    mode_t kind = 0;
    bool ours = false;

    if (!cause)
        cause = (folder = output_folder(whole)) ? output_folder_fault(folder) : ENOMEM;
    if (!cause)
        cause = output_kind(whole, &kind);
    if (!cause && S_ISDIR(kind))
        cause = EISDIR;
    else if (!cause && S_ISREG(kind))
        cause = check_source(whole, &ours);
    free(whole);
    free(folder);
    if (cause)
        return layout_error(error, path, cause);
    if (kind && !ours)
        return error_set(error, ERROR_INPUT,
            "%s: exists, and " PROGRAM " inspect did not write it; give another -o", path);
    return 0;
}
