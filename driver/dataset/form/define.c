/*
 * A new dataset file, from the rows of the table: dimensions, variables and their attributes; the attributes
 * of the whole, which follow from the sweep and its corpus; coordinates and fill values. layout_write() calls
 * all of it in this order. A start compares some attributes with its own (see read/verify.c and
 * extend/match.c), so they hold values with defaults filled in and not the words of the sweep file.
 *
 * Any call of the library may fail, and memory may be lacking: the first status is kept, and nothing is done
 * after it.
 */
#include "driver/dataset/form/inside.h"
#include "model/core/scalar.h"
#include "worker/checkpoint/checkpoint.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum { WRITE_BUFFER = 1 << 20, ALIGNMENT = 8 }; /* of the first variable: see table.c */

/* ---- dimensions and variables ---- */

void definition_keep(struct definition *definition, int status)
{
    if (definition->status == NC_NOERR)
        definition->status = status;
}

void definition_text(struct definition *definition, int variable, const char *name, const char *text)
{
    if (!text)
        definition_keep(definition, NC_ENOMEM);
    else if (definition->status == NC_NOERR && text[0])
        definition_keep(definition, nc_put_att_text(definition->file, variable, name, strlen(text), text));
}

void definition_integer(
    struct definition *definition, int variable, const char *name, nc_type type, int64_t value)
{
    long long number = value;

    if (definition->status == NC_NOERR)
        definition_keep(definition, nc_put_att_longlong(definition->file, variable, name, type, 1, &number));
}

static void put_real(
    struct definition *definition, int variable, const char *name, nc_type type, double value)
{
    if (definition->status == NC_NOERR)
        definition_keep(definition, nc_put_att_double(definition->file, variable, name, type, 1, &value));
}

/* Defines a dimension on first use; returns its id. */
static int put_dimension(struct definition *definition, const char *name, int64_t length)
{
    int dimension = -1;

    if (definition->status == NC_NOERR && lookup_dimension(definition->file, name, &dimension) != NC_NOERR)
        definition_keep(definition, nc_def_dim(definition->file, name, (size_t)length, &dimension));
    return dimension;
}

/* Is a variable an auxiliary coordinate of the grid: words, anything along a `together` axis, derived decays?
 */
static bool is_auxiliary(const struct definition *definition, const struct variable *variable)
{
    return variable->kind == VARIABLE_LABEL || variable->kind == VARIABLE_DECAY ||
           (variable->kind == VARIABLE_PARAM &&
               (variable->type == NC_CHAR || definition->outline.axis[variable->which].label));
}

/* The attribute `coordinates` of a variable over the grid: the auxiliary ones of the grid, and those of words
 * along its own dimensions. */
static void put_coordinates(struct definition *definition, int id, const struct variable *of)
{
    const struct variable *row = definition->row;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out) {
        definition_keep(definition, NC_ENOMEM);
        return;
    }
    for (int i = 0; i < definition->count; i++)
        if (is_auxiliary(definition, &row[i]))
            fprintf(out, " %s", row[i].name);
    for (int i = 0; i < of->rank; i++)
        for (int j = 0; j < definition->count; j++)
            if (row[j].kind == VARIABLE_COORDINATE && row[j].type == NC_CHAR &&
                strcmp(row[j].name, of->dimension[i]) == 0)
                fprintf(out, " %s", row[j].name);
    if (fclose(out) == 0 && text) /* without memory fclose may succeed all the same */
        definition_text(definition, id, "coordinates", text[0] ? text + 1 : text);
    else
        definition_keep(definition, NC_ENOMEM);
    free(text);
}

static void put_flags(struct definition *definition, int id, enum run_variable which)
{
    int count;
    const char *const *words = run_variable_flags(which, &count);
    signed char values[OUTCOME_COUNT + PHASE_COUNT + DYNAMICS_COUNT];
    char meanings[256] = "";

    if (count == 0)
        return;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(meanings);
        values[i] = (signed char)i;
        snprintf(meanings + length, sizeof(meanings) - length, "%s%s", i ? " " : "", words[i]);
    }
    if (definition->status == NC_NOERR)
        definition_keep(definition,
            nc_put_att_schar(definition->file, id, "flag_values", NC_BYTE, (size_t)count, values));
    definition_text(definition, id, "flag_meanings", meanings);
}

static void put_variable(struct definition *definition, const struct variable *row)
{
    struct file_dimension shape[DIMENSIONS_MAX];
    int dimension[DIMENSIONS_MAX], rank = variable_shape(&definition->outline, row, shape), id = -1;
    char string[32];

    for (int i = 0; i < rank; i++) {
        snprintf(string, sizeof(string), STRING_DIMENSION "%lld", (long long)shape[i].length);
        dimension[i] = put_dimension(definition, shape[i].name ? shape[i].name : string, shape[i].length);
    }
    if (definition->status == NC_NOERR)
        definition_keep(definition, nc_def_var(definition->file, row->name, row->type, rank, dimension, &id));
    INVARIANT(
        definition->status != NC_NOERR || id == row - definition->row, "%s is variable %d", row->name, id);
    if (row->type == NC_CHAR)
        definition_text(definition, id, "_Encoding", "utf-8");
    definition_text(definition, id, "long_name", row->long_name);
    definition_text(definition, id, "units", row->unit);
    definition_text(definition, id, "comment", row->comment);
    if (row->kind == VARIABLE_PARAM && row->type == NC_BYTE)
        definition_text(definition, id, "dtype", "bool");
    if (row->nature)
        definition_text(definition, id, METRIC_NATURE, row->nature);
    if (row->of_cells)
        put_coordinates(definition, id, row);
    if (row->filled && (row->type == NC_DOUBLE || row->type == NC_FLOAT))
        put_real(definition, id, "_FillValue", row->type, NAN);
    else if (row->filled)
        definition_integer(definition, id, "_FillValue", row->type, -1);
    if (row->kind == VARIABLE_RUN)
        put_flags(definition, id, (enum run_variable)row->which);
}

void definition_variables(struct definition *definition)
{
    const struct outline *outline = &definition->outline;

    for (int64_t i = 0; i < outline->axis_count; i++)
        put_dimension(definition, outline->axis[i].name, outline->axis[i].length);
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        if (outline->dimension[i])
            put_dimension(definition, metric_dimension_table[i].name,
                i == DIMENSION_STEP ? outline->step_count : outline->form->along[i]);
    if (outline->sessions > 0)
        put_dimension(definition, SESSION_DIMENSION, outline->sessions);
    for (int i = 0; i < definition->count; i++)
        put_variable(definition, &definition->row[i]);
}

/* ---- attributes of the whole ---- */

/* A parameter that is not an axis is an attribute. */
static void put_param(struct definition *definition, const struct param *param, const struct run *base)
{
    union param_value value = param_get(param, base);
    nc_type type = variable_param_type(param->kind);
    char text[PARAM_TEXT];

    if (type == NC_CHAR)
        definition_text(definition, NC_GLOBAL, param->name, param_format(param, value, text, sizeof(text)));
    else if (type == NC_DOUBLE)
        put_real(definition, NC_GLOBAL, param->name, type, value.real);
    else
        definition_integer(definition, NC_GLOBAL, param->name, type, value.integer);
}

void definition_history(struct definition *definition, const char *before)
{
    bool extended = before && before[0];
    char date[32], *text = NULL;
    time_t now = time(NULL);
    struct tm utc;

    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    if (asprintf(&text, "%s %s by " PROGRAM " %s%s%s", date, extended ? "extended" : "created",
            version_number, extended ? "\n" : "", extended ? before : "") < 0)
        text = NULL;
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_HISTORY, text);
    free(text);
}

static void put_globals(struct definition *definition, const struct layout *layout)
{
    const struct sweep *sweep = layout->sweep;
    const char *made = sweep->title && sweep->title[0] ? sweep->title : PROGRAM;
    char *measure = layout_measure_text(&sweep->measure), *refine = layout_refine_text(sweep);
    char digest_text[DIGEST_TEXT];
    struct digest digest;

    definition_text(definition, NC_GLOBAL, ATTRIBUTE_CONVENTIONS, DATASET_CONVENTIONS);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_TITLE, layout->title ? layout->title : made);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_SWEEP_TITLE, sweep->title ? sweep->title : "");
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_SWEEP_NOTES, sweep->notes ? sweep->notes : "");
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_SOURCE, PROGRAM);
    definition_history(definition, layout->history);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_REFERENCES, DATASET_REFERENCES);
    definition_integer(definition, NC_GLOBAL, ATTRIBUTE_FORMAT, NC_INT, FORMAT_VERSION);
    sweep_digest(layout->sweep, layout->corpus, &digest);
    digest_format(&digest, digest_text);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_CONFIGURATION, digest_text);
    digest_format(&layout->corpus->digest, digest_text);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_DATA, digest_text);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_PRECISION, SCALAR_TYPE);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_MEASURE, measure);
    for (enum measure_option i = 0; i < MEASURE_OPTION_COUNT; i = measure_option_end(i)) {
        const struct measure_option_row *row = &measure_option_table[i];
        char *text = sweep->measure.group[row->group] ? measure_option_text(&sweep->measure, i) : NULL;
        if (sweep->measure.group[row->group])
            definition_text(definition, NC_GLOBAL, row->key, text);
        free(text);
    }
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_REFINE, refine);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_PART, sweep->part_text ? sweep->part_text : "");
    for (size_t i = 0; i < param_count; i++)
        if (!axis_find(sweep->axis_count, sweep->axis, &param_table[i]) &&
            !axis_derives(sweep->axis_count, sweep->axis, &sweep->base, &param_table[i]))
            put_param(definition, &param_table[i], &sweep->base);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_SWEEP, sweep->text ? sweep->text : "");
    free(measure);
    free(refine);
}

/* ---- values ---- */

/*
 * Fills a variable that is not what the library fills it with: coordinates, and in variables of runs without
 * a fill value zeros and the outcomes of runs that are to come. Returns a netCDF status.
 */
static int put_values(const struct definition *definition, int id)
{
    const struct outline *outline = &definition->outline;
    const struct variable *row = &definition->row[id];
    int64_t count = row->of_cells ? definition->sweep->cells : variable_values(row);
    bool small = row->kind == VARIABLE_RUN || row->type == NC_BYTE;
    size_t size = row->type == NC_CHAR ? (size_t)row->width : small ? 1 : sizeof(union param_value);
    signed char *block = calloc((size_t)count, size);

    if (!block)
        return NC_ENOMEM;
    for (int64_t i = 0; i < count; i++) {
        signed char *to = block + (size_t)i * size;
        if (row->kind == VARIABLE_RUN) {
            if (row->which == RUN_VARIABLE_outcome)
                *to = sweep_skips(definition->sweep, i) ? OUTCOME_SKIPPED : OUTCOME_PENDING;
        } else if (row->type == NC_CHAR) {
            char text[PARAM_TEXT];
            const char *word = variable_word(outline, row, i, text);
            INVARIANT(word && strlen(word) <= size, "%s: no word %lld", row->name, (long long)i);
            memcpy(to, word, strlen(word));
        } else {
            union param_value value = variable_number(outline, row, i);
            if (row->type == NC_BYTE)
                *to = (signed char)value.integer;
            else
                memcpy(to, &value, size);
        }
    }
    int status =
        small ? nc_put_var_schar(definition->file, id, block) : nc_put_var(definition->file, id, block);
    free(block);
    return status;
}

void definition_write(struct definition *definition)
{
    for (int id = 0; id < definition->count && definition->status == NC_NOERR; id++) {
        const struct variable *row = &definition->row[id];
        bool zeros = row->kind == VARIABLE_RUN && row->type != NC_CHAR && !row->filled;
        if (zeros || (row->kind >= VARIABLE_LABEL && row->kind <= VARIABLE_COORDINATE))
            definition_keep(definition, put_values(definition, id));
    }
}

/* ---- files ---- */

/* Opens a new file and defines it. */
static void definition_begin(
    struct definition *definition, const struct layout *layout, const char *path, int fill)
{
    size_t buffer = WRITE_BUFFER;
    int before;

    *definition = (struct definition){.outline = layout_outline(layout), .sweep = layout->sweep};
    definition->row = variable_table(&definition->outline, &definition->count);
    definition_keep(definition, definition->row ? NC_NOERR : NC_ENOMEM);
    if (definition->status == NC_NOERR)
        definition_keep(
            definition, nc__create(path, NC_CLOBBER | NC_64BIT_DATA, 0, &buffer, &definition->file));
    if (definition->status != NC_NOERR)
        return;
    definition_keep(definition, nc_set_fill(definition->file, fill, &before));
    put_globals(definition, layout);
    definition_variables(definition);
    if (definition->status == NC_NOERR)
        definition_keep(definition, nc__enddef(definition->file, 0, ALIGNMENT, 0, ALIGNMENT));
    if (definition->status != NC_NOERR)
        nc_abort(definition->file);
}

/* Writes the header alone, to a file of full length, or all of it. Returns a netCDF status. */
static int write_file(const struct layout *layout, const char *path, bool whole)
{
    struct definition definition;

    definition_begin(&definition, layout, path, whole ? NC_FILL : NC_NOFILL);
    if (definition.status == NC_NOERR) {
        if (whole)
            definition_write(&definition);
        definition_keep(&definition, written_close(definition.file));
    }
    free(definition.row);
    return definition.status;
}

int layout_write(const struct layout *layout, const char *path)
{
    return write_file(layout, path, true);
}

int layout_in_memory(const struct layout *layout, char path[LAYOUT_PATH])
{
    int memory = memfd_create("normsweep", MFD_CLOEXEC);

    if (memory < 0)
        return -1;
    snprintf(path, LAYOUT_PATH, "/proc/self/fd/%d", memory);
    if (write_file(layout, path, false) == NC_NOERR)
        return memory;
    close(memory);
    return -1;
}

double layout_bytes(const struct layout *layout)
{
    char path[LAYOUT_PATH];
    int memory = layout_in_memory(layout, path);
    struct stat stat;

    if (memory < 0)
        return NAN;
    double bytes = fstat(memory, &stat) == 0 ? (double)stat.st_size : NAN;
    close(memory);
    return bytes;
}

double dataset_size(const struct sweep *sweep, const struct corpus *corpus)
{
    struct layout layout;

    layout_init(&layout, sweep, corpus);
    double bytes = layout_bytes(&layout);
    layout_release(&layout);
    return bytes;
}
