/* Leases on servers that do not answer, and on disks that fail. */
#include "tests/driver/output/place.h"
#include "tests/failing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- each call fails once ---- */

static bool is_said(const struct error *error)
{
    return strstr(error->text, "a.nc") && strstr(error->text, ": ") && !strchr(error->text, '\n');
}

/* Takes the lease where there is a dead one, or none. */
static void try_taking(const struct site *place, const struct failing_kind *kind, bool dead)
{
    struct lease *lease = NULL;
    struct error error = {.text = ""};

    place_clear(place, 0);
    if (dead)
        place_lend(place, 77, PLACE_OLD);
    failing_anew(kind->calls, kind->cause);
    int taken = lease_take(&lease, place->output, &error);
    bool failed = failing_end();
    if (taken != 0 && !is_said(&error))
        test_fail(__FILE__, __LINE__, "%s: '%s'", kind->calls, error.text);
    CHECK((taken == 0) == (lease != NULL) && (taken == 0 || failed));
    CHECK(taken != 0 || lease_renew(lease, &error) == 0);
    lease_release(lease);
    lease = place_take(place);
    lease_release(lease);
    CHECK(access(place->file, F_OK) != 0);
}

IN_PLACE(lease_calls_fail_while_it_is_taken)
{
    for (int dead = 0; dead < 2; dead++)
        for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);)
            try_taking(place, kind, dead);
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

IN_PLACE(lease_calls_fail_while_it_is_used)
{
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        place_clear(place, 0);
        struct lease *lease = place_take(place);
        failing_anew(kind->calls, kind->cause);
        int lost = use(lease, place->output);
        bool held = place_is_held(place);
        if (!failing_end() && lost)
            test_fail(__FILE__, __LINE__, "%s: lost %d times", kind->calls, lost);
        CHECK(held);
        if (use(lease, place->output) != 0) /* the server answers again */
            test_fail(__FILE__, __LINE__, "%s: lost for good", kind->calls);
        lease_release(lease);
        CHECK(!place_is_held(place));
    }
}

/* The name or a link is at fault, and not the folder. */
IN_PLACE(lease_of_an_output_with_a_bad_name)
{
    static const int causes[] = {EISDIR, ELOOP, ENAMETOOLONG, ENXIO};
    struct lease *lease = NULL;
    char expected[192];

    for (int i = 0; i < 4; i++) {
        snprintf(expected, sizeof(expected), "%s: %s", place->output, strerror(causes[i]));
        failing_next("realpath", causes[i]);
        CHECK(lease_take(&lease, place->output, &place->error) == -1 && failing_end());
        CHECK(place->error.status == ERROR_INPUT);
        CHECK_TEXT(place->error.text, expected);
    }
    CHECK(mkfifo(place->file, 0666) == 0);
    snprintf(expected, sizeof(expected), "%s: %s", place->file, strerror(ENXIO));
    CHECK(lease_take(&lease, place->output, &place->error) == -1 && place->error.status == ERROR_INPUT);
    CHECK_TEXT(place->error.text, expected);
}

IN_PLACE(lease_that_cannot_be_asked_for_counts_as_held)
{
    int unknown;

    failing_next("calloc", ENOMEM);
    CHECK(lease_is_held(place->output, &unknown) && unknown == ENOMEM && failing_end());
    failing_next("open", EIO);
    CHECK(lease_is_held(place->output, &unknown) && unknown == EIO && failing_end());
    CHECK(!lease_is_held(place->output, &unknown) && unknown == 0);
}

/* Records that were cut, or written by nobody. */
IN_PLACE(lease_with_a_bad_record_is_judged_by_its_age)
{
    static const char *const records[] = {"pid 0 start 5 on here stage 1 status 0", "pid x", "hello",
        "pid 77 start 5 on elsewhere/pid:[1] stage -1 status 0",
        "pid 77 start 5 on elsewhere/pid:[1] stage 1 status -1", "pid 77 start 5 on el"};
    struct lease *lease = NULL;
    const struct timespec old[2] = {{1000, 0}, {1000, 0}};
    char away[sizeof(place->folder) + 8];

    for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
        char record[PLACE_RECORD];
        size_t size = i < 5 ? sizeof(record) : strlen(records[i]); /* the last one is cut short */
        memset(record, ' ', sizeof(record));
        memcpy(record, records[i], strlen(records[i]));
        int file = open(place->file, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
        CHECK(file >= 0 && write(file, record, size) == (ssize_t)size);
        close(file);
        CHECK(lease_take(&lease, place->output, &place->error) == -1);
        CHECK(strstr(place->error.text, "in use by another sweep"));
        CHECK(lease_join(&lease, place->output, "77.5.0", &place->error) == -1 &&
              strstr(place->error.text, "was lost"));
        CHECK(utimensat(AT_FDCWD, place->file, old, 0) == 0);
        lease = place_take(place);
        lease_release(lease);
    }
    CHECK(lease_join(&lease, place->output, "77.5.0", &place->error) == -1);
    CHECK(strstr(place->error.text, "No such file or directory"));
    snprintf(away, sizeof(away), "%s.away", place->folder);
    CHECK(rename(place->folder, away) == 0);
    CHECK(lease_join(&lease, place->output, "77.5.0", &place->error) == -1 &&
          place->error.status == ERROR_ENVIRONMENT && strstr(place->error.text, "No such file or directory"));
    CHECK(rename(away, place->folder) == 0);
    lease_release(NULL);
}

/* In a child that takes the lease and dies, a coordinator joins; its launcher is dead then. */
IN_PLACE(lease_whose_launcher_has_died)
{
    struct lease *lease = NULL, *coordinator = NULL;
    char token[64] = "";
    int told[2], status = -1;

    CHECK(pipe(told) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bool taken = lease_take(&lease, place->output, &place->error) == 0;
        _exit(taken && write(told[1], lease_token(lease), strlen(lease_token(lease))) > 0 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(read(told[0], token, sizeof(token) - 1) > 0);
    CHECK(lease_join(&coordinator, place->output, token, &place->error) == 0);
    CHECK(coordinator && !lease_owner_lives(coordinator));
    lease_release(coordinator);
    close(told[0]);
    close(told[1]);
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
IN_PLACE(lease_that_cannot_be_reached_is_ours_for_a_while)
{
    static const int silent[] = {EIO, ESTALE, EACCES}, gone[] = {ENOENT, ENOTDIR, ELOOP, ENXIO};

    struct lease *lease = place_take(place);
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
    CHECK(lease_renew(lease, &place->error) == 0); /* it answers again, and nobody has taken the lease */
    failing_clock(80);
    CHECK(renew(lease, "open", EIO) == 0);
    failing_clock(0);
    CHECK(truncate(place->file, 10) == 0);
    CHECK(lease_renew(lease, &place->error) == -1 && strstr(place->error.text, "was lost"));
    lease_release(lease);
}

IN_PLACE(lease_tells_nothing_that_is_not_written)
{
    struct lease *coordinator = NULL;

    struct lease *lease = place_take(place);
    CHECK(lease_join(&coordinator, place->output, lease_token(lease), &place->error) == 0);
    failing_next("pwrite", FAILING_NONE);
    CHECK(lease_tell(coordinator, STAGE_READY, 0) == -1 && failing_end());
    failing_next("open", EIO);
    CHECK(lease_tell(coordinator, STAGE_READY, 0) == -1 && failing_end());
    CHECK(lease_news(lease).stage == STAGE_STARTING);
    CHECK(lease_tell(coordinator, STAGE_READY, 0) == 0 && lease_news(lease).stage == STAGE_READY);
    failing_next("open", EIO);
    CHECK(lease_news(lease).stage == STAGE_NONE && failing_end());
    place_lend(place, 77, PLACE_YOUNG);
    CHECK(lease_tell(coordinator, STAGE_ENDED, 0) == -1);
    CHECK(lease_begin_life(lease, &place->error) == -1 && strstr(place->error.text, "was lost"));
    lease_release(coordinator);
    lease_release(lease);
}

/* A coordinator on another machine, whose launcher may be alive for all that is known. */
IN_PLACE(lease_owner_on_another_machine_lives)
{
    struct lease *coordinator = NULL;

    place_lend(place, 77, PLACE_YOUNG);
    CHECK(lease_join(&coordinator, place->output, "77.5.0", &place->error) == 0);
    CHECK(coordinator && lease_owner_lives(coordinator));
    lease_release(coordinator);
}

/* ---- the thread that renews ---- */

/* Waits until the lease has a beat; false after a minute. */
static bool has_beat(const struct lease *lease, long beat)
{
    for (int i = 0; i < 6000 && lease_news(lease).beat < beat; i++)
        usleep(10000);
    return lease_news(lease).beat >= beat;
}

IN_PLACE(lease_is_renewed_by_a_thread)
{
    struct lease *coordinator = NULL;

    struct lease *lease = place_take(place);
    CHECK(lease_join(&coordinator, place->output, lease_token(lease), &place->error) == 0);
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
}

IN_PLACE(lease_is_renewed_without_a_thread)
{
    struct lease *lease = place_take(place);
    failing_next("pthread_create", EAGAIN);
    lease_keep(lease);
    CHECK(failing_end() && lease_renew(lease, &place->error) == 0);
    lease_release(lease);
}
