/*
 * Messages over MPI. Each is below the eager limit, so that sending never waits for a receiver that may be
 * dead; larger things go in pieces. Sends are tested and not waited for. At the end MPI_Finalize gets an
 * alarm: it may never return when a process has died.
 */
#include "model/core/check.h"
#include "worker/host/host.h"
#include "worker/wire/inside.h"

#include <mpi.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 1, MESSAGE_MOST = 3584, TESTS_AT_ONCE = 16, FINALIZE_SECONDS = 60 };

#define CLOSE_SECONDS 5 /* for messages that are still under way */

_Static_assert(sizeof(struct message) <= MESSAGE_MOST, "a message is below the eager limit");
_Static_assert(sizeof(struct setup_piece) == offsetof(struct setup_piece, bytes) + PIECE_BYTES, "no padding");
_Static_assert(sizeof(struct row_piece) == offsetof(struct row_piece, values) + PIECE_VALUES * sizeof(double),
    "no padding");

/* A message on its way. */
struct parcel {
    MPI_Request request;
    int address;
    struct parcel *next;
    struct message message;
};

struct wire {
    int rank, size;
    bool *dead; /* [size] */
    struct parcel *first, **end; /* under way, in the order of sending */
    size_t under_way;
    struct parcel *spare;
};

#define HEAD offsetof(struct message, as)

/* The number of bytes that are sent of a message whose count is right; 0: no message is of this kind. */
static size_t message_size(const struct message *message)
{
    switch ((enum message_kind)message->kind) {
    case MESSAGE_DAMAGED:
        return 0;
    case MESSAGE_HELLO:
        return HEAD + sizeof(message->as.hello);
    case MESSAGE_SETUP:
        return HEAD + offsetof(struct setup_piece, bytes) + (size_t)message->as.setup.count;
    case MESSAGE_READY:
    case MESSAGE_ALIVE:
        return HEAD;
    case MESSAGE_FAILED:
        return HEAD + sizeof(message->as.failure);
    case MESSAGE_NOTE:
        return HEAD + sizeof(message->as.text);
    case MESSAGE_ORDER:
        return HEAD + sizeof(message->as.order);
    case MESSAGE_STOP:
        return HEAD + sizeof(message->as.stop);
    case MESSAGE_QUIT:
        return HEAD + sizeof(message->as.quit);
    case MESSAGE_NEIGHBOURS:
        return HEAD + offsetof(struct neighbours, rank) +
               (size_t)message->as.neighbours.count * sizeof(struct neighbour);
    case MESSAGE_LOSS:
        return HEAD + sizeof(message->as.lost);
    case MESSAGE_PROGRESS:
        return HEAD + sizeof(message->as.progress);
    case MESSAGE_CHECKPOINT:
        return HEAD + sizeof(message->as.checkpoint);
    case MESSAGE_ROW:
        return HEAD + offsetof(struct row_piece, values) + (size_t)message->as.row.count * sizeof(double);
    case MESSAGE_RESULT:
        return HEAD + sizeof(message->as.result);
    }
    return 0;
}

static bool is_up_to(int64_t count, int64_t most)
{
    return count >= 1 && count <= most;
}

bool message_is_whole(const struct message *message, size_t size)
{
    if (size < HEAD || size > sizeof(*message) || !is_up_to(message->kind, MESSAGE_RESULT))
        return false;
    if (message->kind == MESSAGE_SETUP && (size < HEAD + offsetof(struct setup_piece, bytes) ||
                                              !is_up_to(message->as.setup.count, PIECE_BYTES)))
        return false;
    if (message->kind == MESSAGE_ROW &&
        (size < HEAD + offsetof(struct row_piece, values) || !is_up_to(message->as.row.count, PIECE_VALUES)))
        return false;
    if (message->kind == MESSAGE_NEIGHBOURS && (size < HEAD + offsetof(struct neighbours, rank) ||
                                                   !is_up_to(message->as.neighbours.count, NEIGHBOURS_MOST)))
        return false;
    return message_size(message) == size;
}

struct wire *wire_open(int *argc, char ***argv)
{
    struct wire *wire = calloc(1, sizeof(*wire));
    int level;

    /* The coordinator shares a processor with a worker, so Open MPI would give up the processor at each look
     * for messages that finds none. Beside another busy process that costs a time slice, and a run of
     * milliseconds takes several looks. Ranks do not wait inside MPI while runs train: they sleep between two
     * looks. A user's own setting stays. */
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
    if (!wire || MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        free(wire);
        return NULL;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &wire->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &wire->size);
    wire->dead = calloc((size_t)wire->size, sizeof(*wire->dead));
    wire->end = &wire->first;
    if (wire->dead)
        return wire;
    free(wire);
    return NULL;
}

static void release_parcels(struct parcel *parcel)
{
    while (parcel) {
        struct parcel *next = parcel->next;
        free(parcel);
        parcel = next;
    }
}

static int closing_status;

static void on_alarm(int number)
{
    (void)number;
    _exit(closing_status);
}

void wire_close(struct wire *wire, bool together, int status)
{
    wire_drain(wire, 0, CLOSE_SECONDS);
    if (!together)
        return;
    closing_status = status;
    signal(SIGALRM, on_alarm);
    alarm(FINALIZE_SECONDS);
    MPI_Finalize();
    alarm(0);
    release_parcels(wire->first);
    release_parcels(wire->spare);
    free(wire->dead);
    free(wire);
}

bool wire_is_coordinator(const struct wire *wire)
{
    return wire->rank == ADDRESS_COORDINATOR;
}

int wire_size(const struct wire *wire)
{
    return wire->size;
}

const char *wire_library(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    if (text[0])
        return text;
    MPI_Get_library_version(text, &length);
    /* "MPICH Version:\t4.0.2\nMPICH Release date: ..." becomes "MPICH 4.0.2" */
    char *label = strstr(text, " Version"), *end = text + strcspn(text, "\r\n");
    *end = '\0';
    if (label && label <= end) {
        char *number = label + strcspn(label, ":");
        number += strspn(number, ": \t");
        memmove(label + 1, number, strlen(number) + 1);
    }
    return text;
}

int wire_library_name(void)
{
    return (int)strcspn(wire_library(), ",");
}

static void append_parcel(struct wire *wire, struct parcel *parcel)
{
    parcel->next = NULL;
    *wire->end = parcel;
    wire->end = &parcel->next;
    wire->under_way++;
}

static void keep_parcel(struct wire *wire, struct parcel *parcel)
{
    parcel->next = wire->spare;
    wire->spare = parcel;
}

/* Recycles the parcels that were sent. Others go to the end of the list. */
static void collect(struct wire *wire)
{
    size_t count = wire->under_way < TESTS_AT_ONCE ? wire->under_way : TESTS_AT_ONCE;

    for (; wire->first && count > 0; count--) {
        struct parcel *parcel = wire->first;
        int done = 0;
        wire->first = parcel->next;
        if (!wire->first)
            wire->end = &wire->first;
        wire->under_way--;
        if (MPI_Test(&parcel->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done)
            keep_parcel(wire, parcel);
        else if (!wire->dead[parcel->address]) /* else MPI keeps the parcel's memory */
            append_parcel(wire, parcel);
    }
}

void wire_send(struct wire *wire, int address, const struct message *message)
{
    struct parcel *parcel;
    size_t size = message_size(message);

    INVARIANT(
        message_is_whole(message, size), "message of kind %lld, %zu bytes", (long long)message->kind, size);
    INVARIANT(address >= 0 && address < wire->size, "address %d of %d", address, wire->size);
    collect(wire);
    if (wire->dead[address])
        return;
    parcel = wire->spare;
    if (parcel)
        wire->spare = parcel->next;
    else
        parcel = malloc(sizeof(*parcel));
    if (!parcel)
        abort(); /* dropping a message silently would lose a run */
    memcpy(&parcel->message, message, size);
    parcel->address = address;
    if (MPI_Isend(&parcel->message, (int)size, MPI_BYTE, address, TAG, MPI_COMM_WORLD, &parcel->request) ==
        MPI_SUCCESS)
        append_parcel(wire, parcel);
    else
        keep_parcel(wire, parcel); /* MPI knows that the process is dead; the program finds out elsewhere */
} // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): collect() waits for it

bool wire_receive(struct wire *wire, int *address, struct message *message)
{
    MPI_Status status;
    int there = 0, size = 0;

    collect(wire);
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    *address = status.MPI_SOURCE;
    bool fits = size >= 0 && (size_t)size <= sizeof(*message);
    int received =
        MPI_Recv(message, (int)sizeof(*message), MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status);
    if (fits && received != MPI_SUCCESS)
        return false;
    if (!fits || !message_is_whole(message, (size_t)size)) /* MPI cuts what does not fit */
        message->kind = MESSAGE_DAMAGED;
    return true;
}

bool wire_drain(struct wire *wire, size_t most, double seconds)
{
    double deadline = clock_now() + seconds;
    struct patience patience = {0};

    for (collect(wire); wire->under_way > most && clock_now() < deadline; collect(wire))
        patience_wait(&patience);
    return wire->under_way <= most;
}

void wire_forget(struct wire *wire, int address)
{
    wire->dead[address] = true;
}
