/*
 * Both files are written under other names, synced, and only then renamed, so that a folder with both holds a
 * whole model.
 */
#include "driver/weights/export.h"

#include "driver/output/output.h"
#include "driver/weights/exported.h"
#include "driver/weights/home_config.h"
#include "driver/weights/shards.h"
#include "driver/weights/written_file.h"
#include "worker/host/sync.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WEIGHTS, CONFIG, FILES /* in the order in which they are written and named */ };

static const char *const names[FILES] = {[WEIGHTS] = SHARDS_ONE_FILE, [CONFIG] = CONFIG_FILE};

/* The folder and the paths in it. */
struct target {
    const char *folder; /* borrowed */
    bool made; /* it did not exist */
    char *path[FILES], *part[FILES]; /* owned; part: before it is renamed */
};

/* ---- the folder ---- */

static void target_release(struct target *target)
{
    for (int i = 0; i < FILES; i++) {
        free(target->path[i]);
        free(target->part[i]);
    }
    *target = (struct target){0};
}

static int target_init(struct target *target, const char *folder, struct error *error)
{
    int cause = 0;

    *target = (struct target){.folder = folder};
    for (int i = 0; i < FILES && cause == 0; i++) {
        if (asprintf(&target->path[i], "%s/%s", folder, names[i]) < 0) {
            target->path[i] = NULL;
            cause = ENOMEM;
        } else {
            target->part[i] = output_fresh(target->path[i]);
            cause = target->part[i] ? 0 : errno;
        }
    }
    if (cause == 0)
        return 0;
    target_release(target);
    written_file_error(folder, cause, error);
    return -1;
}

static int refuse_existing(const char *path, struct error *error)
{
    return error_set(error, ERROR_INPUT, "%s: exists; remove it or choose another -o", path);
}

/* The folder belongs to the user, who may keep other files in it, but not another model. */
static int take_folder(struct target *target, struct error *error)
{
    mode_t kind;

    target->made = mkdir(target->folder, 0777) == 0;
    int cause = target->made ? 0 : errno == EEXIST ? output_folder_fault(target->folder) : errno;
    if (cause)
        return written_file_error(target->folder, cause, error);
    for (int i = 0; i < FILES; i++) {
        int exists = output_exists(target->path[i], &kind);
        if (exists < 0)
            return written_file_error(target->path[i], errno, error);
        if (exists)
            return refuse_existing(target->path[i], error);
    }
    return 0;
}

/* Removes the files that were written, of which the first `named` have their names, and a folder that did not
 * exist before. */
static void clear_up(const struct target *target, int written, int named)
{
    for (int i = 0; i < written; i++)
        unlink(i < named ? target->path[i] : target->part[i]);
    if (target->made)
        rmdir(target->folder);
}

/* ---- files ---- */

static int write_weights(
    const struct saved *saved, const char *path, struct export_summary *summary, struct error *error)
{
    struct exported exported;

    if (exported_init(&exported, saved, summary->home, error) < 0)
        return -1;
    const struct stored_content content = exported_content(&exported);
    summary->parameters = stored_content_size(&content);
    int status = safetensors_write(path, &content, error);
    exported_release(&exported);
    return status;
}

/* Counts in *written the files that are whole. */
static int write_parts(const struct saved *saved, const struct target *target, struct export_summary *summary,
    int *written, struct error *error)
{
    if (write_weights(saved, target->part[WEIGHTS], summary, error) < 0)
        return -1;
    ++*written;
    if (home_config_write(target->part[CONFIG], saved, summary->home, error) < 0)
        return -1;
    ++*written;
    return 0;
}

/* Counts in *named the files that have their names. */
static int name_parts(const struct target *target, int *named, struct error *error)
{
    int cause = 0;

    while (*named < FILES && cause == 0) {
        cause = output_name(target->part[*named], target->path[*named]);
        if (cause == EEXIST)
            return refuse_existing(target->path[*named], error);
        if (cause)
            return written_file_error(target->path[*named], cause, error);
        ++*named;
    }
    cause = sync_folder(target->folder);
    return cause ? written_file_error(target->folder, cause, error) : 0;
}

/* ---- the whole ---- */

/* A bias of the output that is 0 everywhere does no harm. */
static int check_output_bias(const struct saved *saved, struct error *error)
{
    int64_t vocabulary = saved->architecture.vocabulary;
    bool zero = true;

    if (!saved_has(saved, TENSOR_OUTPUT_BIAS, -1))
        return 0;
    double *values = malloc((size_t)vocabulary * sizeof(*values));
    if (!values)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", saved->path);
    int status = saved_read(saved, TENSOR_OUTPUT_BIAS, -1, values, error);
    for (int64_t i = 0; status == 0 && i < vocabulary; i++)
        zero = zero && values[i] == 0;
    free(values);
    if (status < 0 || zero)
        return status;
    return error_set(error, ERROR_INPUT,
        "%s: output_bias: true fits neither %s nor %s, whose logits have no bias; train with output_bias: "
        "false",
        saved->path, home_table[HOME_GPT2].family->model_type, home_table[HOME_LLAMA].family->model_type);
}

int export_write(
    const struct saved *saved, const char *folder, struct export_summary *summary, struct error *error)
{
    struct target target;
    int written = 0, named = 0;

    if (home_find(&saved->run, &summary->home, error) < 0)
        return error_prefix(error, "%s", saved->path);
    if (check_output_bias(saved, error) < 0 || target_init(&target, folder, error) < 0)
        return -1;
    int status = take_folder(&target, error);
    if (status == 0) {
        status = write_parts(saved, &target, summary, &written, error);
        if (status == 0)
            status = name_parts(&target, &named, error);
        if (status < 0)
            clear_up(&target, written, named);
    }
    target_release(&target);
    return status;
}
