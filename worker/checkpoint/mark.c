/*
 * The coordinator's mark in the folder of checkpoints. Workers of a coordinator that has lost its lease must
 * not write there any more, and its mark is how they know.
 */
#include "worker/checkpoint/inside.h"
#include "worker/host/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAUSE 0.1 /* seconds between two looks */

static int path_of(char path[PATH_MAX], const char *folder, const char *mark)
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, mark) < PATH_MAX ? 0 : ENAMETOOLONG;
}

int mark_leave(const char *folder, int64_t session, char mark[MARK_SIZE], struct error *error)
{
    char path[PATH_MAX];
    uint64_t number = 0;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", folder, strerror(errno));
    remove_matching(folder, MARK_FILES);
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", folder, strerror(errno));
    snprintf(mark, MARK_SIZE, "coordinator-%06lld-%012llx.mark", (long long)session,
        (unsigned long long)number & 0xffffffffffff);
    int status = path_of(path, folder, mark);
    int file = status == 0 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (file >= 0) {
        close(file);
        return 0;
    }
    mark[0] = '\0';
    return error_set(error, ERROR_ENVIRONMENT, "%s: %s", folder, strerror(status ? status : errno));
}

/* Opens the file, as a client of a network file system then asks the server instead of its cache. */
int mark_look(const char *folder, const char *mark)
{
    char path[PATH_MAX];
    int status = path_of(path, folder, mark);
    int file = status == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (file < 0)
        return status ? status : errno;
    close(file);
    return 0;
}

int mark_admits(const char *folder, const char *mark)
{
    if (mark)
        return mark_look(folder, mark);
    return mkdir(folder, 0777) == 0 || errno == EEXIST ? 0 : errno;
}

/* Makes a client of a network file system ask the server what is in the folder, and whether there is one,
 * rather than its cache: it does so when a folder is opened. */
static void refresh(const char *folder)
{
    char path[PATH_MAX];
    int above;

    snprintf(path, sizeof(path), "%s", folder);
    above = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above >= 0)
        close(above);
    DIR *inside = opendir(folder);
    if (inside)
        closedir(inside);
}

int mark_await(const char *folder, const char *mark, double seconds)
{
    double end = clock_now() + seconds;
    int status;

    while ((status = mark_look(folder, mark)) != 0 && clock_now() < end) {
        refresh(folder);
        clock_pause(PAUSE);
    }
    return status;
}

/* The folder is not made again: where it is gone, so is what the workers have saved. */
void mark_renew(const char *folder, const char *mark)
{
    char path[PATH_MAX];
    int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    int file = path_of(path, folder, mark) == 0 ? open(path, flags, 0666) : -1;

    if (file < 0)
        return;
    futimens(file, NULL);
    close(file);
}

void mark_remove(const char *folder, const char *mark)
{
    char path[PATH_MAX];

    if (mark[0] && path_of(path, folder, mark) == 0)
        unlink(path);
}
