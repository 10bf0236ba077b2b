/*
 * The folder beside an output, OUT.nc.d: checkpoints of unfinished runs, final weights, logs. It is cleared
 * when all runs have ended, and follows its output when that is set aside or grows. Files are moved one by
 * one, and a move that was interrupted is repeated by the next start; a removal that fails leaves a file
 * behind and is not an error, except where checkpoint_clear() says so.
 */
#include "driver/output/inside.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/host/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *folder_of(const char *output)
{
    char *folder;

    return asprintf(&folder, "%s.d", output) < 0 ? NULL : folder;
}

char *folder_states(const char *output)
{
    char *states;

    return asprintf(&states, "%s.d/" KEEPER_STATES, output) < 0 ? NULL : states;
}

int folder_clear(const char *output, bool with_states, struct error *error)
{
    char *folder = folder_of(output), *states = folder_states(output);

    if (!folder || !states) {
        free(folder);
        free(states);
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", output);
    }
    remove_matching(folder, LOG_FILES);
    remove_matching(folder, MARK_FILES);
    int status = checkpoint_clear(folder, false, error);
    if (status == 0)
        status = checkpoint_clear(states, !with_states, error);
    if (with_states)
        rmdir(states);
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

int folder_set_aside(const char *output, struct error *error)
{
    char *folder = folder_of(output), *old = NULL, *states = NULL;
    int status = 0;

    if (!folder || asprintf(&old, "%s.old.d", output) < 0) {
        free(folder);
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", output);
    }
    /* What is of an earlier output goes, unless somebody else has put files there. */
    remove_matching(old, LOG_FILES);
    remove_matching(old, MARK_FILES);
    if (asprintf(&states, "%s/" KEEPER_STATES, old) >= 0) {
        remove_runs(states);
        free(states);
    }
    remove_runs(old);
    if (rename(folder, old) != 0 && errno != ENOENT)
        status = error_set(error, ERROR_ENVIRONMENT, "%s: %s", old, strerror(errno));
    free(folder);
    free(old);
    return status;
}

/* Moves a file to the folder `to`, which is made when it is needed. 0 or an errno. */
static int move_file(int folder, const char *name, const char *to)
{
    char *path;

    if (asprintf(&path, "%s/%s", to, name) < 0)
        return ENOMEM;
    int status = renameat(folder, name, AT_FDCWD, path) == 0 ? 0 : errno;
    if (status == ENOENT && (mkdir(to, 0777) == 0 || errno == EEXIST))
        status = renameat(folder, name, AT_FDCWD, path) == 0 ? 0 : errno;
    free(path);
    return status;
}

int folder_move_runs(const char *output, const char *old, struct error *error)
{
    char *from = folder_of(output), *to = folder_of(old);
    DIR *directory = from && to ? opendir(from) : NULL;
    int status = from && to ? errno : ENOMEM;
    const struct dirent *entry;

    if (directory) {
        status = 0;
        while (errno = 0, status == 0 && (entry = readdir(directory)))
            if (is_of_run(entry->d_name))
                status = move_file(dirfd(directory), entry->d_name, to);
        status = status ? status : errno;
        closedir(directory);
    } else if (status == ENOENT) {
        status = 0;
    }
    free(from);
    free(to);
    return status == 0 ? 0 : error_set(error, ERROR_ENVIRONMENT, "%s.d: %s", old, strerror(status));
}
