/* Workers and spares of several hosts, by the numbers in their hellos, and who takes whose place. */
#include "driver/ranks/inside.h"
#include "tests/test.h"

static struct peers peers;

/* The hello of a rank that has a number among the `count` ranks of its host. */
static void say_hello_of(int address, const char *host, int number, int count)
{
    struct hello hello = {.process = process_self(), .seat = {number, count}};

    snprintf(hello.process.place, sizeof(hello.process.place), "%s/pid:[1]", host);
    peers_hello(&peers, peers_at(&peers, address), &hello, 1);
}

/* The hellos of `count` ranks of a host from an address on. Its first rank is number `first`: 1 beside the
 * coordinator. */
static void say_hello(int address, const char *host, int first, int count)
{
    for (int i = 0; i < count; i++)
        say_hello_of(address + i, host, first + i, first + count);
}

/* The workers by address, "1 2 5", and their places on their hosts. */
static void check_workers(const char *expected)
{
    char text[256] = "";
    int spares = 0;

    for (int i = 0; i < peers.workers; i++) {
        const struct peer *peer = peers.worker[i];
        CHECK(peer->worker == i && !peer->spare);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d:%d/%d", i ? " " : "", peer->address,
            (int)peer->seat.number, (int)peer->seat.count);
    }
    CHECK_TEXT(text, expected);
    for (int i = 0; i < peers.ranks; i++)
        spares += peers.peer[i].spare;
    CHECK(spares == peers.spares);
}

/* A test of so many ranks and spares of each host; the coordinator is on host a. */
#define OF_PEERS(id, ranks, spares_each)                                                                     \
    static void of_##id(void);                                                                               \
    TEST(id)                                                                                                 \
    {                                                                                                        \
        peers_init(&peers, ranks, spares_each, 0);                                                           \
        snprintf(peers.host, sizeof(peers.host), "a");                                                       \
        of_##id();                                                                                           \
        peers_release(&peers);                                                                               \
    }                                                                                                        \
    static void of_##id(void)

/* a: the coordinator, two workers, a spare; b and c: a worker and a spare. */
OF_PEERS(peers_the_last_ranks_of_each_host_are_spares, 7, 1)
{
    say_hello(1, "a", 1, 3);
    say_hello(4, "b", 0, 2);
    say_hello(6, "c", 0, 2);
    peers_assign(&peers);
    check_workers("1:0/2 2:1/2 4:0/1 6:0/1");
}

/* Three are more than any host can spare. */
OF_PEERS(peers_each_host_keeps_a_worker, 4, 3)
{
    say_hello(1, "a", 1, 1);
    say_hello(2, "b", 0, 1);
    say_hello(3, "c", 0, 2);
    peers_assign(&peers);
    check_workers("1:0/1 2:0/1 3:0/1");
}

OF_PEERS(peers_without_numbers_are_workers, 2, 1)
{
    say_hello(1, "a", -1, 1);
    say_hello(2, "a", 7, -5);
    peers.peer[1].said_hello = peers.peer[1].bad_hello = true;
    peers_assign(&peers);
    check_workers("1:-1/-1 2:0/0");
}

/* A sweep gets no more workers for it. */
OF_PEERS(peers_a_late_rank_is_a_spare_if_all_workers_are_there, 3, 1)
{
    say_hello_of(1, "a", 1, 4);
    say_hello_of(2, "a", 2, 4);
    peers_assign(&peers);
    check_workers("1:0/2 2:1/2");
    CHECK(peers.spares == 0);
    say_hello_of(3, "a", 2, 4); /* by its number a worker */
    check_workers("1:0/2 2:1/2");
    CHECK(peers.peer[2].spare && peers.spares == 1);
}

OF_PEERS(peers_a_late_rank_is_a_worker_if_one_is_missing, 3, 1)
{
    say_hello_of(1, "a", 1, 4);
    say_hello_of(3, "a", 3, 4);
    peers_assign(&peers);
    CHECK(peers.workers == 2 && peers.spares == 1);
    say_hello_of(2, "a", 2, 4);
    check_workers("1:0/2 2:1/2");
}

/* A rank that says something else takes the place of a late one. */
OF_PEERS(peers_a_host_that_is_late_has_workers, 5, 1)
{
    say_hello_of(1, "a", 1, 3);
    say_hello_of(2, "a", 2, 3);
    peers.peer[3].bad_hello = true;
    peers_assign(&peers);
    CHECK(peers.workers == 4 && peers.spares == 1);
    say_hello(3, "b", 0, 3); /* the last one is a spare by its number, but a worker by now */
    check_workers("1:0/1 3:0/2 4:1/2 5:2/2");
}

OF_PEERS(peers_one_rank_is_a_worker_whatever_they_say, 2, 1)
{
    say_hello_of(1, "a", 2, 3);
    say_hello_of(2, "a", 2, 3);
    peers_assign(&peers);
    CHECK(peers.workers == 1 && peers.spares == 1);
}

OF_PEERS(peers_a_spare_of_the_same_host_takes_a_place_once, 6, 2)
{
    say_hello(1, "a", 1, 3);
    say_hello(4, "b", 0, 3);
    peers_assign(&peers);
    check_workers("1:0/1 4:0/1");
    struct peer *old = peers.worker[1], *new = peers_replace(&peers, 1, 2);
    CHECK(new == peers_at(&peers, 6) && new->was_spare && !new->ready && old->worker < 0);
    check_workers("1:0/1 6:0/1");
    CHECK(peers_replace(&peers, 1, 2) == peers_at(&peers, 5)); /* that one died, too */
    CHECK(!peers_replace(&peers, 1, 2) && peers.spares == 2); /* those of a stay there */
    check_workers("1:0/1 5:0/1");
}

/* A rank may lie of another; of one on its own machine the coordinator knows better. */
OF_PEERS(peers_a_rank_that_another_calls_dead_is_dead_elsewhere_only, 2, 0)
{
    say_hello(1, "a", 1, 1);
    say_hello(2, "b", 0, 1);
    peers_at(&peers, 1)->here = true;
    for (int i = 1; i <= 2; i++) {
        CHECK(!peer_is_dead(peers_at(&peers, i), 2));
        peers_at(&peers, i)->reported = true;
        CHECK(peer_is_dead(peers_at(&peers, i), 2) == (i == 2));
    }
}

OF_PEERS(peers_a_spare_that_is_dead_or_silent_takes_no_place, 3, 2)
{
    say_hello(1, "a", 1, 3);
    peers_assign(&peers);
    check_workers("1:0/1");
    peers_at(&peers, 2)->dead = true;
    CHECK(!peers_replace(&peers, 0, 17)); /* the other one's last message was at 1 */
    peers_hear(peers_at(&peers, 3), 16);
    CHECK(peers_replace(&peers, 0, 17) == peers_at(&peers, 3));
}
