/* Contenders for one lease: many at once, and each just before a call of another. */
#include "tests/driver/output/place.h"
#include "tests/failing.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* ---- many at once ---- */

enum { CONTENDERS = 6, ROUNDS = 60 };

/* Waits for the start, tries, reports whether it won, waits again, reports whether it still has the lease. */
static void contend(const char *output, int go, int on, int said)
{
    struct lease *lease = NULL;
    struct error error;
    char byte;

    alarm(60);
    if (read(go, &byte, 1) != 1)
        _exit(1);
    bool won = lease_take(&lease, output, &error) == 0;
    if (write(said, won ? "w" : strstr(error.text, "in use") ? "-" : "?", 1) != 1 || read(on, &byte, 1) != 1)
        _exit(1);
    if (write(said, won && lease_renew(lease, &error) != 0 ? "x" : "k", 1) != 1)
        _exit(1);
    lease_release(lease);
    _exit(0);
}

static int count_bytes(int from, int count, char wanted)
{
    int found = 0;

    for (char byte; count > 0 && read(from, &byte, 1) == 1; count--)
        found += byte == wanted;
    return count == 0 ? found : -1;
}

/* Returns how many contenders won, and in *refused how many were told that the output is in use; -1: a winner
 * has lost the lease again. */
static int play_round(const char *output, int *refused)
{
    int go[2] = {-1, -1}, on[2] = {-1, -1}, said[2] = {-1, -1};
    char verdicts[CONTENDERS] = "";
    int won = 0;

    CHECK(pipe(go) == 0 && pipe(on) == 0 && pipe(said) == 0);
    for (int i = 0; i < CONTENDERS; i++)
        if (fork() == 0)
            contend(output, go[0], on[0], said[1]);
    CHECK(write(go[1], "gggggg", CONTENDERS) == CONTENDERS);
    *refused = 0;
    for (int i = 0; i < CONTENDERS; i++) {
        CHECK(read(said[0], &verdicts[i], 1) == 1);
        won += verdicts[i] == 'w';
        *refused += verdicts[i] == '-';
    }
    CHECK(write(on[1], "gggggg", CONTENDERS) == CONTENDERS);
    int kept = count_bytes(said[0], CONTENDERS, 'k');
    while (wait(NULL) > 0)
        ;
    for (int i = 0; i < 2; i++)
        close(go[i]), close(on[i]), close(said[i]);
    return kept == CONTENDERS ? won : -1;
}

IN_PLACE(lease_of_a_dead_process_goes_to_one_of_many)
{
    int right = 0;

    for (int round = 0; round < ROUNDS; round++) {
        int refused;
        place_lend(place, 77, 70);
        right += play_round(place->output, &refused) == 1 && refused == CONTENDERS - 1;
        CHECK(access(place->file, F_OK) != 0);
    }
    CHECK(right == ROUNDS);
}

/* Contenders that are killed while they try do not block others, and leave no files behind for long. */
IN_PLACE(lease_survives_contenders_that_die)
{
    struct lease *lease = NULL;

    for (int round = 0; round < ROUNDS; round++) {
        pid_t child[CONTENDERS];
        place_lend(place, 77, 70);
        for (int i = 0; i < CONTENDERS; i++)
            if ((child[i] = fork()) == 0) {
                struct lease *taken;
                lease_take(&taken, place->output, &place->error);
                pause();
            }
        for (int i = 0; i < CONTENDERS; i++) {
            struct timespec moment = {0, 40000 * ((round * 7 + i * 3) % 13)};
            nanosleep(&moment, NULL);
            kill(child[i], SIGKILL);
        }
        while (wait(NULL) > 0)
            ;
        CHECK(lease_take(&lease, place->output, &place->error) == 0);
        lease_release(lease);
        lease = NULL;
    }
}

/* ---- just before a call ---- */

static int take_said(const struct site *place, char text[1200])
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
IN_PLACE(lease_is_ours_if_the_reply_was_lost)
{
    char said[1200];

    failing_next("link", FAILING_UNTOLD);
    CHECK(take_said(place, said) == 0);
}

IN_PLACE(lease_on_file_systems_without_links)
{
    static const int causes[] = {EPERM, EOPNOTSUPP, ENOSYS};
    char said[1200];

    for (int i = 0; i < 3; i++) {
        failing_always("link", causes[i]);
        CHECK(take_said(place, said) == 0 && access(place->file, F_OK) != 0);
        place_lend(place, 77, PLACE_OLD);
        failing_always("link", causes[i]);
        CHECK(take_said(place, said) == 0 && access(place->file, F_OK) != 0);
        place_lend(place, 77, PLACE_YOUNG);
        failing_always("link", causes[i]);
        CHECK(take_said(place, said) == -1 && strstr(said, "process 77 on elsewhere"));
        unlink(place->file);
    }
    failing_next("link", EPERM);
    failing_after(1, "pwrite", ENOSPC);
    CHECK(take_said(place, said) == -1 && strstr(said, "No space left on device"));
    CHECK(place_clear(place, 0) == 0);
}

/* What others do just before a call of ours. */

static void take_away_own(void *context)
{
    struct site *place = context;

    CHECK(place_clear(place, 17) == 1);
    place_lend(place, 78, PLACE_YOUNG);
}

static void take_alive(void *context)
{
    place_lend(context, 78, PLACE_YOUNG);
}

static void take_dead(void *context)
{
    place_lend(context, 79, PLACE_OLD);
}

static void release_theirs(void *context)
{
    unlink(((struct site *)context)->file);
}

/* Who holds the lease tidies the folder, and takes our file for one of the dead. */
IN_PLACE(lease_of_who_removed_our_file)
{
    char said[1200];

    failing_before(0, "link", take_away_own, place);
    CHECK(take_said(place, said) == -1 && strstr(said, "process 78 on elsewhere"));
}

/* Another replaces the dead lease before we do, while we look, or at last. */
IN_PLACE(lease_that_changes_while_it_is_taken)
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
    char said[1200];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        place_lend(place, 77, PLACE_OLD);
        failing_before(cases[i].calls, cases[i].call, cases[i].act, place);
        int status = take_said(place, said);
        if (status != cases[i].status || (status && !strstr(said, "in use by ")))
            test_fail(__FILE__, __LINE__, "case %zu: %d, '%s'", i, status, said);
        unlink(place->file);
        CHECK(place_clear(place, 0) == 0);
    }
}

/* A name server that says now and again that our own file is not there. */
IN_PLACE(lease_whose_link_fails)
{
    char said[1200];

    failing_next("link", ENOENT);
    CHECK(take_said(place, said) == -1 && strstr(said, "No such file or directory"));
    failing_next("link", ENOENT);
    failing_next("fstat", EIO);
    CHECK(take_said(place, said) == -1 && strstr(said, "No such file or directory"));
    failing_next("link", EEXIST);
    CHECK(take_said(place, said) == 0); /* there is nothing, so it is tried again */
    failing_always("link", EEXIST);
    CHECK(take_said(place, said) == -1 && strstr(said, "in use by another sweep"));
}

/* Others hold the claim for as long as we try. */
IN_PLACE(lease_whose_claim_is_never_free)
{
    char said[1200];

    place_lend(place, 77, PLACE_OLD);
    failing_always("nanosleep", EINTR);
    failing_always("rename", EBUSY);
    CHECK(take_said(place, said) == -1 && strstr(said, "in use by process 77 on elsewhere"));
}

static void die(void *context)
{
    (void)context;
    _exit(0);
}

static int die_with_a_claim(void *context)
{
    const struct site *place = context;
    struct lease *lease;
    struct error error;

    failing_before(0, "rename", die, NULL);
    lease_take(&lease, place->output, &error);
    return 1;
}

/* Contenders that die one after the other, each with the claim on the claim of the one before. */
IN_PLACE(lease_behind_many_dead_claims)
{
    enum { DEAD = 4 };
    char said[1200];

    place_lend(place, 77, PLACE_OLD);
    for (int i = 0; i < DEAD; i++)
        CHECK(in_child(die_with_a_claim, place) == 0);
    failing_always("nanosleep", EINTR);
    CHECK(take_said(place, said) == -1 && strstr(said, "in use by "));
    place_lend(place, 80, PLACE_OLD); /* another dead lease has no claims on it */
    struct lease *lease = place_take(place);
    CHECK(place_clear(place, 17) == 0);
    lease_release(lease);
    CHECK(place_clear(place, 0) == 0); /* with the files of all that had died */
}
