/* Leases on servers that do not answer, on disks that fail, and between contenders at the same moment. */
#include "driver/output/lease.h"
#include "tests/failing.h"
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RECORD = 384, YOUNG = 0, OLD = 70 };

struct place {
    char folder[64], output[96], file[112];
};

static void place_init(struct place *place)
{
    const char *above = getenv("TMPDIR");

    snprintf(place->folder, sizeof(place->folder), "%.40s/lease-XXXXXX", above ? above : "/tmp");
    CHECK(mkdtemp(place->folder) != NULL);
    snprintf(place->output, sizeof(place->output), "%s/a.nc", place->folder);
    snprintf(place->file, sizeof(place->file), "%s.lease", place->output);
}

/* Removes all files, or those whose names have been lengthened by so many letters. */
static int clear(const struct place *place, size_t longer)
{
    DIR *entries = opendir(place->folder);
    int removed = 0;

    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        if (entry->d_name[0] != '.' && (!longer || strlen(entry->d_name) == strlen("a.nc.lease") + longer))
            removed += unlinkat(dirfd(entries), entry->d_name, 0) == 0;
    if (entries)
        closedir(entries);
    return removed;
}

static void place_release(const struct place *place)
{
    clear(place, 0);
    CHECK(rmdir(place->folder) == 0);
}

/* Puts a lease of another machine in place of the file, last renewed `age` seconds ago. */
static void write_foreign(const char *path, int pid, int age)
{
    char record[RECORD], new[128];

    snprintf(new, sizeof(new), "%s.made", path);
    int file = open(new, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    memset(record, ' ', sizeof(record));
    int length = snprintf(
        record, sizeof(record), "pid %d start 5 on elsewhere/pid:[1] stage 1 status 0 life 0 kept 0", pid);
    record[length] = ' ';
    record[sizeof(record) - 1] = '\n';
    CHECK(write(file, record, sizeof(record)) == (ssize_t)sizeof(record));
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    CHECK(futimens(file, times) == 0);
    close(file);
    CHECK(rename(new, path) == 0);
}

static struct lease *take(const struct place *place)
{
    struct lease *lease = NULL;
    struct error error = {.text = ""};

    if (lease_take(&lease, place->output, &error) != 0)
        test_fail(__FILE__, __LINE__, "%s", error.text);
    return lease;
}

/* ---- each call fails once ---- */

static bool is_said(const struct error *error)
{
    return strstr(error->text, "a.nc") && strstr(error->text, ": ") && !strchr(error->text, '\n');
}

/* Takes the lease where there is a dead one, or none. */
static bool try_taking(const struct place *place, const struct failing_kind *kind, bool dead)
{
    struct lease *lease = NULL;
    struct error error = {.text = ""};

    clear(place, 0);
    if (dead)
        write_foreign(place->file, 77, OLD);
    failing_anew(kind->calls, kind->cause);
    int taken = lease_take(&lease, place->output, &error);
    bool failed = failing_end();
    if (taken != 0 && !is_said(&error))
        test_fail(__FILE__, __LINE__, "%s: '%s'", kind->calls, error.text);
    CHECK((taken == 0) == (lease != NULL) && (taken == 0 || failed));
    CHECK(taken != 0 || lease_renew(lease, &error) == 0);
    lease_release(lease);
    lease = take(place);
    lease_release(lease);
    CHECK(access(place->file, F_OK) != 0);
    return failed;
}

TEST(lease_calls_fail_while_it_is_taken)
{
    struct place place = {0};

    place_init(&place);
    for (int i = 0; i < failing_kind_count; i++, failing_forget())
        while (try_taking(&place, &failing_kinds[i], false))
            ;
    for (int i = 0; i < failing_kind_count; i++, failing_forget())
        while (try_taking(&place, &failing_kinds[i], true))
            ;
    place_release(&place);
}

/* All that a launcher and its coordinator do with a lease that is theirs; how often it is said to be lost. */
static int use(struct lease *launcher, const char *output)
{
    struct lease *coordinator = NULL;
    struct error error;
    int lost = lease_begin_life(launcher, &error) != 0;

    lost += lease_join(&coordinator, output, lease_token(launcher), &error) != 0;
    lost += lease_renew(launcher, &error) != 0;
    CHECK(lost == 0 || is_said(&error));
    if (coordinator) {
        lost += lease_tell(coordinator, STAGE_READY, 0) != 0;
        lease_tell_kept(coordinator);
        lease_tell_kept(coordinator);
        CHECK(lease_owner_lives(coordinator));
        lost += lease_renew(coordinator, &error) != 0;
        lost += lease_news(launcher).stage != STAGE_READY;
    }
    lease_release(coordinator);
    return lost;
}

TEST(lease_calls_fail_while_it_is_used)
{
    struct place place = {0};
    bool failed;

    place_init(&place);
    for (int i = 0; i < failing_kind_count; i++, failing_forget())
        do {
            clear(&place, 0);
            struct lease *lease = take(&place);
            failing_anew(failing_kinds[i].calls, failing_kinds[i].cause);
            int lost = use(lease, place.output);
            bool held = lease_is_held(place.output);
            failed = failing_end();
            if (!failed && lost)
                test_fail(__FILE__, __LINE__, "%s: lost %d times", failing_kinds[i].calls, lost);
            CHECK(held);
            if (use(lease, place.output) != 0) /* the server answers again */
                test_fail(__FILE__, __LINE__, "%s: lost for good", failing_kinds[i].calls);
            lease_release(lease);
            CHECK(!lease_is_held(place.output));
        } while (failed);
    place_release(&place);
}

/* ---- servers that do not answer ---- */

static int renew(struct lease *lease, const char *call, int cause)
{
    struct error error = {.text = ""};

    failing_always(call, cause);
    int status = lease_renew(lease, &error);
    CHECK(failing_end() && (status == 0 || (error.status == ERROR_ENVIRONMENT && is_said(&error))));
    return status;
}

/* It is ours for 40 s, as nobody else takes it before 60 s have passed. */
TEST(lease_that_cannot_be_reached_is_ours_for_a_while)
{
    static const int silent[] = {EIO, ESTALE, EACCES}, gone[] = {ENOENT, ENOTDIR, ELOOP, ENXIO};
    struct place place = {0};
    struct error error;

    place_init(&place);
    struct lease *lease = take(&place);
    for (int i = 0; i < 3; i++) {
        CHECK(renew(lease, "open", silent[i]) == 0 && renew(lease, "pread", silent[i]) == 0);
        failing_clock(30);
        CHECK(renew(lease, "open", silent[i]) == 0 && renew(lease, "pread", silent[i]) == 0);
        CHECK(renew(lease, "pwrite", silent[i]) == 0);
        failing_clock(50);
        CHECK(renew(lease, "open", silent[i]) == -1 && renew(lease, "pread", silent[i]) == -1);
        failing_clock(0);
    }
    for (int i = 0; i < 4; i++)
        CHECK(renew(lease, "open", gone[i]) == -1);
    failing_clock(50);
    CHECK(lease_renew(lease, &error) == 0); /* it answers again, and nobody has taken the lease */
    failing_clock(80);
    CHECK(renew(lease, "open", EIO) == 0);
    failing_clock(0);
    CHECK(truncate(place.file, 10) == 0);
    CHECK(lease_renew(lease, &error) == -1 && strstr(error.text, "was lost"));
    lease_release(lease);
    place_release(&place);
}

TEST(lease_tells_nothing_that_is_not_written)
{
    struct place place = {0};
    struct error error = {.text = ""};
    struct lease *coordinator = NULL;

    place_init(&place);
    struct lease *lease = take(&place);
    CHECK(lease_join(&coordinator, place.output, lease_token(lease), &error) == 0);
    failing_next("pwrite", FAILING_NONE);
    CHECK(lease_tell(coordinator, STAGE_READY, 0) == -1 && failing_end());
    failing_next("open", EIO);
    CHECK(lease_tell(coordinator, STAGE_READY, 0) == -1 && failing_end());
    CHECK(lease_news(lease).stage == STAGE_STARTING);
    CHECK(lease_tell(coordinator, STAGE_READY, 0) == 0 && lease_news(lease).stage == STAGE_READY);
    failing_next("open", EIO);
    CHECK(lease_news(lease).stage == STAGE_NONE && failing_end());
    write_foreign(place.file, 77, YOUNG);
    CHECK(lease_tell(coordinator, STAGE_ENDED, 0) == -1);
    CHECK(lease_begin_life(lease, &error) == -1 && strstr(error.text, "was lost"));
    lease_release(coordinator);
    lease_release(lease);
    place_release(&place);
}

/* A coordinator on another machine, whose launcher may be alive for all that is known. */
TEST(lease_owner_on_another_machine_lives)
{
    struct place place = {0};
    struct error error = {.text = ""};
    struct lease *coordinator = NULL;

    place_init(&place);
    write_foreign(place.file, 77, YOUNG);
    CHECK(lease_join(&coordinator, place.output, "77.5.0", &error) == 0);
    CHECK(coordinator && lease_owner_lives(coordinator));
    lease_release(coordinator);
    place_release(&place);
}

/* ---- the thread that renews ---- */

/* Waits until the lease has a beat; false after a minute. */
static bool has_beat(const struct lease *lease, long beat)
{
    for (int i = 0; i < 6000 && lease_news(lease).beat < beat; i++)
        usleep(10000);
    return lease_news(lease).beat >= beat;
}

TEST(lease_is_renewed_by_a_thread)
{
    struct place place = {0};
    struct error error;
    struct lease *coordinator = NULL;

    place_init(&place);
    struct lease *lease = take(&place);
    CHECK(lease_join(&coordinator, place.output, lease_token(lease), &error) == 0);
    lease_beat(coordinator);
    CHECK(lease_news(lease).beat == 0);
    failing_clock(-LEASE_RENEW_SECONDS); /* each renewal is due at once */
    lease_keep(coordinator);
    CHECK(has_beat(lease, 1));
    lease_beat(coordinator);
    CHECK(has_beat(lease, 2));
    failing_clock(0);
    lease_release(coordinator);
    lease_release(lease);
    place_release(&place);
}

TEST(lease_is_renewed_without_a_thread)
{
    struct place place = {0};
    struct error error;

    place_init(&place);
    struct lease *lease = take(&place);
    failing_next("pthread_create", EAGAIN);
    lease_keep(lease);
    CHECK(failing_end() && lease_renew(lease, &error) == 0);
    lease_release(lease);
    place_release(&place);
}

/* ---- contenders at the same moment ---- */

static int take_said(const struct place *place, char text[1200])
{
    struct lease *lease = NULL;
    struct error error = {.text = ""};
    int status = lease_take(&lease, place->output, &error);

    CHECK(failing_end());
    snprintf(text, 1200, "%s", error.text);
    if (lease)
        CHECK(lease_renew(lease, &error) == 0);
    lease_release(lease);
    return status;
}

/* The reply that the link was made is lost: the lease is ours all the same. */
TEST(lease_is_ours_if_the_reply_was_lost)
{
    struct place place = {0};
    char said[1200];

    place_init(&place);
    failing_next("link", FAILING_UNTOLD);
    CHECK(take_said(&place, said) == 0);
    place_release(&place);
}

TEST(lease_on_file_systems_without_links)
{
    static const int causes[] = {EPERM, EOPNOTSUPP, ENOSYS};
    struct place place = {0};
    char said[1200];

    place_init(&place);
    for (int i = 0; i < 3; i++) {
        failing_always("link", causes[i]);
        CHECK(take_said(&place, said) == 0 && access(place.file, F_OK) != 0);
        write_foreign(place.file, 77, OLD);
        failing_always("link", causes[i]);
        CHECK(take_said(&place, said) == 0 && access(place.file, F_OK) != 0);
        write_foreign(place.file, 77, YOUNG);
        failing_always("link", causes[i]);
        CHECK(take_said(&place, said) == -1 && strstr(said, "process 77 on elsewhere"));
        unlink(place.file);
    }
    failing_next("link", EPERM);
    failing_after(1, "pwrite", ENOSPC);
    CHECK(take_said(&place, said) == -1 && strstr(said, "No space left on device"));
    CHECK(clear(&place, 0) == 0);
    place_release(&place);
}

/* What others do just before a call of ours. */

static void take_away_own(void *context)
{
    struct place *place = context;

    CHECK(clear(place, 17) == 1);
    write_foreign(place->file, 78, YOUNG);
}

static void take_alive(void *context)
{
    write_foreign(((struct place *)context)->file, 78, YOUNG);
}

static void take_dead(void *context)
{
    write_foreign(((struct place *)context)->file, 79, OLD);
}

static void release_theirs(void *context)
{
    unlink(((struct place *)context)->file);
}

/* Who holds the lease tidies the folder, and takes our file for one of the dead. */
TEST(lease_of_who_removed_our_file)
{
    struct place place = {0};
    char said[1200];

    place_init(&place);
    failing_before(0, "link", take_away_own, &place);
    CHECK(take_said(&place, said) == -1 && strstr(said, "process 78 on elsewhere"));
    place_release(&place);
}

/* Another replaces the dead lease before we do, while we look, or at last. */
TEST(lease_that_changes_while_it_is_taken)
{
    static const struct {
        const char *call;
        void (*act)(void *context);
        int calls, status;
    } cases[] = {
        {"link", take_alive, 1, -1}, /* before we claim it */
        {"link", take_dead, 1, 0},
        {"link", release_theirs, 1, 0},
        {"open", take_alive, 2, -1}, /* before we look */
        {"open", release_theirs, 2, 0},
        {"open", take_alive, 3, -1}, /* with the claim, before we look again */
        {"open", take_dead, 3, 0},
        {"open", release_theirs, 3, 0},
        {"nanosleep", take_alive, 0, -1}, /* after we replaced it: we had lost the claim */
        {"nanosleep", release_theirs, 0, -1},
    };
    struct place place = {0};
    char said[1200];

    place_init(&place);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        write_foreign(place.file, 77, OLD);
        failing_before(cases[i].calls, cases[i].call, cases[i].act, &place);
        int status = take_said(&place, said);
        if (status != cases[i].status || (status && !strstr(said, "in use by ")))
            test_fail(__FILE__, __LINE__, "case %zu: %d, '%s'", i, status, said);
        unlink(place.file);
        CHECK(clear(&place, 0) == 0);
    }
    place_release(&place);
}

/* Others hold the claim for as long as we try. */
TEST(lease_whose_claim_is_never_free)
{
    struct place place = {0};
    char said[1200];

    place_init(&place);
    write_foreign(place.file, 77, OLD);
    failing_always("nanosleep", EINTR);
    failing_always("rename", EBUSY);
    CHECK(take_said(&place, said) == -1 && strstr(said, "in use by process 77 on elsewhere"));
    place_release(&place);
}

static void die(void *context)
{
    (void)context;
    _exit(0);
}

/* Contenders that die one after the other, each with the claim on the claim of the one before. */
TEST(lease_behind_many_dead_claims)
{
    enum { DEAD = 4 };
    struct place place = {0};
    char said[1200];

    place_init(&place);
    write_foreign(place.file, 77, OLD);
    for (int i = 0; i < DEAD; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            struct lease *lease;
            struct error error;
            failing_before(0, "rename", die, NULL);
            lease_take(&lease, place.output, &error);
            _exit(1);
        }
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    failing_always("nanosleep", EINTR);
    CHECK(take_said(&place, said) == -1 && strstr(said, "in use by "));
    write_foreign(place.file, 80, OLD); /* another dead lease has no claims on it */
    struct lease *lease = take(&place);
    CHECK(clear(&place, 17) == 0);
    lease_release(lease);
    CHECK(clear(&place, 0) == 0); /* with the files of all that had died */
    place_release(&place);
}
