/*
 * How many processors this process may use: those that it is bound to, and no more than its control group
 * grants.
 */
#include "model/core/limits.h"
#include "worker/host/inside.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int processors_count(void)
{
    cpu_set_t set;
    bool bound = sched_getaffinity(0, sizeof(set), &set) == 0;
    double granted = ceil(limits()->processors - 1e-6);
    double most = bound ? CPU_COUNT(&set) : fmax((double)sysconf(_SC_NPROCESSORS_ONLN), 1);

    return granted < most ? (int)fmax(granted, 1) : (int)most;
}

static int compare_places(const void *a, const void *b)
{
    const struct processor *x = a, *y = b;

    if (x->node != y->node)
        return (x->node > y->node) - (x->node < y->node);
    if (x->core != y->core)
        return (x->core > y->core) - (x->core < y->core);
    return (x->number > y->number) - (x->number < y->number);
}

/* The index after the last processor of the core that begins at `at`. */
static int core_end(const struct processor *processor, int count, int at)
{
    int core = processor[at].core;

    while (at < count && processor[at].core == core)
        at++;
    return at;
}

int processors_share(
    struct processor *processor, int count, int index, int workers, int64_t threads, int *first)
{
    int cores = 0, begin = 0, end;

    if (index < 0 || index >= workers || threads < 1)
        return 0;
    qsort(processor, (size_t)count, sizeof(*processor), compare_places);
    *first = (int)(index * threads);
    if (workers * threads == count)
        return (int)threads;
    for (int at = 0; at < count; at = core_end(processor, count, at))
        cores++;
    if (workers * threads != cores)
        return 0;
    for (int64_t core = 0; core < index * threads; core++)
        begin = core_end(processor, count, begin);
    end = begin;
    for (int64_t core = 0; core < threads; core++)
        end = core_end(processor, count, end);
    *first = begin;
    return end - begin;
}

/* Reads the place of a processor from /sys; without information it is a core of its own. */
static struct processor place_of(int number)
{
    struct processor processor = {number, number, 0};
    char path[128];
    int sibling;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", number);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%d", &sibling) == 1) // NOLINT(cert-err34-c): the kernel writes numbers
            processor.core = sibling;
        fclose(file);
    }
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", number);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (strncmp(entry->d_name, "node", 4) == 0)
            processor.node = (int)strtol(entry->d_name + 4, NULL, 10);
    if (folder)
        closedir(folder);
    return processor;
}

void processors_pin(int index, int workers, int64_t threads)
{
    struct processor processor[CPU_SETSIZE];
    cpu_set_t allowed, share;
    int count = 0, first = 0;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || workers * threads > CPU_COUNT(&allowed))
        return;
    for (int number = 0; number < CPU_SETSIZE; number++)
        if (CPU_ISSET(number, &allowed))
            processor[count++] = place_of(number);
    int mine = processors_share(processor, count, index, workers, threads, &first);
    CPU_ZERO(&share);
    for (int i = first; i < first + mine; i++)
        CPU_SET(processor[i].number, &share);
    if (mine > 0)
        sched_setaffinity(0, sizeof(share), &share);
}
