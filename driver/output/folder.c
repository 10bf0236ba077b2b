#include "driver/output/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker/checkpoint/checkpoint.h"
#include "worker/checkpoint/files.h"
#include "worker/checkpoint/keeper.h"
#include "worker/checkpoint/mark.h"
#include "worker/host/log.h"

char *folder_of(const char *output)
{
    char *folder;

    return asprintf(&folder, "%s.d", output) < 0 ? NULL : folder;
}

static int folder_no_memory(const char *output, struct error *error)
{
    return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", output);
}

/* The folder of states in a folder of checkpoints. The caller frees it; NULL: no memory. */
static char *states_of(const char *folder)
{
    char *states;

    return asprintf(&states, "%s/" KEEPER_STATES, folder) < 0 ? NULL : states;
}

int folder_clear(const char *output, struct error *error)
{
    char *folder = folder_of(output), *states = folder ? states_of(folder) : NULL;

    if (!states) {
        free(folder);
        return folder_no_memory(output, error);
    }
    log_sweep(folder);
    mark_sweep(folder);
    int status = checkpoint_clear(folder, error);
    status = status == 0 ? checkpoint_clear_parts(states, error) : status;
    rmdir(folder); /* fails if something is left in it, which is fine */
    free(states);
    free(folder);
    return status;
}

/* The names of files of runs begin with a digest. */
static bool is_of_run(const char *name)
{
    return strspn(name, "0123456789abcdef") == DIGEST_TEXT - 1;
}

/* Removes the files of runs from a folder, then the folder, unless something is left in it. */
static void remove_runs(const char *folder)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;

    while (directory && (entry = readdir(directory)))
        if (is_of_run(entry->d_name))
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(folder);
}

/* Removes the files of runs and workers, then the folder, unless it contains files of somebody else. */
static void remove_whole(const char *folder)
{
    char *states = states_of(folder);

    log_sweep(folder);
    mark_sweep(folder);
    if (states)
        remove_runs(states);
    free(states);
    remove_runs(folder);
}

int folder_set_aside(const char *output, struct error *error)
{
    char *folder = folder_of(output), *old = NULL;
    int status = 0;

    if (!folder || asprintf(&old, "%s.old.d", output) < 0) {
        free(folder);
        return folder_no_memory(output, error);
    }
    remove_whole(old); /* its output has been replaced */
    if (rename(folder, old) != 0 && errno != ENOENT)
        status = error_set(error, ERROR_ENVIRONMENT, "%s: %s", old, strerror(errno));
    free(folder);
    free(old);
    return status;
}
