/* Workers and spares of several hosts, by the numbers in their hellos, and who takes whose place. */
#include "driver/ranks/peers.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static struct peers peers;

/* The hellos of `count` ranks of a host from an address on. Its first rank is number `first`: 1 beside the
 * coordinator. */
static void greet(int address, const char *host, int first, int count)
{
    for (int i = 0; i < count; i++) {
        struct hello hello = {.process = process_self(), .seat = {first + i, first + count}};
        snprintf(hello.process.place, sizeof(hello.process.place), "%s/pid:[1]", host);
        peers_hello(&peers, peers_at(&peers, address + i), &hello, 1);
    }
}

/* The workers by address, "1 2 5", and their places on their hosts. */
static void check_workers(const char *expected)
{
    char text[256] = "";
    int spares = 0;

    for (int i = 0; i < peers.workers; i++) {
        const struct peer *peer = peers_worker(&peers, i);
        CHECK(peer->worker == i && !peer->spare);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d:%d/%d", i ? " " : "", peer->address,
            (int)peer->seat.number, (int)peer->seat.count);
    }
    CHECK_TEXT(text, expected);
    for (int i = 0; i < peers.ranks; i++)
        spares += peers.peer[i].spare;
    CHECK(spares == peers.spares);
}

static void begin(int ranks, int spares_each)
{
    CHECK(peers_init(&peers, ranks, spares_each, 0) == 0);
    snprintf(peers.host, sizeof(peers.host), "a");
}

TEST(peers_the_last_ranks_of_each_host_are_spares)
{
    begin(7, 1); /* a: the coordinator, two workers, a spare; b and c: a worker and a spare */
    greet(1, "a", 1, 3);
    greet(4, "b", 0, 2);
    greet(6, "c", 0, 2);
    peers_muster(&peers, NULL, 0);
    check_workers("1:0/2 2:1/2 4:0/1 6:0/1");
    peers_release(&peers);
}

TEST(peers_each_host_keeps_a_worker)
{
    begin(4, 3); /* three are more than any host can spare */
    greet(1, "a", 1, 1);
    greet(2, "b", 0, 1);
    greet(3, "c", 0, 2);
    peers_muster(&peers, NULL, 0);
    check_workers("1:0/1 2:0/1 3:0/1");
    peers_release(&peers);
}

TEST(peers_without_numbers_are_workers)
{
    begin(2, 1);
    greet(1, "a", -1, 1);
    greet(2, "a", 7, -5);
    peers.peer[1].said_hello = peers.peer[1].misspoke = true;
    peers_muster(&peers, NULL, 0);
    check_workers("1:-1/-1 2:0/0");
    peers_release(&peers);
}

TEST(peers_a_late_rank_is_a_worker)
{
    begin(2, 1);
    greet(1, "a", 1, 1);
    peers.peer[1].misspoke = true; /* not waited for */
    peers_muster(&peers, NULL, 0);
    greet(2, "a", 2, 1); /* by its number a spare */
    check_workers("1:0/1 2:1/1");
    CHECK(!peers.peer[1].spare);
    peers_release(&peers);
}

TEST(peers_a_spare_of_the_same_host_takes_a_place_once)
{
    begin(6, 2);
    greet(1, "a", 1, 3);
    greet(4, "b", 0, 3);
    peers_muster(&peers, NULL, 0);
    check_workers("1:0/1 4:0/1");
    struct peer *old = peers_worker(&peers, 1), *new = peers_replace(&peers, 1, 2);
    CHECK(new == peers_at(&peers, 5) && new->was_spare && !new->ready && old->worker < 0);
    check_workers("1:0/1 5:0/1");
    CHECK(peers_replace(&peers, 1, 2) == peers_at(&peers, 6)); /* that one died, too */
    CHECK(!peers_replace(&peers, 1, 2) && peers.spares == 2); /* those of a stay there */
    check_workers("1:0/1 6:0/1");
    peers_release(&peers);
}

TEST(peers_a_spare_that_is_dead_or_silent_takes_no_place)
{
    begin(3, 2);
    greet(1, "a", 1, 3);
    peers_muster(&peers, NULL, 0);
    check_workers("1:0/1");
    peers_at(&peers, 2)->dead = true;
    CHECK(!peers_replace(&peers, 0, 17)); /* the other one's last message was at 1 */
    peers_hear(peers_at(&peers, 3), 16);
    CHECK(peers_replace(&peers, 0, 17) == peers_at(&peers, 3));
    peers_release(&peers);
}
