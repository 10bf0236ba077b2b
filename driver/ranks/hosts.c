/*
 * How many ranks mpirun has to start, and on which network they talk. The launcher asks once, before mpirun
 * starts.
 *
 * A host has so many ranks as slots, and its spares beyond them. Only mpirun knows the slots: Slurm, PBS,
 * LSF, SGE and hostfiles each tell them in another way. So it is asked for its map, and none of these is read
 * here. It is not asked on a single host without an allocation. If its answer is not understood, there are no
 * spares, and mpirun has its own ways.
 */
#include "driver/ranks/inside.h"
#include "driver/text/text.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hosts hosts_here(void)
{
    struct hosts hosts = {.count = 1, .host = memory_new(1, sizeof(*hosts.host))};

    environment_host(hosts.host->name, sizeof(hosts.host->name));
    hosts.host->slots = INT_MAX;
    return hosts;
}

_Static_assert(HOST_SIZE == 64, "the width of %63s");

/*
 * The lines of the map: "Data for node: n1	Num slots: 2	Max slots: 0	Num procs: 2". With Open MPI
 * 5 the slots are some lines below the name. Part of a map would be wrong, so a host that is not understood
 * makes all unknown.
 */
struct hosts hosts_parse(const char *map)
{
    struct hosts hosts = {0};
    struct host host;

    for (const char *at = map; at && (at = strstr(at, "Data for node: ")); at++) {
        const char *slots = strstr(at, "Num slots: "), *next = strstr(at + 1, "Data for node: ");
        int length = 0;
        bool found = sscanf(at, "Data for node: %63s%n", host.name, &length) == 1 &&
                     strchr("\t\n ", at[length]) && slots && (!next || slots < next) &&
                     sscanf(slots, "Num slots: %d", &host.slots) == 1; // NOLINT(cert-err34-c)
        if (!found || host.slots <= 0) {
            hosts_release(&hosts);
            break;
        }
        hosts.host = memory_grow(hosts.host, (size_t)hosts.count + 1, sizeof(host));
        hosts.host[hosts.count++] = host;
    }
    return hosts;
}

void hosts_release(struct hosts *hosts)
{
    free(hosts->host);
    *hosts = (struct hosts){0};
}

static int smaller(long long a, long long b)
{
    return (int)(a < b ? a : b);
}

int hosts_slots(const struct hosts *hosts)
{
    long long slots = 0;

    for (int i = 0; i < hosts->count; i++)
        slots += hosts->host[i].slots;
    return smaller(slots, INT_MAX);
}

/* The workers among so many ranks. A host keeps a worker before it has a spare: see driver/ranks/peers.c. */
static int count_workers(const struct hosts *hosts, int ranks, int spares)
{
    int left = smaller(ranks, hosts_slots(hosts)), more = ranks - left, workers = 0;

    for (int i = 0; i < hosts->count; i++) {
        int here = smaller(left, hosts->host[i].slots);
        left -= here;
        here += more / hosts->count + (i < more % hosts->count) - (i == 0);
        if (here > 0)
            workers += here - smaller(spares, here - 1);
    }
    return workers;
}

/* With each rank more there are as many workers or one more. So the largest number of ranks that gives no
 * more than `workers` gives exactly so many. */
int hosts_ranks(const struct hosts *hosts, int workers, int spares)
{
    if (hosts->count == 0)
        return 0;
    if (workers == 0)
        return smaller(hosts_slots(hosts) + (long long)spares * hosts->count, INT_MAX);
    int ranks = smaller(1 + workers + (long long)spares * hosts->count, INT_MAX);
    while (count_workers(hosts, ranks, spares) > workers)
        ranks--;
    return ranks;
}

/* ---- the network ---- */

static uint32_t ipv4_of(const struct sockaddr *address)
{
    return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
}

/* Does the name stand for this host? It may be in its hosts file with an address of loopback. */
static bool is_self(const struct host *host, const struct addrinfo *found, const struct ifaddrs *interfaces)
{
    char name[HOST_SIZE];

    environment_host(name, sizeof(name));
    if (strncmp(name, host->name, strcspn(host->name, ".")) == 0 &&
        strcspn(name, ".") == strcspn(host->name, "."))
        return true;
    for (const struct ifaddrs *one = interfaces; one; one = one->ifa_next)
        for (const struct addrinfo *at = found; at && one->ifa_addr && one->ifa_addr->sa_family == AF_INET;
             at = at->ai_next)
            if (ipv4_of(at->ai_addr) == ipv4_of(one->ifa_addr))
                return true;
    return false;
}

static bool is_in(const struct addrinfo *found, const struct ifaddrs *one)
{
    uint32_t mask = ipv4_of(one->ifa_netmask);

    for (; found; found = found->ai_next)
        if ((ipv4_of(found->ai_addr) & mask) == (ipv4_of(one->ifa_addr) & mask))
            return true;
    return false;
}

bool hosts_network(const struct hosts *hosts, char network[NETWORK_SIZE])
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo **found = memory_zero((size_t)hosts->count, sizeof(*found));
    struct ifaddrs *interfaces = NULL, *one = NULL;
    bool known = hosts->count > 0 && getifaddrs(&interfaces) == 0;

    for (int i = 0; known && i < hosts->count; i++)
        known = getaddrinfo(hosts->host[i].name, NULL, &hints, &found[i]) == 0;
    for (one = known ? interfaces : NULL; one; one = one->ifa_next) {
        bool others = false;
        bool all = one->ifa_addr && one->ifa_netmask && one->ifa_addr->sa_family == AF_INET &&
                   one->ifa_flags & IFF_UP && !(one->ifa_flags & IFF_LOOPBACK);
        for (int i = 0; all && i < hosts->count; i++)
            if (!is_self(&hosts->host[i], found[i], interfaces)) {
                others = true;
                all = is_in(found[i], one);
            }
        if (all && others)
            break;
    }
    if (one) {
        uint32_t mask = ipv4_of(one->ifa_netmask);
        struct in_addr base = {htonl(ipv4_of(one->ifa_addr) & mask)};
        char text[INET_ADDRSTRLEN];
        snprintf(network, NETWORK_SIZE, "%s/%d", inet_ntop(AF_INET, &base, text, sizeof(text)),
            __builtin_popcount(mask));
    }
    for (int i = 0; i < hosts->count; i++)
        if (found[i])
            freeaddrinfo(found[i]);
    free(found);
    if (interfaces)
        freeifaddrs(interfaces);
    return one != NULL;
}
