#include "worker/process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker/environment.h"

/* Fields of /proc/PID/stat between the state and the start. */
#define SKIPPED " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "

/* The time since boot at which a process was started, in ticks; 0: there is none, or it is a zombie. */
static unsigned long long start_of(long pid)
{
    char name[64], text[1024];

    snprintf(name, sizeof(name), "/proc/%ld/stat", pid);
    FILE *file = fopen(name, "r");
    if (!file)
        return 0;
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *state = strrchr(text, ')'); /* the name before it may hold anything */
    if (!state)
        return 0;
    char letter = 'X';
    unsigned long long start = 0;
    int found = sscanf(state, ") %c" SKIPPED "%llu", &letter, &start);
    return found == 2 && letter != 'Z' && letter != 'X' ? start : 0;
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

struct process process_self(void)
{
    struct process process = {.pid = getpid(), .start = start_of(getpid())};

    place_of_self(process.place);
    return process;
}

bool process_is_here(const struct process *process)
{
    char place[PROCESS_PLACE];

    place_of_self(place);
    return strcmp(process->place, place) == 0;
}

bool process_lives(const struct process *process)
{
    if (process->pid <= 0 || process->start == 0)
        return false;
    unsigned long long start = start_of(process->pid);
    if (start == 0) /* another user's may be hidden */
        return kill((pid_t)process->pid, 0) != 0 && errno == EPERM;
    return start == process->start;
}

bool process_same(const struct process *a, const struct process *b)
{
    return a->pid == b->pid && a->start == b->start && strcmp(a->place, b->place) == 0;
}

static bool runs(long pid, const char *program)
{
    char name[64];

    snprintf(name, sizeof(name), "/proc/%ld/exe", pid);
    char *path = realpath(name, NULL);
    bool same = path && strcmp(path, program) == 0;
    free(path);
    return same;
}

/* The kernel lists the children of each thread. */
static int count_children(long pid, const char *thread, const char *program)
{
    char name[320], child[32];
    int count = 0;

    snprintf(name, sizeof(name), "/proc/%ld/task/%s/children", pid, thread);
    FILE *file = fopen(name, "r");
    while (file && fscanf(file, "%31s", child) == 1)
        count += runs(strtol(child, NULL, 10), program);
    if (file)
        fclose(file);
    return count;
}

int process_children(long pid, const char *program)
{
    char name[64];
    const struct dirent *entry;
    int count = 0;

    snprintf(name, sizeof(name), "/proc/%ld/task", pid);
    DIR *threads = opendir(name);
    while (threads && (entry = readdir(threads)))
        if (entry->d_name[0] != '.')
            count += count_children(pid, entry->d_name, program);
    if (threads)
        closedir(threads);
    return count;
}

char *process_program(void)
{
    return realpath("/proc/self/exe", NULL);
}

int process_host_length(const char *place)
{
    return (int)strcspn(place, "/");
}
