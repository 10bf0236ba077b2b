/*
 * What becomes of results when the dataset's path no longer leads to the open file: somebody has renamed,
 * replaced or removed it while the sweep ran. The sweep stops, and its last commit goes to that file, which
 * this process still holds; a file without a name is copied first. See dataset_keep.
 */
#include "driver/dataset/ledger/inside.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

/* Does a path lead to the open file? 1: yes; 0: to another file, or to none; -1: unknown. */
static int leads_to(const char *path, int descriptor)
{
    struct stat there, open;

    if (fstat(descriptor, &open) != 0)
        return -1;
    if (stat(path, &there) != 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    return there.st_dev == open.st_dev && there.st_ino == open.st_ino;
}

/* Looks at both paths: a link may lead elsewhere, and the current folder may have been renamed. */
bool dataset_is_moved(const struct dataset *dataset)
{
    int file = dataset->buffer.descriptor;

    return leads_to(dataset->name, file) == 0 || leads_to(dataset->path, file) == 0;
}

/* Finds the present path of the open file. False: it has no name that lasts. NFS keeps a removed file as
 * .nfs... until it is closed. */
static bool find_path(int descriptor, char path[PATH_MAX])
{
    char link[32];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    return slash && strncmp(slash, "/.nfs", 5) != 0 && leads_to(path, descriptor) == 1;
}

/* Names the copy `new` OUT.nc.ours, or with the first number that is free. *ours: its path, owned. 0 or an
 * errno. */
static int name_copy(const char *new, const char *path, char **ours)
{
    for (int i = 0;; i++) {
        char number[16] = "";
        if (i > 0)
            snprintf(number, sizeof(number), ".%d", i);
        if (asprintf(ours, "%s.ours%s", path, number) < 0)
            return ENOMEM;
        int status = output_name(new, *ours);
        if (status == 0)
            return 0;
        free(*ours);
        if (status != EEXIST)
            return status;
    }
}

/* Copies the open file beside its old path, and then writes the copy instead. *ours: its path, owned. 0 or an
 * errno, and the open file is still the old one. */
static int copy_beside(struct dataset *dataset, const struct breath *breath, char **ours)
{
    char *new;
    int copy = -1, status = output_fresh(dataset->path, &new);
    char *folder = status == 0 ? output_folder(new) : NULL;
    struct stat old;

    if (status == 0 && !folder)
        status = ENOMEM;
    if (status == 0) {
        copy = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        status = copy < 0 ? errno : write_buffer_copy(&dataset->buffer, copy, breath);
    }
    if (status == 0 && fstat(dataset->buffer.descriptor, &old) == 0)
        fchmod(copy, old.st_mode & 0777); /* readers of the file can read the copy, and no others */
    if (status == 0)
        status = name_copy(new, dataset->path, ours);
    if (status == 0) {
        sync_folder(folder); /* if this fails, the copy has its name all the same */
        write_buffer_turn_to(&dataset->buffer, copy);
    } else if (copy >= 0) {
        close(copy);
        unlink(new);
    }
    free(new);
    free(folder);
    return status;
}

/* The path of the copy as the user has written that of the output, unless a link is in between. Frees
 * `ours`. */
static char *as_written(const struct dataset *dataset, char *ours)
{
    char *written;

    if (asprintf(&written, "%s%s", dataset->name, ours + strlen(dataset->path)) < 0)
        return ours;
    bool same = leads_to(written, dataset->buffer.descriptor) == 1;
    free(same ? ours : written);
    return same ? written : ours;
}

int dataset_keep(struct dataset *dataset, const struct breath *breath, struct error *line)
{
    char path[PATH_MAX], *ours;

    if (!dataset->ours && find_path(dataset->buffer.descriptor, path)) {
        bool in_place = strcmp(path, dataset->path) == 0; /* a link was changed */
        if (leads_to(dataset->name, dataset->buffer.descriptor) == 1)
            error_set(line, ERROR_ENVIRONMENT,
                "%s: its path changed while its sweep ran, so the sweep has stopped; all results are there; "
                "run the same command again to continue",
                dataset->name);
        else
            error_set(line, ERROR_ENVIRONMENT,
                "%s: %s %s while its sweep ran, so the sweep has stopped; all results are there; to "
                "continue, "
                "%s and run the same command again",
                dataset->name, in_place ? "was led away from" : "was renamed to", path,
                in_place ? "let it lead there" : "rename it back");
        return 0;
    }
    if (!dataset->ours) {
        dataset->fate = access(dataset->name, F_OK) == 0 ? "replaced by another file" : "removed";
        int status = copy_beside(dataset, breath, &ours);
        if (status != 0)
            return error_set(line, ERROR_ENVIRONMENT,
                "%s: was %s while its sweep ran, and its results cannot be copied to a file beside it: %s",
                dataset->name, dataset->fate, strerror(status));
        dataset->ours = as_written(dataset, ours);
    }
    error_set(line, ERROR_ENVIRONMENT,
        "%s: was %s while its sweep ran, so the sweep has stopped; all results are in %s; to continue, "
        "rename that file to the output's path and run the same command again",
        dataset->name, dataset->fate, dataset->ours);
    return 0;
}
