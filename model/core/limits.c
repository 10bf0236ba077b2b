/*
 * /proc/self/cgroup names the control groups of this process, one per line: "0::/path" in version 2,
 * "4:cpu,cpuacct:/path" for every hierarchy of version 1. A limit holds for all groups below it, so the
 * smallest limit from the group up to the root counts. In a container the path may be the host's, which does
 * not exist there; the root of the hierarchy is then the container's own group.
 */
#include "model/core/limits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* Reads the first line of folder/name; false without one. */
static bool read_line(const char *folder, const char *name, char *line, int size)
{
    char path[PATH_SIZE + 64];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool found = fgets(line, size, file) != NULL;
    fclose(file);
    return found;
}

/* A number above 0; 0 for "max", -1 and everything else. */
static double read_number(const char *text)
{
    double value = strtod(text, NULL);
    return value > 0 && isfinite(value) ? value : 0;
}

static void limit_memory(struct limits *limits, const char *folder, const char *name)
{
    char line[64];

    if (!read_line(folder, name, line, sizeof(line)))
        return;
    double bytes = read_number(line);
    if (bytes > 0 && bytes < (double)limits->memory)
        limits->memory = (uint64_t)bytes;
}

static void limit_processors(struct limits *limits, double quota, double period)
{
    if (quota > 0 && period > 0)
        limits->processors = fmin(limits->processors, quota / period);
}

/* Applies the limits of one group, of either version. */
static void apply_group(struct limits *limits, const char *folder)
{
    char quota[64], period[64];

    limit_memory(limits, folder, "memory.max");
    limit_memory(limits, folder, "memory.limit_in_bytes");
    if (read_line(folder, "cpu.max", quota, sizeof(quota))) {
        char *second = strchr(quota, ' ');
        limit_processors(limits, read_number(quota), second ? read_number(second) : 0);
    }
    if (read_line(folder, "cpu.cfs_quota_us", quota, sizeof(quota)) &&
        read_line(folder, "cpu.cfs_period_us", period, sizeof(period)))
        limit_processors(limits, read_number(quota), read_number(period));
}

/* Applies the limits of a group and of all groups above it in its hierarchy. */
static void apply_hierarchy(struct limits *limits, const char *root, const char *hierarchy, const char *group)
{
    char folder[PATH_SIZE];
    int top =
        snprintf(folder, sizeof(folder), "%s/sys/fs/cgroup%s%s", root, *hierarchy ? "/" : "", hierarchy);
    int length = snprintf(folder + top, sizeof(folder) - (size_t)top, "%s", group);

    if (top + length >= PATH_SIZE)
        return;
    for (;;) {
        apply_group(limits, folder);
        char *last = strrchr(folder + top, '/');
        if (!last)
            return;
        *last = '\0';
    }
}

void limits_read(struct limits *limits, const char *root)
{
    char path[PATH_SIZE], line[PATH_SIZE];
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    limits->memory = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : SIZE_MAX / 2;
    limits->processors = INFINITY;
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    while (fgets(line, sizeof(line), file)) { /* such as "4:cpu,cpuacct:/path" */
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        char *rest = NULL, *name = strtok_r(controllers, ",", &rest);
        if (!name)
            apply_hierarchy(limits, root, "", group);
        for (; name; name = strtok_r(NULL, ",", &rest))
            if (strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0)
                apply_hierarchy(limits, root, name, group);
    }
    fclose(file);
}

const struct limits *limits(void)
{
    static struct limits read;

    if (read.memory == 0)
        limits_read(&read, "");
    return &read;
}
