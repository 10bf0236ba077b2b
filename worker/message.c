#include "worker/message.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "worker/clock.h"

enum { TAG = 1, MESSAGE_MOST = 3584, TESTS_AT_ONCE = 16 };

_Static_assert(sizeof(struct message) <= MESSAGE_MOST, "a message is below the eager limit");

/* A message on its way. */
struct parcel {
    MPI_Request request;
    struct parcel *next;
    struct message message;
};

struct wire {
    int rank, size;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    struct parcel *first, **end; /* under way, in the order they were sent */
    size_t under_way;
    struct parcel *spare;
};

#define HEAD offsetof(struct message, as)

/* The bytes of a message that are sent. */
static size_t message_size(const struct message *message)
{
    switch ((enum message_kind)message->kind) {
    case MESSAGE_HELLO:
        return HEAD + sizeof(message->as.hello);
    case MESSAGE_SETUP:
        return HEAD + offsetof(struct setup_piece, bytes) + (size_t)message->as.setup.count;
    case MESSAGE_READY:
        return HEAD;
    case MESSAGE_REFUSED:
        return HEAD + sizeof(message->as.text);
    case MESSAGE_ORDER:
        return HEAD + sizeof(message->as.order);
    case MESSAGE_STOP:
        return HEAD + sizeof(message->as.ticket);
    case MESSAGE_QUIT:
        return HEAD + sizeof(message->as.quit);
    case MESSAGE_PROGRESS:
        return HEAD + sizeof(message->as.progress);
    case MESSAGE_ROW:
        return HEAD + offsetof(struct row_piece, values) + (size_t)message->as.row.count * sizeof(double);
    case MESSAGE_RESULT:
        return HEAD + sizeof(message->as.result);
    }
    return 0;
}

struct wire *wire_open(int *argc, char ***argv)
{
    struct wire *wire = calloc(1, sizeof(*wire));
    int length;

    if (!wire || MPI_Init(argc, argv) != MPI_SUCCESS) {
        free(wire);
        return NULL;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &wire->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &wire->size);
    MPI_Get_library_version(wire->library, &length);
    wire->end = &wire->first;
    return wire;
}

void wire_close(struct wire *wire, bool together)
{
    wire_drain(wire, 0, 5);
    if (!together)
        return;
    MPI_Finalize();
    while (wire->first) {
        struct parcel *parcel = wire->first;
        wire->first = parcel->next;
        free(parcel);
    }
    while (wire->spare) {
        struct parcel *parcel = wire->spare;
        wire->spare = parcel->next;
        free(parcel);
    }
    free(wire);
}

int wire_rank(const struct wire *wire)
{
    return wire->rank;
}

int wire_size(const struct wire *wire)
{
    return wire->size;
}

const char *wire_library(const struct wire *wire)
{
    return wire->library;
}

static void append(struct wire *wire, struct parcel *parcel)
{
    parcel->next = NULL;
    *wire->end = parcel;
    wire->end = &parcel->next;
    wire->under_way++;
}

static struct parcel *take_first(struct wire *wire)
{
    struct parcel *parcel = wire->first;

    wire->first = parcel->next;
    if (!wire->first)
        wire->end = &wire->first;
    wire->under_way--;
    return parcel;
}

static bool has_left(struct parcel *parcel)
{
    int done = 0;
    return MPI_Test(&parcel->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
}

/* Takes up the parcels that have left. Those for the dead never do: they go to the end of the line. */
static void collect(struct wire *wire)
{
    size_t count = wire->under_way < TESTS_AT_ONCE ? wire->under_way : TESTS_AT_ONCE;

    for (; wire->first && count > 0; count--) {
        struct parcel *parcel = take_first(wire);
        if (!has_left(parcel)) {
            append(wire, parcel);
            continue;
        }
        parcel->next = wire->spare;
        wire->spare = parcel;
    }
}

void wire_send(struct wire *wire, int rank, const struct message *message)
{
    struct parcel *parcel;
    size_t size = message_size(message);

    collect(wire);
    parcel = wire->spare;
    if (parcel)
        wire->spare = parcel->next;
    else
        parcel = malloc(sizeof(*parcel));
    if (!parcel)
        abort(); /* a message dropped in silence would be a run lost */
    memcpy(&parcel->message, message, size);
    MPI_Isend(&parcel->message, (int)size, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &parcel->request);
    append(wire, parcel);
} // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): collect() waits for it

bool wire_receive(struct wire *wire, int *rank, struct message *message)
{
    MPI_Status status;
    int there = 0, size = 0;

    collect(wire);
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    memset(message, 0, HEAD);
    if (MPI_Recv(message, (int)sizeof(*message), MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status) !=
            MPI_SUCCESS ||
        message_size(message) != (size_t)size)
        return false;
    *rank = status.MPI_SOURCE;
    return true;
}

void wire_drain(struct wire *wire, size_t most, double seconds)
{
    double deadline = clock_now() + seconds;
    struct patience patience = {0};

    for (collect(wire); wire->under_way > most && clock_now() < deadline; collect(wire))
        patience_wait(&patience);
}
