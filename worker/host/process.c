/*
 * Processes and what tells one from another: a number is used again, so each comes with its start time and
 * its namespace. Also what a process has to do when it forks or ends others.
 */
#include "worker/host/inside.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_SIZE = 1024 };

/* Fields of /proc/PID/stat between the state and the start. */
#define SKIPPED " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "

/* Reads /proc/PID/stat; returns the text after the process's name, which may hold any character, or NULL. */
static const char *read_stat(long pid, char text[STAT_SIZE])
{
    char name[64];

    snprintf(name, sizeof(name), "/proc/%ld/stat", pid);
    FILE *file = fopen(name, "r");
    if (!file)
        return NULL;
    size_t length = fread(text, 1, STAT_SIZE - 1, file);
    fclose(file);
    text[length] = '\0';
    return strrchr(text, ')');
}

enum state { STATE_UNKNOWN, STATE_ALIVE, STATE_DEAD };

/* The start time of a process in ticks since boot, 0 if unknown, and its state. A zombie is dead. */
static unsigned long long start_of(long pid, enum state *state)
{
    char text[STAT_SIZE], letter = 'X';
    unsigned long long start = 0;
    const char *fields = read_stat(pid, text);

    *state = STATE_UNKNOWN;
    if (!fields || sscanf(fields, ") %c" SKIPPED "%llu", &letter, &start) != 2)
        return 0;
    *state = letter != 'Z' && letter != 'X' ? STATE_ALIVE : STATE_DEAD;
    return start;
}

long process_parent(long pid)
{
    char text[STAT_SIZE];
    long parent = -1;
    const char *state = read_stat(pid, text);

    return state && sscanf(state, ") %*c %ld", &parent) == 1 ? parent : -1;
}

static void place_of_self(char place[PROCESS_PLACE])
{
    char host[64], space[32] = "";

    environment_host(host, sizeof(host));
    ssize_t length = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
    space[length > 0 ? length : 0] = '\0';
    for (char *c = host; *c; c++)
        if (*c == ' ')
            *c = '_';
    snprintf(place, PROCESS_PLACE, "%s/%s", host, space);
}

struct process process_of(long pid)
{
    enum state ignored;
    struct process process = {.pid = pid, .start = start_of(pid, &ignored)};

    place_of_self(process.place);
    return process;
}

struct process process_self(void)
{
    return process_of(getpid());
}

bool process_is_here(const struct process *process)
{
    char place[PROCESS_PLACE];

    place_of_self(place);
    return strcmp(process->place, place) == 0;
}

/* /proc may be unreadable (not mounted, hides other users, too many open files): then kill(2) decides. */
bool process_lives(const struct process *process)
{
    if (process->pid <= 0)
        return false;
    enum state state;
    unsigned long long start = start_of(process->pid, &state);
    if (state == STATE_UNKNOWN)
        return kill((pid_t)process->pid, 0) == 0 || errno == EPERM;
    return state == STATE_ALIVE && (process->start == 0 || process->start == start);
}

bool process_is_stopped(const struct process *process)
{
    char text[STAT_SIZE], letter = '?';
    const char *fields = read_stat(process->pid, text);

    return fields && sscanf(fields, ") %c", &letter) == 1 && (letter == 'T' || letter == 't');
}

bool process_same(const struct process *a, const struct process *b)
{
    return a->pid == b->pid && a->start == b->start && strcmp(a->place, b->place) == 0;
}

/* Compares the files themselves: a program that was replaced or removed since its start has no path. */
bool process_is_alike(long pid)
{
    struct stat other, self;
    char name[64];

    snprintf(name, sizeof(name), "/proc/%ld/exe", pid);
    return stat(name, &other) == 0 && stat("/proc/self/exe", &self) == 0 && other.st_ino == self.st_ino &&
           other.st_dev == self.st_dev;
}

char *process_variable(long pid, const char *name)
{
    size_t length = strlen(name), size = 0;
    char path[64], *text = NULL, *value = NULL;

    snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
    FILE *file = fopen(path, "r");
    while (file && !value && getdelim(&text, &size, '\0', file) > 0)
        if (strncmp(text, name, length) == 0 && text[length] == '=')
            value = strdup(text + length + 1);
    if (file)
        fclose(file);
    free(text);
    return value;
}

/* ---- descendants ---- */

struct process_walker {
    void (*visit)(void *context, long pid, long parent);
    void *context;
};

/* Walks the kernel's lists of the children of each thread. False if this kernel has no such lists, or the
 * process has ended. */
static bool walk_children(const struct process_walker *walk, long pid)
{
    char name[320], child[32];
    const struct dirent *entry;
    bool told = false;

    snprintf(name, sizeof(name), "/proc/%ld/task", pid);
    DIR *threads = opendir(name);
    while (threads && (entry = readdir(threads))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "/proc/%ld/task/%s/children", pid, entry->d_name);
        FILE *file = fopen(name, "r");
        if (!file)
            continue;
        told = true;
        while (fscanf(file, "%31s", child) == 1) {
            long number = strtol(child, NULL, 10);
            walk->visit(walk->context, number, pid);
            walk_children(walk, number);
        }
        fclose(file);
    }
    if (threads)
        closedir(threads);
    return told;
}

struct kin {
    long pid, parent;
};

/* All visible processes with their parents; the caller frees the list. NULL without memory or /proc. */
static struct kin *list_all(size_t *count)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    struct kin *list = NULL;
    size_t room = 0;

    *count = 0;
    while (processes && (entry = readdir(processes))) {
        struct kin one = {.pid = strtol(entry->d_name, NULL, 10)};
        if (one.pid <= 0 || (one.parent = process_parent(one.pid)) < 0)
            continue;
        if (*count == room) {
            room = room ? 2 * room : 256;
            struct kin *more = realloc(list, room * sizeof(*list));
            if (!more)
                break;
            list = more;
        }
        list[(*count)++] = one;
    }
    if (processes)
        closedir(processes);
    return list;
}

/* Walks depth first; every process has one parent, so none is visited twice. */
static void walk_list(const struct process_walker *walk, const struct kin *list, size_t count, long pid)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].parent == pid) {
            walk->visit(walk->context, list[i].pid, pid);
            walk_list(walk, list, count, list[i].pid);
        }
}

bool process_walk_all(long pid, void (*visit)(void *context, long pid, long parent), void *context)
{
    const struct process_walker walk = {visit, context};
    size_t count;
    struct kin *list = list_all(&count);

    walk_list(&walk, list, count, pid);
    free(list);
    return count > 0;
}

bool process_walk(long pid, void (*visit)(void *context, long pid, long parent), void *context)
{
    const struct process_walker walk = {visit, context};

    return walk_children(&walk, pid) || process_walk_all(pid, visit, context);
}

char *process_program(void)
{
    return realpath("/proc/self/exe", NULL);
}

int process_host_length(const char *place)
{
    return (int)strcspn(place, "/");
}
