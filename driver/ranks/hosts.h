#ifndef NORMSWEEP_DRIVER_RANKS_HOSTS_H
#define NORMSWEEP_DRIVER_RANKS_HOSTS_H

#include "driver/ranks/mpirun.h"

#include "worker/wire/setup.h"

#include <netinet/in.h>

/* The hosts on which mpirun starts ranks, in its order. */
struct hosts {
    int count; /* 0: unknown */
    struct host {
        char name[HOST_SIZE];
        int slots;
    } * host; /* [count], owned */
};

/* The host of this process alone, without a limit of ranks. count is 0 without memory. */
struct hosts hosts_here(void);

/* The hosts of an allocation or a hostfile, as mpirun itself finds them: it is asked for a map without
 * starting anything, which takes a fifth of a second. */
struct hosts hosts_allocated(const struct mpirun *mpirun);

/* The same from what mpirun prints. */
struct hosts hosts_parse(const char *text);

void hosts_release(struct hosts *hosts);

/*
 * How many ranks to start in all, so that there is a coordinator on the first host, `workers` workers (0: as
 * the slots allow), and on each host that has a worker `spares` more. mpirun fills the slots of one host
 * after the other, and shares the ranks beyond them out evenly. 0: unknown.
 */
int hosts_ranks(const struct hosts *hosts, int workers, int spares);

enum { NETWORK_SIZE = INET_ADDRSTRLEN + 4 };

/* Writes the IPv4 network "10.77.0.0/24" of an interface of this host in which all other hosts are, by their
 * names. False: there is none. */
bool hosts_network(const struct hosts *hosts, char network[NETWORK_SIZE]);

#endif
