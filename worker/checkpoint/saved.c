/*
 * Nothing in a file is trusted, although its checksum is good: it may come from anybody. Parameters have to
 * pass the checks of the sweep file, and the sizes that follow from them have to be those of the variables
 * and to fit into the file, before any memory is taken.
 */
#include "worker/checkpoint/saved.h"

#include <netcdf.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "worker/checkpoint/form.h"
#include "worker/checkpoint/seal.h"
#include "worker/checkpoint/visit.h"

enum { TEXT_MOST = 64 };

/* ---- what is refused ---- */

static int refuse(const struct saved *saved, const char *why, struct error *error)
{
    return error_set(error, ERROR_INPUT, "%s: %s", saved->path, why);
}

static int refuse_other(const struct saved *saved, struct error *error)
{
    return refuse(saved,
        "not the final weights of a run, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc",
        error);
}

/* A netCDF status or an errno. Few are for the user to correct: a file whose checksum is good, and that
 * cannot be opened or read all the same, is on a bad disk. */
static int refuse_status(const struct saved *saved, int status, struct error *error)
{
    static const int faults[] = {ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG};
    enum error_status whose = ERROR_ENVIRONMENT;

    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        if (status == faults[i])
            whose = ERROR_INPUT;
    return error_set(error, whose, "%s: %s", saved->path, nc_strerror(status));
}

/* ---- attributes ---- */

/* The text of a global attribute; false if it is something else or too long. */
static bool read_text(int file, const char *name, char text[TEXT_MOST])
{
    nc_type type;
    size_t length;

    if (nc_inq_att(file, NC_GLOBAL, name, &type, &length) != NC_NOERR || type != NC_CHAR ||
        length >= TEXT_MOST || nc_get_att_text(file, NC_GLOBAL, name, text) != NC_NOERR)
        return false;
    text[length] = '\0';
    return true;
}

/* The value of a word or of a truth value, in a text. */
static bool parse_word(const struct param *param, const char *text, int64_t *value)
{
    static const char *const booleans[] = {"false", "true", NULL};
    const char *const *words = param->kind == PARAM_BOOLEAN ? booleans : param->words;

    for (*value = 0; words[*value]; ++*value)
        if (strcmp(words[*value], text) == 0)
            return true;
    return false;
}

/* False: the attribute does not hold a value of this parameter. */
static bool read_param(struct form *form, const struct param *param, struct run *run)
{
    union param_value value = param->initial;
    char text[TEXT_MOST];
    struct error ignored;

    if (nc_inq_att(form->file, NC_GLOBAL, param->name, NULL, NULL) != NC_ENOTATT) {
        if (param->kind == PARAM_REAL)
            visit_real(form, param->name, &value.real);
        else if (param->kind == PARAM_INTEGER)
            visit_integer(form, param->name, &value.integer);
        else if (!read_text(form->file, param->name, text) || !parse_word(param, text, &value.integer))
            return false;
    }
    param_set(param, run, value);
    return form->status == NC_NOERR && param_check(param, value, &ignored) == 0;
}

static int read_run(struct saved *saved, struct form *form, struct error *error)
{
    for (size_t i = 0; i < param_count; i++)
        if (!read_param(form, &param_table[i], &saved->run))
            return error_set(error, ERROR_INPUT, "%s: the attribute %s has a value that the key cannot have",
                saved->path, param_table[i].name);
    return 0;
}

/* Is it a file of this form, and what kind? */
static int check_form(struct saved *saved, struct form *form, struct error *error)
{
    int64_t version = 0;
    char title[TEXT_MOST];

    if (!read_text(saved->file, "title", title))
        return refuse_other(saved, error);
    if (strcmp(title, FORM_TITLE_CHECKPOINT) == 0)
        return refuse(saved, "a checkpoint of a run under way, not its final weights", error);
    if (strcmp(title, FORM_TITLE_WEIGHTS) != 0)
        return refuse_other(saved, error);
    visit_integer(form, "format_version", &version);
    if (form->status == NC_NOERR && version != FORM_VERSION)
        return error_set(error, ERROR_INPUT,
            "%s: format version %lld is of another version of this program, which reads %d", saved->path,
            (long long)version, FORM_VERSION);
    visit_integer(form, "step", &saved->step);
    return form->status == NC_NOERR ? 0 : refuse_other(saved, error);
}

/* ---- the network ---- */

/* The token that ends lines is the last one of the corpus, but for bytes. */
static int32_t end_of_line(const struct run *run, int64_t vocabulary)
{
    if (run->corpus == CORPUS_BYTES)
        return '\n';
    return run->corpus == CORPUS_MODULAR ? -1 : (int32_t)vocabulary - 1;
}

/* The vocabulary is not a parameter: the file's dimension has it, with the words of the objective. */
static int read_architecture(struct saved *saved, const struct form *form, struct error *error)
{
    int64_t all = find_length(form, VOCABULARY);
    int64_t added = objective_words_added((enum objective)saved->run.objective, saved->run.context);
    struct run sized = saved->run;
    const struct param *at;

    if (all > INT32_MAX || all <= added)
        return refuse(saved, "damaged: the dimension vocabulary does not fit the parameters", error);
    sized.vocabulary = all - added;
    if (run_check(&sized, &at, error) < 0)
        return error_prefix(error, "%s", saved->path);
    saved->architecture = run_architecture(&saved->run, all - added);
    saved->end_of_line = end_of_line(&saved->run, all - added);
    return 0;
}

/* The part of a variable that is one tensor. */
struct slab {
    int rank, variable;
    size_t start[RANK_MOST], count[RANK_MOST];
};

static struct slab slab_of(const struct saved *saved, const struct tensor *tensor)
{
    const struct tensor_row *row = &tensor_table[tensor->kind];
    struct slab slab = {.variable = -1};

    if (tensor->layer >= 0) {
        slab.start[0] = (size_t)tensor->layer;
        slab.count[slab.rank++] = 1;
    }
    if (row->rows != EXTENT_ONE)
        slab.count[slab.rank++] = (size_t)tensor->rows;
    slab.count[slab.rank++] = (size_t)tensor->columns;
    if (nc_inq_varid(saved->file, row->name, &slab.variable) != NC_NOERR)
        slab.variable = -1;
    return slab;
}

/* Has the tensor's variable this type, and room for it and for those of the other layers? */
static bool fits(const struct saved *saved, const struct tensor *tensor, nc_type type)
{
    const struct slab slab = slab_of(saved, tensor);
    int rank, dimension[NC_MAX_VAR_DIMS];
    nc_type found;

    if (nc_inq_var(saved->file, slab.variable, NULL, &found, &rank, dimension, NULL) != NC_NOERR ||
        found != type || rank != slab.rank)
        return false;
    for (int i = 0; i < rank; i++) {
        size_t length, wanted = slab.count[i];
        if (i == 0 && tensor->layer >= 0)
            wanted = (size_t)architecture_blocks(&saved->architecture);
        if (nc_inq_dimlen(saved->file, dimension[i], &length) != NC_NOERR || length != wanted)
            return false;
    }
    return true;
}

static int check_tensors(struct saved *saved, struct error *error)
{
    const struct weight_layout *layout = &saved->layout;

    for (int64_t i = 0; i < layout->tensor_count; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        if (tensor->size > 0 && !fits(saved, tensor, saved->is_double ? NC_DOUBLE : NC_FLOAT))
            return error_set(error, ERROR_INPUT, "%s: damaged: the variable %s does not fit the parameters",
                saved->path, tensor_table[tensor->kind].name);
    }
    return 0;
}

/* Does a network of so many weights fit into the file? */
static bool has_room(const struct saved *saved)
{
    struct stat status;
    double bytes = (double)architecture_parameters(&saved->architecture) * (saved->is_double ? 8 : 4);

    return stat(saved->path, &status) == 0 && bytes <= (double)status.st_size;
}

static int lay_out(struct saved *saved, struct error *error)
{
    struct arena counted = {0};
    char type[TEXT_MOST];

    saved->is_double = read_text(saved->file, "scalar", type) && strcmp(type, "double") == 0;
    if (!has_room(saved))
        return refuse(saved, "damaged: it is smaller than the weights of its parameters", error);
    weight_layout_init(&saved->layout, &saved->architecture, &counted);
    if (arena_init(&saved->arena, counted.used) < 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", saved->path);
    weight_layout_init(&saved->layout, &saved->architecture, &saved->arena);
    return check_tensors(saved, error);
}

/* ---- the whole ---- */

/* The netCDF library opens only files whose checksum is good. */
static int check_seal(const struct saved *saved, struct error *error)
{
    int status = seal_look(saved->path);

    if (status == SEAL_BROKEN)
        return refuse_other(saved, error);
    if (status == 0)
        status = seal_check(saved->path, NULL);
    if (status == SEAL_BROKEN)
        return refuse(saved, "damaged (checksum)", error);
    return status == 0 ? 0 : refuse_status(saved, status, error);
}

static int read_form(struct saved *saved, struct error *error)
{
    struct form form = {.pass = GET, .file = saved->file, .path = saved->path};

    if (check_form(saved, &form, error) < 0 || read_run(saved, &form, error) < 0 ||
        read_architecture(saved, &form, error) < 0)
        return -1;
    return lay_out(saved, error);
}

int saved_open(struct saved *saved, const char *path, struct error *error)
{
    *saved = (struct saved){.path = path};
    if (check_seal(saved, error) < 0)
        return -1;
    int status = nc_open(path, NC_NOWRITE, &saved->file);
    if (status != NC_NOERR)
        return refuse_status(saved, status, error);
    if (read_form(saved, error) == 0)
        return 0;
    saved_close(saved);
    return -1;
}

void saved_close(struct saved *saved)
{
    nc_close(saved->file);
    arena_release(&saved->arena);
    *saved = (struct saved){0};
}

static const struct tensor *tensor_of(const struct saved *saved, enum tensor_kind kind, int64_t layer)
{
    return &saved->layout.tensor[tensor_index(&saved->architecture, kind, layer)];
}

bool saved_has(const struct saved *saved, enum tensor_kind kind, int64_t layer)
{
    return tensor_of(saved, kind, layer)->size > 0;
}

int saved_read(
    const struct saved *saved, enum tensor_kind kind, int64_t layer, double *values, struct error *error)
{
    const struct slab slab = slab_of(saved, tensor_of(saved, kind, layer));
    int status = nc_get_vara_double(saved->file, slab.variable, slab.start, slab.count, values);

    return status == NC_NOERR ? 0 : refuse_status(saved, status, error);
}

/* A double beyond the range of a float becomes infinite. */
static int get_scalars(int file, const struct slab *slab, scalar *values)
{
#ifdef SCALAR_DOUBLE
    int status = nc_get_vara_double(file, slab->variable, slab->start, slab->count, values);
#else
    int status = nc_get_vara_float(file, slab->variable, slab->start, slab->count, values);
#endif
    return status == NC_ERANGE ? NC_NOERR : status;
}

static void load(void *context, const struct weight_layout *layout, int64_t layer, scalar *weights)
{
    struct saved *saved = context;

    for (int64_t i = 0; i < layout->tensor_count && saved->status == NC_NOERR; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        if (tensor->size == 0 || tensor->layer != layer)
            continue;
        const struct slab slab = slab_of(saved, tensor);
        saved->status = get_scalars(saved->file, &slab, weights + tensor->offset);
    }
}

struct weight_source saved_source(struct saved *saved)
{
    return (struct weight_source){.load = load, .context = saved};
}

int saved_check(const struct saved *saved, struct error *error)
{
    return saved->status == NC_NOERR ? 0 : refuse_status(saved, saved->status, error);
}
