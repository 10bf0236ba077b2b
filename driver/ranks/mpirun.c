#include "driver/ranks/mpirun.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_NOT_FOUND = 127 };

int mpirun_rank(void)
{
    const char *rank = getenv("PMIX_RANK");

    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank ? (int)strtol(rank, NULL, 10) : -1;
}

static bool allows_root(const char *name)
{
    const char *value = getenv(name);
    return value && strcmp(value, "1") == 0;
}

int mpirun_check_root(struct error *error)
{
    if (geteuid() != 0 ||
        (allows_root("OMPI_ALLOW_RUN_AS_ROOT") && allows_root("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")))
        return 0;
    return error_set(error, ERROR_ENVIRONMENT,
        "as root, Open MPI requires OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in the "
        "environment");
}

/* In the child: runs `mpirun --version` with its output in `out`. */
static void become_version(int out)
{
    char *argument[] = {(char[]){"mpirun"}, (char[]){"--version"}, NULL};
    int nothing = open("/dev/null", O_RDWR);

    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    execvp(argument[0], argument);
    _exit(STATUS_NOT_FOUND);
}

/* The major release of Open MPI; 0: another MPI; -1: there is no mpirun. */
static int mpirun_release(void)
{
    static const char name[] = "(Open MPI) ";
    char said[4096];
    size_t length = 0;
    ssize_t count;
    int out[2], status = 0;

    if (pipe2(out, O_CLOEXEC) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0)
        become_version(out[1]);
    close(out[1]);
    while (length < sizeof(said) - 1 && (count = read(out[0], said + length, sizeof(said) - 1 - length)) > 0)
        length += (size_t)count;
    said[length] = '\0';
    close(out[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NOT_FOUND))
        return -1;
    const char *release = strstr(said, name);
    return release ? (int)strtol(release + strlen(name), NULL, 10) : 0;
}

int mpirun_find(struct error *error)
{
    int release = mpirun_release();

    if (release < 0)
        return error_set(error, ERROR_ENVIRONMENT, "mpirun: not found; -j 0 trains without MPI");
    return release;
}

const char *mpirun_folder(const char **variable)
{
    static const char *const variables[] = {"OMPI_MCA_orte_tmpdir_base", "TMPDIR", "TEMP", "TMP"};

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        if (getenv(variables[i])) {
            *variable = variables[i];
            return getenv(variables[i]);
        }
    *variable = "";
    return "/tmp";
}

/* Frees the path and returns the folder that contains it, which the caller frees. NULL: no memory. */
static char *parent_of(char *path)
{
    char *parent = strdup(dirname(path));

    free(path);
    return parent;
}

/* Can a folder be created in this one, or in the nearest existing folder above it? 0 or an errno. */
static int try_folder(const char *folder)
{
    char *above = strdup(folder[0] ? folder : "/"), *path = NULL;
    struct stat status;

    while (above && stat(above, &status) != 0 && errno == ENOENT && strcmp(above, "/") != 0 &&
           strcmp(above, ".") != 0)
        above = parent_of(above);
    if (!above || asprintf(&path, "%s/normsweep-XXXXXX", above) < 0)
        path = NULL;
    int cause = !path ? ENOMEM : mkdtemp(path) ? 0 : errno;
    if (path && cause == 0)
        rmdir(path);
    free(path);
    free(above);
    return cause;
}

int mpirun_check_folder(struct error *error)
{
    const char *variable, *folder = mpirun_folder(&variable);
    int cause = try_folder(folder);

    if (cause == 0)
        return 0;
    return error_set(error, ERROR_ENVIRONMENT,
        "mpirun cannot write its files into %s%s%s%s: %s; set %s to a folder that can be written, or train "
        "without MPI (-j 0)",
        folder[0] ? folder : "/", variable[0] ? " ($" : "", variable, variable[0] ? ")" : "", strerror(cause),
        variable[0] ? variable : "TMPDIR");
}
