/* The hosts that mpirun tells, how many ranks they get, and the network that they share. */
#include "driver/ranks/inside.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>

#define LINE(name, slots) " Data for node: " name "\tNum slots: " slots "\tMax slots: 0\tNum procs: 1\n"
#define NAME_OF_64 "n123456789-123456789-123456789-123456789-123456789-123456789.org"
#define RANK " \tProcess OMPI jobid: [13067,1] App: 0 Process rank: 0 Bound: N/A\n\n"

TEST(hosts_are_those_of_the_map)
{
    struct hosts hosts = hosts_parse(
        " Data for JOB [13067,1] offset 0 Total slots allocated 4\n\n =====   JOB MAP   =====\n\n" LINE(
            "a", "3") RANK LINE("b.site.org", "1") RANK "[vm:24565] LAUNCH MSG RAW SIZE: 644\n");
    CHECK(hosts.count == 2);
    CHECK(strcmp(hosts.host[0].name, "a") == 0 && hosts.host[0].slots == 3);
    CHECK(strcmp(hosts.host[1].name, "b.site.org") == 0 && hosts.host[1].slots == 1);
    hosts_release(&hosts);
    static const char *const nothing[] = {"", "mpirun: no", "Data for node: ", LINE("a", "x"),
        LINE("a", "-3"), LINE("a", "2") LINE(NAME_OF_64, "2"), LINE(NAME_OF_64, "2") LINE("a", "2"),
        LINE("a", "2") LINE("b", "x")};
    for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
        CHECK(hosts_parse(nothing[i]).count == 0);
}

/* As Open MPI 5 prints it for --display map-devel. */
#define HOST_OF_5(name, slots)                                                                               \
    "Data for node: " name                                                                                   \
    "\tState: 3\tFlags: MAPPED:SLOTS_GIVEN\n                resolved from 10.77.0.1\n"                       \
    "        Daemon: [prterun-a-394@0,1]\tDaemon launched: False\n"                                          \
    "            Num slots: " slots "\tSlots in use: 2\tOversubscribed: FALSE\n"                             \
    "            Num slots allocated: 2\tMax slots: 0\tNum procs: 2\n"                                       \
    "        Data for proc: [prterun-a-394@1,0]\n                Pid: 0\tLocal rank: 0\n"

TEST(hosts_are_those_of_the_map_of_open_mpi_5)
{
    struct hosts hosts = hosts_parse("Data for JOB prterun-a-394@1 offset 0 Total slots allocated 5\n"
                                     "Num nodes: 2\n\n" HOST_OF_5("a", "2") "\n" HOST_OF_5("b.org", "3"));
    CHECK(hosts.count == 2 && hosts_slots(&hosts) == 5);
    CHECK(strcmp(hosts.host[0].name, "a") == 0 && hosts.host[0].slots == 2);
    CHECK(strcmp(hosts.host[1].name, "b.org") == 0 && hosts.host[1].slots == 3);
    hosts_release(&hosts);
    CHECK(hosts_parse("Data for node: a\tState: 3\n" HOST_OF_5("b", "3")).count == 0);
    CHECK(hosts_parse(HOST_OF_5("a", "x")).count == 0);
}

static int ranks(const char *text, int workers, int spares)
{
    struct hosts hosts = hosts_parse(text);
    int count = hosts_ranks(&hosts, workers, spares);

    hosts_release(&hosts);
    return count;
}

TEST(hosts_get_their_slots_and_spares)
{
    const char *text = LINE("a", "3") LINE("b", "2") LINE("c", "2");

    CHECK(ranks(text, 0, 1) == 10);
    CHECK(ranks(text, 0, 0) == 7);
    CHECK(ranks("", 4, 1) == 0);
}

TEST(hosts_get_as_many_workers_as_are_asked_for)
{
    struct hosts here = hosts_here();

    CHECK(here.count == 1);
    CHECK(hosts_ranks(&here, 2, 1) == 4);
    CHECK(hosts_ranks(&here, 1, 3) == 5);
    CHECK(hosts_ranks(&here, 7, 0) == 8);
    hosts_release(&here);
    CHECK(
        ranks(LINE("a", "4") LINE("b", "4"), 2, 1) == 4); /* all on a: a coordinator, two workers, a spare */
    CHECK(ranks(LINE("a", "4") LINE("b", "4"), 3, 1) ==
          6); /* a: a coordinator, two workers, a spare; b: a worker, a spare */
    CHECK(ranks(LINE("a", "3") LINE("b", "2") LINE("c", "2"), 4, 1) == 8);
    CHECK(ranks(LINE("a", "1") LINE("b", "8"), 3, 1) == 5); /* none can be spared of a */
    CHECK(ranks(LINE("a", "1") LINE("b", "1"), 4, 0) == 5);
}

/* "10.77.0.0/24" of the first interface that is up, and an address in it that is not its own. */
static bool find_network(char network[NETWORK_SIZE], char neighbour[INET_ADDRSTRLEN])
{
    struct ifaddrs *all = NULL;
    char base[INET_ADDRSTRLEN];
    bool found = false;

    CHECK(getifaddrs(&all) == 0);
    for (const struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || !(one->ifa_flags & IFF_UP) ||
            one->ifa_flags & IFF_LOOPBACK)
            continue;
        struct in_addr own = ((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr;
        struct in_addr mask = ((struct sockaddr_in *)(void *)one->ifa_netmask)->sin_addr;
        int bits = 0;
        for (uint32_t rest = ntohl(mask.s_addr); rest; rest <<= 1)
            bits++;
        struct in_addr other = {own.s_addr ^ htonl(1)}, first = {own.s_addr & mask.s_addr};
        found = bits < 31;
        inet_ntop(AF_INET, &other, neighbour, INET_ADDRSTRLEN);
        snprintf(network, NETWORK_SIZE, "%s/%d", inet_ntop(AF_INET, &first, base, sizeof(base)), bits);
    }
    freeifaddrs(all);
    return found;
}

TEST(hosts_share_the_network_of_an_interface)
{
    char network[NETWORK_SIZE], neighbour[INET_ADDRSTRLEN], found[NETWORK_SIZE] = "", text[256];
    struct hosts here = hosts_here();

    CHECK(!hosts_network(&here, found)); /* there is no other host */
    if (!find_network(network, neighbour))
        test_skip("this machine has no network: the interface that several hosts share is not looked for");
    snprintf(text, sizeof(text), LINE("%s", "2") LINE("%s", "2"), here.host[0].name, neighbour);
    hosts_release(&here);
    struct hosts two = hosts_parse(text);
    CHECK(hosts_network(&two, found));
    CHECK_TEXT(found, network);
    hosts_release(&two);
    snprintf(text, sizeof(text), LINE("%s", "2") LINE("203.0.113.77", "2"), neighbour); /* of no interface */
    two = hosts_parse(text);
    CHECK(!hosts_network(&two, found));
    hosts_release(&two);
}
