/*
 * Nothing in a file is trusted, although its checksum is good: it may come from anybody. Its architecture has
 * to pass the checks of network.c, and the sizes that follow from it have to be those of the variables and to
 * fit into the file, before any memory is taken.
 */
#include "worker/checkpoint/inside.h"

#include <netcdf.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 64 };

/* ---- what is refused ---- */

static int refuse(const struct saved *saved, const char *why, struct error *error)
{
    return error_set(error, ERROR_INPUT, "%s: %s", saved->path, why);
}

static int refuse_other(const struct saved *saved, struct error *error)
{
    return refuse(saved,
        "not a weights file, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc, or "
        "analysis/weights import writes",
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
static bool read_text(int file, const char *name, char *text, size_t size)
{
    nc_type type;
    size_t length;

    if (nc_inq_att(file, NC_GLOBAL, name, &type, &length) != NC_NOERR || type != NC_CHAR || length >= size ||
        nc_get_att_text(file, NC_GLOBAL, name, text) != NC_NOERR)
        return false;
    text[length] = '\0';
    return true;
}

/* The number of a global attribute; false if it is something else. */
static bool read_integer(int file, const char *name, int64_t *value)
{
    struct form form = {.pass = GET, .file = file};

    visit_integer(&form, name, value);
    return form.status == NC_NOERR;
}

/* Is it a file of this form, and what kind? */
static int check_form(struct saved *saved, struct error *error)
{
    int64_t version = 0;
    char title[TEXT_MOST];

    if (!read_text(saved->file, "title", title, sizeof(title)) ||
        !read_integer(saved->file, "format_version", &version))
        return refuse_other(saved, error);
    if (strcmp(title, FORM_TITLE_CHECKPOINT) == 0)
        return refuse(saved, "a checkpoint of a run under way, not its final weights", error);
    if (strcmp(title, FORM_TITLE_WEIGHTS) != 0)
        return refuse_other(saved, error);
    if (version == FORMAT_VERSION)
        return 0;
    return error_set(error, ERROR_INPUT,
        "%s: format version %lld is of another version of this program, which reads %d; train or import "
        "it anew",
        saved->path, (long long)version, FORMAT_VERSION);
}

/* ---- the network ---- */

/* A token of the vocabulary, or -1. */
static bool read_token(const struct saved *saved, const char *name, int32_t *token)
{
    int64_t value = -2;

    if (!read_integer(saved->file, name, &value) || value < -1 || value >= saved->architecture.vocabulary)
        return false;
    *token = (int32_t)value;
    return true;
}

static int read_network(struct saved *saved, struct error *error)
{
    char output[TEXT_MOST], type[TEXT_MOST];

    if (network_read(saved->file, &saved->architecture, error) < 0)
        return error_prefix(error, "%s", saved->path);
    if (!read_text(saved->file, "family", saved->family, sizeof(saved->family)) ||
        !read_text(saved->file, "has_output", output, sizeof(output)) ||
        !read_text(saved->file, "scalar", type, sizeof(type)) ||
        !read_token(saved, "start_token", &saved->special.start) ||
        !read_token(saved, "end_token", &saved->special.end) ||
        !read_token(saved, "padding_token", &saved->special.padding))
        return refuse(saved,
            "damaged: family, scalar, has_output, start_token, end_token or padding_token is missing or "
            "wrong",
            error);
    saved->of_run = strcmp(saved->family, FORM_FAMILY_RUN) == 0;
    saved->has_output = strcmp(output, "true") == 0;
    saved->is_double = strcmp(type, "double") == 0;
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

/* Lays the weights out, if a network of so many fits into the file. */
static int lay_out(struct saved *saved, struct error *error)
{
    double bytes = (double)architecture_parameters(&saved->architecture) * (saved->is_double ? 8 : 4);
    struct arena counted = {0};

    if (bytes > (double)saved->opened.st_size)
        return refuse(saved, "damaged: it is smaller than the weights of its architecture", error);
    weight_layout_init(&saved->layout, &saved->architecture, false, &counted);
    if (arena_init(&saved->arena, counted.used) < 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", saved->path);
    weight_layout_init(&saved->layout, &saved->architecture, false, &saved->arena);
    for (int64_t i = 0; i < saved->layout.tensor_count; i++) {
        const struct tensor *tensor = &saved->layout.tensor[i];
        if (tensor->size > 0 && !fits(saved, tensor, saved->is_double ? NC_DOUBLE : NC_FLOAT))
            return error_set(error, ERROR_INPUT, "%s: damaged: the variable %s does not fit the architecture",
                saved->path, tensor_table[tensor->kind].name);
    }
    return 0;
}

/* ---- those of a run ---- */

/* Has an open file the parameters of a run as its attributes? */
static bool is_of(int file, const struct run *run)
{
    char text[PARAM_TEXT], found[PARAM_TEXT];

    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        union param_value value = param_get(param, run), there = {0};
        bool equal;
        if (param->kind == PARAM_INTEGER)
            equal = read_integer(file, param->name, &there.integer) && there.integer == value.integer;
        else if (param->kind == PARAM_REAL)
            equal = nc_get_att_double(file, NC_GLOBAL, param->name, &there.real) == NC_NOERR &&
                    there.real == value.real;
        else
            equal = read_text(file, param->name, found, sizeof(found)) &&
                    strcmp(found, param_format(param, value, text, sizeof(text))) == 0;
        if (!equal)
            return false;
    }
    return true;
}

char *saved_find(const char *folder, const struct run *run)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    struct timespec newest = {0};
    char *best = NULL, *path;

    while (directory && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name), tail = strlen(WEIGHTS_SUFFIX);
        struct stat found;
        int file;
        if (length <= tail || strcmp(entry->d_name + length - tail, WEIGHTS_SUFFIX) != 0 ||
            asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            continue;
        bool fits =
            stat(path, &found) == 0 && seal_look(path) == 0 && nc_open(path, NC_NOWRITE, &file) == NC_NOERR;
        if (fits) {
            fits = is_of(file, run) && (!best || found.st_mtim.tv_sec > newest.tv_sec);
            nc_close(file);
        }
        if (fits) {
            free(best);
            best = path;
            newest = found.st_mtim;
        } else {
            free(path);
        }
    }
    if (directory)
        closedir(directory);
    return best;
}

/* ---- the whole ---- */

int saved_open(struct saved *saved, const char *path, const struct breath *breath, struct error *error)
{
    int status = seal_look(path);

    *saved = (struct saved){.path = path};
    if (status == SEAL_BROKEN)
        return refuse_other(saved, error);
    if (status == 0)
        status = seal_check(path, breath);
    if (status == SEAL_BROKEN)
        return refuse(saved, "damaged (checksum); copy it again, or train or import it anew", error);
    if (status == 0) /* the netCDF library opens only files whose checksum is good */
        status = stat(path, &saved->opened) == 0 ? nc_open(path, NC_NOWRITE, &saved->file) : errno;
    if (status != NC_NOERR)
        return refuse_status(saved, status, error);
    if (check_form(saved, error) == 0 && read_network(saved, error) == 0 && lay_out(saved, error) == 0)
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

static void load(void *context, const struct weight_layout *layout, int64_t layer, scalar *weights)
{
    struct saved *saved = context;

    for (int64_t i = 0; i < layout->tensor_count && saved->status == NC_NOERR; i++) {
        const struct tensor *tensor = &layout->tensor[i];
        if (tensor->size == 0 || tensor->layer != layer)
            continue;
        const struct slab slab = slab_of(saved, tensor);
        scalar *values = weights + tensor->offset;
#ifdef SCALAR_DOUBLE
        int status = nc_get_vara_double(saved->file, slab.variable, slab.start, slab.count, values);
#else
        int status = nc_get_vara_float(saved->file, slab.variable, slab.start, slab.count, values);
#endif
        saved->status = status == NC_ERANGE ? NC_NOERR : status; /* beyond a float's range: infinite */
    }
}

struct weight_source saved_source(struct saved *saved)
{
    return (struct weight_source){.load = load, .context = saved};
}

int saved_check(const struct saved *saved, struct error *error)
{
    struct stat now;

    if (saved->status != NC_NOERR)
        return refuse_status(saved, saved->status, error);
    if (stat(saved->path, &now) == 0 && now.st_size == saved->opened.st_size &&
        now.st_mtim.tv_sec == saved->opened.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == saved->opened.st_mtim.tv_nsec)
        return 0;
    return error_set(error, ERROR_ENVIRONMENT, "%s: changed while it was read", saved->path);
}
