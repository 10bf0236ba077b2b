/*
 * mpirun removes its files when it ends, unless it is killed with SIGKILL. Then a folder of locks and shared
 * memory stays in the folder of temporary files, and a segment of shared memory for each rank stays in
 * /dev/shm. Their names are in the environment of every rank: the path of the folder, and the number of the
 * job, which Open MPI 5 shows only in the segments that a rank has mapped. (Open MPI 4.1 and 5.0; only files
 * with exactly these names are removed.) The launcher looks at the ranks while they start, and tidies up once
 * they are gone; what cannot be removed stays.
 */
#include "driver/ranks/inside.h"
#include "driver/text/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OVERDUE_SECONDS 60 /* from the start of a rank to the next; a cold disk loads programs slowly */
#define SEGMENTS "/dev/shm"

enum { FOLDERS_MOST = 16 };

/* What mpirun leaves, by its release. The names begin "vader_segment.HOST.UID.JOB.RANK", the job in
 * hexadecimal digits, and "pid.PID" or "ompi.PID". */
static const struct names {
    const char *session_variable, *session, *segment, *segments_variable;
} names_of_4 = {"OMPI_MCA_orte_jobfam_session_dir", "pid", "vader_segment",
    "OMPI_MCA_btl_vader_backing_directory"},
  names_of_5 = {"PMIX_SERVER_TMPDIR", "ompi", "sm_segment", "OMPI_MCA_btl_sm_backing_directory"};

void rank_processes_init(struct rank_processes *ranks, pid_t command, bool proxied, double now)
{
    *ranks = (struct rank_processes){.command = command, .proxied = proxied, .mpirun = command, .grown = now};
}

/* The job of a segment that the process has mapped; 0: none. */
static unsigned long mapped_job(long pid)
{
    char path[64], *line = NULL;
    unsigned long job = 0;
    size_t size = 0;

    snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
    FILE *file = fopen(path, "re");
    while (!job && file && getline(&line, &size, file) > 0) {
        char *segment = strstr(line, "/sm_segment."), *rank = segment ? strrchr(segment, '.') : NULL;
        if (rank) {
            *rank = '\0';
            job = strtoul(strrchr(segment, '.') + 1, NULL, 16);
        }
    }
    free(line);
    if (file)
        fclose(file);
    return job;
}

static void visit(void *context, long pid, long parent)
{
    struct rank_processes *ranks = context;

    if (!process_is_alike(pid))
        return;
    ranks->ranks++;
    if (ranks->proxied && parent != ranks->command)
        parent = process_parent(parent);
    if (ranks->mpirun_process.pid != parent)
        ranks->mpirun_process = process_of(parent);
    ranks->mpirun = (pid_t)parent;
    /* The names of mpirun's files are in a rank's environment. */
    if (!ranks->session)
        ranks->session = process_variable(pid, names_of_4.session_variable);
    if (!ranks->session) {
        ranks->session = process_variable(pid, names_of_5.session_variable);
        if (ranks->session)
            ranks->release_5 = !ranks->proxied;
    }
    if (!ranks->job) {
        char *job = process_variable(pid, "OMPI_MCA_ess_base_jobid");
        if (job)
            ranks->job = strtoul(job, NULL, 10);
        free(job);
    }
    if (!ranks->job && ranks->release_5)
        ranks->job = mapped_job(pid);
}

void rank_processes_look(struct rank_processes *ranks, double now)
{
    ranks->ranks = 0;
    if (!process_walk(ranks->command, visit, ranks)) {
        ranks->ranks = -1;
    } else if (ranks->ranks > ranks->most) {
        ranks->most = ranks->ranks;
        ranks->grown = now;
    }
}

bool rank_processes_lost(const struct rank_processes *ranks, int expected, double now)
{
    if (ranks->ranks < 0 || ranks->most == 0)
        return false;
    return ranks->ranks < ranks->most || (ranks->ranks < expected && now - ranks->grown > OVERDUE_SECONDS);
}

/* ---- files left behind ---- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)kind, (void)at;
    remove(path);
    return 0;
}

static void remove_segments(const struct rank_processes *ranks, const struct names *names)
{
    const char *folder = getenv(names->segments_variable);
    DIR *entries = opendir(folder ? folder : SEGMENTS);
    char host[HOST_SIZE], prefix[128], *end;
    const struct dirent *entry;

    environment_host(host, sizeof(host));
    snprintf(prefix, sizeof(prefix), "%s.%s.%u.", names->segment, host, (unsigned)geteuid());
    while (entries && (entry = readdir(entries)))
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            strtoul(entry->d_name + strlen(prefix), &end, 16) == ranks->job && *end == '.')
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

/*
 * Where the session folder is of an mpirun that was killed before a rank of it was seen. In
 * Open MPI 5 only its number names it. mpirun 4 leaves the domain out of the name of its machine, unless it
 * is told not to. The name is compared because machines may share the folder of temporary files, and each may
 * have a process of this number.
 */
static char *find_session(const struct rank_processes *ranks)
{
    const char *variable, *folder = mpirun_folder(&variable);
    char host[HOST_SIZE], *path;

    if (ranks->release_5)
        return memory_format("%s/ompi.%ld", folder, (long)ranks->mpirun);
    environment_host(host, sizeof(host));
    for (size_t length = strlen(host);; length = strcspn(host, ".")) {
        host[length] = '\0';
        path = memory_format("%s/ompi.%s.%u/pid.%ld", folder, host, (unsigned)geteuid(), (long)ranks->mpirun);
        if (access(path, F_OK) == 0 || !strchr(host, '.'))
            return path;
        free(path);
    }
}

void rank_processes_tidy(struct rank_processes *ranks)
{
    char *session = ranks->session ? ranks->session : find_session(ranks), own[64];
    char *slash = strrchr(session, '/');
    const struct names *names = ranks->release_5 ? &names_of_5 : &names_of_4;

    ranks->session = NULL;
    snprintf(own, sizeof(own), "/%s.%ld", names->session, (long)ranks->mpirun);
    /* Else it is not the folder of this mpirun, or mpirun has removed its files itself. */
    if (slash && strcmp(slash, own) == 0 && access(session, F_OK) == 0) {
        nftw(session, remove_entry, FOLDERS_MOST, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
        *slash = '\0';
        if (!ranks->release_5)
            rmdir(session); /* the folder above; fails if another mpirun has a folder in it */
        if (ranks->job)
            remove_segments(ranks, names);
    }
    free(session);
}
