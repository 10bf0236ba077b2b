/* What an mpirun that was killed before any of its ranks was seen has left in the folder of temporary files.
 */
#include "driver/ranks/inside.h"
#include "tests/scratch.h"

#include <sys/stat.h>
#include <sys/wait.h>

#define FOLDER_VARIABLE "OMPI_MCA_orte_tmpdir_base"

enum { HOST = 48, PATH = 192 };

struct residence {
    char folder[SCRATCH_PATH], host[HOST];
    unsigned user;
    long dead; /* the number of a process that has ended */
};

static long end_a_process(void)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return child;
}

static void place_init(struct residence *place)
{
    *place = (struct residence){.user = (unsigned)geteuid(), .dead = end_a_process()};
    scratch_folder(place->folder);
    CHECK(gethostname(place->host, sizeof(place->host)) == 0);
    setenv(FOLDER_VARIABLE, place->folder, 1);
}

/* The folder of a machine and user, and in it that of an mpirun. */
static void name(const struct residence *place, const char *host, unsigned user, long pid, char above[PATH],
    char path[PATH])
{
    snprintf(above, PATH, "%s/ompi.%s.%u", place->folder, host, user);
    snprintf(path, PATH, "%.140s/pid.%ld", above, pid);
}

/* As mpirun leaves it: with a file in a folder below. */
static void make_session(const struct residence *place, const char *host, unsigned user, long pid)
{
    char above[PATH], path[PATH], inner[PATH + 8], file[PATH + 24];

    name(place, host, user, pid, above, path);
    snprintf(inner, sizeof(inner), "%s/0", path);
    snprintf(file, sizeof(file), "%s/contact.txt", inner);
    mkdir(above, 0700);
    CHECK(mkdir(path, 0700) == 0 && mkdir(inner, 0700) == 0);
    put_text(file, "");
}

static bool is_left(const struct residence *place, const char *host, unsigned user, long pid)
{
    char above[PATH], path[PATH];

    name(place, host, user, pid, above, path);
    return access(path, F_OK) == 0;
}

static void tidy(const struct residence *place)
{
    struct rank_processes ranks;

    rank_processes_init(&ranks, (pid_t)place->dead, false, 0);
    rank_processes_tidy(&ranks);
}

static void place_release(struct residence *place)
{
    unsetenv(FOLDER_VARIABLE);
    scratch_remove_all(place->folder);
}

#define IN_RESIDENCE(id) TEST_IN(id, struct residence, place, place_init(place), place_release(place))

IN_RESIDENCE(session_of_an_mpirun_that_was_killed_early_is_removed)
{
    char above[PATH], path[PATH];

    make_session(place, place->host, place->user, place->dead);
    tidy(place);
    name(place, place->host, place->user, place->dead, above, path);
    CHECK(access(path, F_OK) != 0 && access(above, F_OK) != 0);
    tidy(place); /* nothing is left to be done */
}

IN_RESIDENCE(session_of_release_5_is_removed)
{
    struct rank_processes ranks;
    char own[PATH], other[PATH];

    snprintf(own, PATH, "%s/ompi.%ld", place->folder, place->dead);
    snprintf(other, PATH, "%s/ompi.%ld", place->folder, 10 * place->dead);
    CHECK(mkdir(own, 0700) == 0 && mkdir(other, 0700) == 0);
    rank_processes_init(&ranks, (pid_t)place->dead, false, 0);
    ranks.release_5 = true;
    rank_processes_tidy(&ranks);
    CHECK(access(own, F_OK) != 0 && access(other, F_OK) == 0);
}

/* Of another mpirun, with a number that begins alike; of another user; of another machine. */
IN_RESIDENCE(session_of_another_mpirun_is_left)
{
    char other[HOST + 2];

    snprintf(other, sizeof(other), "%s2", place->host);
    for (int own = 0; own < 2; own++) { /* the second time, mpirun has not removed its own */
        if (own) {
            make_session(place, place->host, place->user, place->dead);
        } else {
            make_session(place, place->host, place->user, 10 * place->dead);
            make_session(place, place->host, place->user + 1, place->dead);
            make_session(place, other, place->user, place->dead);
        }
        tidy(place);
        CHECK(!is_left(place, place->host, place->user, place->dead));
        CHECK(is_left(place, place->host, place->user, 10 * place->dead));
        CHECK(is_left(place, place->host, place->user + 1, place->dead));
        CHECK(is_left(place, other, place->user, place->dead));
    }
}
