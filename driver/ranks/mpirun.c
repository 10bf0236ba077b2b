/*
 * The command that starts ranks: which one belongs to this program's MPI, what it is asked (its release, its
 * map of hosts, its parameters), and what is checked before it starts, because it would print pages, or
 * nothing and wait forever: the user, the folder of its files, the limit of file descriptors. The launcher
 * and the dry run call the checks; each failure is one line.
 */
#include "driver/ranks/inside.h"
#include "driver/text/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_NOT_FOUND = 127 };

/*
 * What the session folder of Open MPI 4.1 takes: two segments of 4 MiB in which PMIx keeps what ranks
 * publish, and 17 small files and folders; for each rank one more folder, of a block. Where the disk is full,
 * ranks die of SIGBUS or wait forever.
 */
enum { SESSION_BYTES = 9 << 20, SESSION_FILES = 20, SESSION_RANK_BYTES = 4096, SESSION_RANK_FILES = 1 };

/* The MPIs whose starters are known. Other MPIs are started as a plain mpirun -n N. */
static const struct mpi {
    enum mpirun_kind kind;
    const char *library; /* beginning of wire_library() */
    const char *name; /* in what the command prints for --version; a number may follow */
    const char *owner; /* for messages */
    const char *command[5]; /* in order of preference: the last ones stand beside another MPI's */
} mpis[] = {
    {MPIRUN_OPEN_MPI, "Open MPI", "(Open MPI) ", "Open MPI", {"mpirun", "mpiexec", "mpirun.openmpi"}},
    {MPIRUN_OPEN_MPI, "Open RTE", "(OpenRTE) ", "Open MPI", {NULL}}, /* its mpiexec, under other names */
    {MPIRUN_HYDRA, "MPICH", "HYDRA", "MPICH", {"mpiexec", "mpirun", "mpiexec.hydra", "mpiexec.mpich"}},
    {MPIRUN_HYDRA, "MVAPICH", "HYDRA", "MPICH", {"mpiexec", "mpirun", "mpiexec.hydra"}},
    {MPIRUN_OTHER, "no MPI", NULL, NULL, {NULL}}, /* of a wheel without one: .ci/wheel */
    {MPIRUN_OTHER, "", NULL, NULL, {"mpirun", "mpiexec"}},
};

enum { MPIS = sizeof(mpis) / sizeof(*mpis) };

static const struct mpi *mpi_of(const char *library)
{
    const struct mpi *mpi = mpis;

    while (strncmp(library, mpi->library, strlen(mpi->library)) != 0)
        mpi++;
    return mpi;
}

bool mpirun_is_open_mpi(const char *library)
{
    return mpi_of(library)->kind == MPIRUN_OPEN_MPI;
}

int mpirun_check_root(struct error *error)
{
    const char *allowed = getenv("OMPI_ALLOW_RUN_AS_ROOT"), *sure = getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM");

    if (geteuid() != 0 || !mpirun_is_open_mpi(wire_library()) ||
        (allowed && sure && strcmp(allowed, "1") == 0 && strcmp(sure, "1") == 0))
        return 0;
    return error_set(error, ERROR_ENVIRONMENT,
        "as root, Open MPI requires OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in the "
        "environment");
}

const char *mpirun_hostfile_variable(const struct mpirun *mpirun)
{
    return mpirun->release >= 5 ? "PRTE_MCA_prte_default_hostfile" : "OMPI_MCA_orte_default_hostfile";
}

bool mpirun_has_allocation(const struct mpirun *mpirun)
{
    static const char *const schedulers[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE"};
    const char *file = getenv(mpirun_hostfile_variable(mpirun));

    for (size_t i = 0; i < sizeof(schedulers) / sizeof(*schedulers); i++)
        if (getenv(schedulers[i]))
            return true;
    return mpirun->hosts || (file && strcmp(file, "none") != 0);
}

/* What a command line of the shell prints on stdout, "" if it cannot be run now; NULL: there is no such
 * command. The caller frees it. */
static char *output_of(const char *command)
{
    char *line = memory_format("exec %s </dev/null 2>/dev/null", command), *text = NULL;
    FILE *file = popen(line, "re");
    size_t size = 0;

    free(line);
    if (!file)
        return memory_copy("");
    if (getdelim(&text, &size, '\0', file) < 0 && text)
        text[0] = '\0'; /* it has printed nothing */
    int status = pclose(file);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS_NOT_FOUND)
        return text;
    free(text);
    return NULL;
}

char *mpirun_map(const struct mpirun *mpirun)
{
    char *hosts = mpirun->hosts ? quote_path(mpirun->hosts) : NULL;
    char *command = memory_format("%s --oversubscribe --bind-to none --do-not-launch %s%s%s true",
        mpirun->command, mpirun->release >= 5 ? "--display map-devel" : "--display-map",
        hosts ? " --hostfile " : "", hosts ? hosts : "");
    char *text = output_of(command);

    free(hosts);
    free(command);
    return text;
}

/* Open MPI's mpirun says in pages what is wrong with a file; whether hosts can be reached shows at the start.
 */
int mpirun_check_hosts(const struct mpirun *mpirun, struct error *error)
{
    if (access(mpirun->hosts, R_OK) != 0)
        return error_set(error, ERROR_INPUT, "%s: %s", mpirun->hosts, strerror(errno));
    char *map = mpirun->release > 0 ? mpirun_map(mpirun) : NULL;
    bool none = map && !strstr(map, "Data for node: ");
    free(map);
    if (!none)
        return 0;
    return error_set(error, ERROR_INPUT, "%s: %s finds no hosts in it; each line is HOST slots=N",
        mpirun->hosts, mpirun->command);
}

/* The lines are "mca:oob:tcp:param:oob_tcp_if_include:source:default". */
bool mpirun_may_set_network(void)
{
    static const char *const names[] = {
        "btl_tcp_if_include", "btl_tcp_if_exclude", "oob_tcp_if_include", "oob_tcp_if_exclude"};
    char *text = output_of("ompi_info --parsable --level 9 --param all tcp");
    bool may = text != NULL;

    for (size_t i = 0; may && i < sizeof(names) / sizeof(*names); i++) {
        char line[64];
        snprintf(line, sizeof(line), ":%s:source:default\n", names[i]);
        may = strstr(text, line) != NULL;
    }
    free(text);
    return may;
}

/* Puts the program's folder, bin, first on the PATH if the MPI library that is loaded is in the lib beside
 * it, and mpirun in bin: so a program in an environment of Python or conda need not be activated. What is on
 * the PATH already, such as /usr/bin, keeps its place behind a site's own mpirun. */
static void prefer_own_mpirun(const char *path)
{
    char file[PATH_MAX], mpirun[PATH_MAX + 8], *program = process_program();
    char *library = realpath(environment_library_file("MPI_Init_thread", file, sizeof(file)), NULL);
    char *slash = program ? strrchr(program, '/') : NULL;

    if (slash && library) {
        *slash = '\0';
        char *bin = strrchr(program, '/');
        size_t root = bin ? (size_t)(bin - program) : 0;
        snprintf(mpirun, sizeof(mpirun), "%s/mpirun", program);
        if (bin && strncmp(program, library, root) == 0 && strncmp(library + root, "/lib", 4) == 0 &&
            access(mpirun, X_OK) == 0) {
            char *here = memory_format(":%s:", program), *all = memory_format(":%s:", path);
            char *longer = memory_format("%s:%s", program, path);
            if (!strstr(all, here))
                setenv("PATH", longer, 1);
            free(here);
            free(all);
            free(longer);
        }
    }
    free(library);
    free(program);
}

/* A command that does not say whose it is may be a site's script around the right one. */
int mpirun_find(struct mpirun *mpirun, struct error *error)
{
    const struct mpi *own = mpi_of(wire_library()), *owner = NULL;
    const char *foreign = NULL;

    if (!own->command[0])
        return error_set(error, ERROR_ENVIRONMENT, "%s; -j 0 trains without it", wire_library());
    const char *path = getenv("PATH");
    if (!path) /* execvp would find mpirun all the same, and mpirun then not what it needs */
        return error_set(error, ERROR_ENVIRONMENT,
            "%s: PATH is not set in the environment; set it, or train without MPI (-j 0)", own->command[0]);
    prefer_own_mpirun(path);
    for (int i = 0; own->command[i]; i++) {
        char *command = memory_format("%s --version", own->command[i]), *text = output_of(command);
        free(command);
        if (!text)
            continue;
        const struct mpi *mpi =
            mpis; /* whose command has printed this; the last one, of other MPIs: unknown */
        while (mpi->name && !strstr(text, mpi->name))
            mpi++;
        const char *name = mpi->name ? strstr(text, mpi->name) : NULL;
        bool fits = mpi->kind == own->kind || mpi->kind == MPIRUN_OTHER;
        if (fits)
            *mpirun = (struct mpirun){.kind = mpi->kind, .command = own->command[i]};
        if (fits && name && mpi->kind == MPIRUN_OPEN_MPI)
            mpirun->release = (int)strtol(name + strlen(mpi->name), NULL, 10);
        free(text);
        if (fits)
            return 0;
        foreign = foreign ? foreign : own->command[i];
        owner = mpi;
    }
    if (foreign)
        return error_set(error, ERROR_ENVIRONMENT,
            "%s belongs to %s, but this program is built with %s: put that library's mpiexec first on the "
            "PATH; -j 0 trains without MPI",
            foreign, owner->owner, wire_library());
    return error_set(error, ERROR_ENVIRONMENT, "%s: not found; -j 0 trains without MPI", own->command[0]);
}

const char *mpirun_folder(const char **variable)
{
    static const char *const variables[] = {SESSION_VARIABLE, "TMPDIR", "TEMP", "TMP"};

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        if (getenv(variables[i])) {
            *variable = variables[i];
            return getenv(variables[i]);
        }
    *variable = "";
    return "/tmp";
}

int mpirun_check_folder(int ranks, bool look, struct error *error)
{
    unsigned long long bytes = SESSION_BYTES + SESSION_RANK_BYTES * (unsigned long long)ranks;
    unsigned long long files = SESSION_FILES + SESSION_RANK_FILES * (unsigned long long)ranks;
    bool root = geteuid() == 0; /* it may use what is reserved */
    const char *variable, *set = mpirun_folder(&variable), *folder = set[0] ? set : "/";
    char *path = memory_format("%s/%s", folder, look ? "." : "normsweep-XXXXXX"), why[128] = "";
    struct statvfs disk;
    /* mpirun would create the folder itself as well, and leave it behind. */
    bool can = look ? access(path, W_OK | X_OK) == 0 : mkdtemp(path) != NULL;
    int cause = errno;

    if (can && !look)
        rmdir(path);
    free(path);
    if (!can)
        snprintf(why, sizeof(why), "%s", strerror(cause));
    if ((can || cause == ENOSPC) && statvfs(folder, &disk) == 0 && disk.f_blocks > 0) {
        unsigned long long free_bytes = (root ? disk.f_bfree : disk.f_bavail) * disk.f_frsize;
        unsigned long long free_files = root ? disk.f_ffree : disk.f_favail;
        if (free_bytes < bytes)
            snprintf(
                why, sizeof(why), "%llu KiB are free, %llu KiB are needed", free_bytes >> 10, bytes >> 10);
        else if (disk.f_files > 0 && free_files < files) /* some file systems do not count files */
            snprintf(
                why, sizeof(why), "there is room for %llu more files, %llu are needed", free_files, files);
    }
    if (!why[0])
        return 0;
    return error_set(error, ERROR_ENVIRONMENT,
        "mpirun cannot write its files into %s%s%s%s: %s; set %s to another folder, or train without MPI (-j "
        "0)",
        folder, variable[0] ? " ($" : "", variable, variable[0] ? ")" : "", why,
        variable[0] ? variable : "TMPDIR");
}

/*
 * Open MPI 4.1 needs 30 descriptors and 4 for each worker and each spare. Other releases and transports may
 * open more, hence the margin. The limit is not raised to the maximum, because programs that loop over all
 * descriptors become slow under a very high limit. An mpirun that cannot open the pipes of a rank reports
 * nothing, starts the other ranks, and waits for the missing one forever.
 */
enum {
    LEAST = 40, /* of mpirun and the coordinator */
    LEAST_RANK = 5,
    ROOM = 4, /* the limit is raised to this many times the least */
    USUAL = 1024, /* a message proposes a multiple of this */
};

int descriptors_reserve(int workers, int spares, struct error *error)
{
    rlim_t least = LEAST + LEAST_RANK * ((rlim_t)workers + (rlim_t)spares),
           usual = (least + USUAL - 1) / USUAL * USUAL;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= least)
        return 0;
    if (limit.rlim_max < least)
        return error_set(error, ERROR_ENVIRONMENT,
            "mpirun needs %llu file descriptors for %d worker%s and %d spare%s, and the hard limit (ulimit "
            "-Hn) is "
            "%llu; have it raised to %llu, take fewer workers (-j), or train without MPI (-j 0)",
            (unsigned long long)least, workers, workers == 1 ? "" : "s", spares, spares == 1 ? "" : "s",
            (unsigned long long)limit.rlim_max, (unsigned long long)usual);
    limit.rlim_cur = limit.rlim_max < ROOM * least ? limit.rlim_max : ROOM * least;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return error_set(
            error, ERROR_ENVIRONMENT, "the limit of file descriptors cannot be raised: %s", strerror(errno));
    return 0;
}
