/* Files and processes of tests. */
#include "tests/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void name(char path[SCRATCH_PATH])
{
    const char *above = getenv("TMPDIR");

    snprintf(path, SCRATCH_PATH, "%.40s/normsweep-XXXXXX", above ? above : P_tmpdir);
}

void scratch_file(char path[SCRATCH_PATH])
{
    name(path);
    int file = mkstemp(path);
    CHECK(file >= 0 && close(file) == 0);
}

void scratch_folder(char path[SCRATCH_PATH])
{
    name(path);
    CHECK(mkdtemp(path) != NULL);
}

/* The next entry of a folder whose name ends so; NULL: there is none. */
static const char *next(DIR *entries, const char *suffix)
{
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        size_t length = strlen(entry->d_name), end = strlen(suffix);
        if (entry->d_name[0] != '.' && length >= end && strcmp(entry->d_name + length - end, suffix) == 0)
            return entry->d_name;
    }
    if (entries)
        closedir(entries);
    return NULL;
}

int count_files(const char *folder, const char *suffix)
{
    DIR *entries = opendir(folder);
    int count = 0;

    while (next(entries, suffix))
        count++;
    return count;
}

void remove_files(const char *folder, const char *suffix)
{
    DIR *entries = opendir(folder);

    for (const char *file; (file = next(entries, suffix));)
        unlinkat(dirfd(entries), file, 0);
}

void scratch_remove(const char *folder)
{
    remove_files(folder, "");
    CHECK(rmdir(folder) == 0);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)kind, (void)at;
    return remove(path);
}

void scratch_remove_all(const char *folder)
{
    CHECK(nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

void put_bytes(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    CHECK(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    close(file);
}

void put_text(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

char *get_bytes(const char *path, size_t *size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    *size = 0;
    if (file < 0)
        return NULL;
    CHECK(fstat(file, &status) == 0);
    *size = (size_t)status.st_size;
    char *bytes = calloc(*size + 1, 1);
    CHECK(read(file, bytes, *size) == (ssize_t)*size && close(file) == 0);
    return bytes;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

int in_child(int (*act)(void *context), void *context)
{
    int status = 0;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(act(context));
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
