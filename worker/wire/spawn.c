#include "worker/wire/spawn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct spawn {
    pthread_t thread;
    char *host;
    char **argument; /* ends with NULL; owned */
    MPI_Comm comm;
    atomic_int state; /* of enum wire_spawned */
};

static void *spawn_worker(void *context)
{
    struct spawn *spawn = context;
    MPI_Info info;
    int code = MPI_SUCCESS;

    MPI_Info_create(&info);
    MPI_Info_set(info, "host", spawn->host);
    int status = MPI_Comm_spawn(
        spawn->argument[0], spawn->argument + 1, 1, info, 0, MPI_COMM_SELF, &spawn->comm, &code);
    MPI_Info_free(&info);
    bool done = status == MPI_SUCCESS && code == MPI_SUCCESS && spawn->comm != MPI_COMM_NULL;
    if (done)
        MPI_Comm_set_errhandler(spawn->comm, MPI_ERRORS_RETURN);
    atomic_store(&spawn->state, done ? SPAWN_DONE : SPAWN_FAILED);
    return NULL;
}

static void spawn_release(struct spawn *spawn)
{
    for (char **argument = spawn->argument; argument && *argument; argument++)
        free(*argument);
    free((void *)spawn->argument);
    free(spawn->host);
    free(spawn);
}

static int copy_arguments(struct spawn *spawn, char **argument)
{
    size_t count = 0;

    while (argument[count])
        count++;
    spawn->argument = calloc(count + 1, sizeof(*spawn->argument));
    for (size_t i = 0; spawn->argument && i < count; i++)
        if (!(spawn->argument[i] = strdup(argument[i])))
            return -1;
    return spawn->argument ? 0 : -1;
}

struct spawn *spawn_begin(const char *host, char **argument)
{
    struct spawn *spawn = calloc(1, sizeof(*spawn));

    if (!spawn)
        return NULL;
    spawn->comm = MPI_COMM_NULL;
    spawn->host = strdup(host);
    atomic_init(&spawn->state, SPAWN_UNDER_WAY);
    if (spawn->host && copy_arguments(spawn, argument) == 0 &&
        pthread_create(&spawn->thread, NULL, spawn_worker, spawn) == 0)
        return spawn;
    spawn_release(spawn);
    return NULL;
}

enum wire_spawned spawn_state(const struct spawn *spawn)
{
    return (enum wire_spawned)atomic_load(&spawn->state);
}

MPI_Comm spawn_take(struct spawn *spawn)
{
    MPI_Comm comm = spawn->comm;

    pthread_join(spawn->thread, NULL);
    spawn_release(spawn);
    return comm;
}

void spawn_free(struct spawn *spawn)
{
    if (spawn && spawn_state(spawn) != SPAWN_UNDER_WAY)
        spawn_take(spawn);
}
