/*
 * A coordinator with thousands of workers on one machine:
 *     SCALE_WORKERS=10000 mpirun -n 2 scale SWEEP.yaml OUT.nc
 * Rank 0 is the program's own `run`, with its dataset and lease. Rank 1 stands for all workers, each of which
 * ends a run as soon as it has got it, with the messages that a worker sends: progress, rows, the result.
 * They are real messages of MPI: what rank 0 sends to a worker goes to rank 1 with the worker's address as
 * its tag, and the other way round. Rank 1 prints, as pairs of a name and a value, what rank 0 took.
 */
#include "driver/commands/commands.h"
#include "driver/commands/inside.h"
#include "driver/sweep/sweep.h"
#include "worker/host/host.h"
#include "worker/wire/inside.h"

#include <mpi.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { WORKERS_DEFAULT = 10000, PER_HOST = 100, OTHER = 1, BACK = 32766 };

static int own_rank = -1, workers;

/* What rank 0 tells rank 1 when it ends. */
struct report {
    double processor, wall; /* seconds since its first order */
    double messages; /* that it has received */
    double megabytes; /* the largest resident set */
};

static struct report report;

static double processor_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "scale: %s\n", what);
    exit(ERROR_ENVIRONMENT);
}

/* ---- the workers ---- */

static struct sweep sweep;
static struct corpus corpus;
static struct message out;

static void say(int address, enum message_kind kind, size_t size)
{
    out.kind = kind;
    PMPI_Send(&out, (int)(offsetof(struct message, as) + size), MPI_BYTE, 0, address, MPI_COMM_WORLD);
}

static void send_row(int address, uint64_t ticket, int64_t step, size_t values)
{
    struct row_piece *row = &out.as.row;

    for (size_t at = 0; at < values; at += PIECE_VALUES) {
        *row = (struct row_piece){.ticket = ticket, .step = step, .offset = (int64_t)at};
        row->count = (int64_t)(values - at < PIECE_VALUES ? values - at : PIECE_VALUES);
        for (int64_t i = 0; i < row->count; i++)
            row->values[i] = 1;
        say(address, MESSAGE_ROW, offsetof(struct row_piece, values) + (size_t)row->count * sizeof(double));
    }
}

static void train_at_once(int address, const struct train_order *order)
{
    struct metric_form form = metric_form(&order->run, &sweep.measure);
    int64_t last = run_last_step(&order->run, &corpus);

    out.as.progress =
        (struct run_progress){.ticket = order->ticket, .step = 0, .last_step = last, .patience = 3600};
    say(address, MESSAGE_PROGRESS, sizeof(out.as.progress));
    for (int64_t step = 0; step <= last; step++)
        if (measure_at(&sweep.measure, step, last))
            send_row(address, order->ticket, step, metric_row_size(&form, step));
    send_row(address, order->ticket, STEP_OF_RUN, metric_row_size(&form, STEP_OF_RUN));
    memset(&out.as.result, 0, sizeof(out.as.result));
    out.as.result.ticket = order->ticket;
    out.as.result.result = (struct result){.outcome = OUTCOME_DONE,
        .last_step = last,
        .diverged_step = -1,
        .seconds = 1,
        .step_seconds = 1,
        .tokens = 1,
        .norm_growth = 1};
    say(address, MESSAGE_RESULT, sizeof(out.as.result));
}

static void say_hello(int address)
{
    out.as.hello = (struct hello){.process = {.pid = address}, .seat = {-1, -1}};
    snprintf(out.as.hello.process.place, PROCESS_PLACE, "host%d/pid:[1]", address / PER_HOST);
    say(address, MESSAGE_HELLO, sizeof(out.as.hello));
}

/* Returns when every worker has been told to quit. */
static void stand_for_workers(void)
{
    struct message *in = malloc(sizeof(*in));
    int quit = 0;

    if (!in)
        fail("no memory");
    for (int address = 1; address <= workers; address++)
        say_hello(address);
    while (quit < workers) {
        MPI_Status status;
        PMPI_Recv(in, (int)sizeof(*in), MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        const struct setup_piece *setup = &in->as.setup;
        if (in->kind == MESSAGE_SETUP && setup->offset + setup->count == setup->total)
            say(status.MPI_TAG, MESSAGE_READY, 0);
        else if (in->kind == MESSAGE_ORDER)
            train_at_once(status.MPI_TAG, &in->as.order);
        quit += in->kind == MESSAGE_QUIT;
    }
    free(in);
    PMPI_Recv(&report, sizeof(report), MPI_BYTE, 0, BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("workers %d runs %" PRId64
           " messages %.0f processor_seconds %.6f wall_seconds %.6f megabytes %.1f\n",
        workers, sweep.cells, report.messages, report.processor, report.wall, report.megabytes);
}

/* ---- rank 0: between its wire and MPI ---- */

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int result = PMPI_Init_thread(argc, argv, required, provided), size;

    PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        fail("wants two ranks");
    if (own_rank == 0)
        return result;
    stand_for_workers();
    PMPI_Finalize();
    exit(0);
}

int MPI_Comm_size(MPI_Comm communicator, int *size)
{
    int result = PMPI_Comm_size(communicator, size);

    *size = 1 + workers;
    return result;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
    MPI_Request *request)
{
    (void)tag;
    if (report.processor == 0 && ((const struct message *)buffer)->kind == MESSAGE_ORDER) {
        report.processor = -processor_seconds();
        report.wall = -clock_now();
    }
    return PMPI_Isend(buffer, count, type, OTHER, to, communicator, request);
}

int MPI_Iprobe(int from, int tag, MPI_Comm communicator, int *there, MPI_Status *status)
{
    (void)from;
    (void)tag;
    int result = PMPI_Iprobe(OTHER, MPI_ANY_TAG, communicator, there, status);

    if (*there)
        status->MPI_SOURCE = status->MPI_TAG;
    return result;
}

int MPI_Recv(
    void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator, MPI_Status *status)
{
    (void)tag;
    report.messages++;
    return PMPI_Recv(buffer, count, type, OTHER, from, communicator, status);
}

/* The job is closed by now, and every worker was told to quit. */
int MPI_Finalize(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    report.processor += processor_seconds();
    report.wall += clock_now();
    report.megabytes = (double)usage.ru_maxrss / 1024;
    PMPI_Send(&report, sizeof(report), MPI_BYTE, OTHER, BACK, MPI_COMM_WORLD);
    return PMPI_Finalize();
}

int main(int argc, char **argv)
{
    static char run[] = "run", output[] = "-o";
    const char *told = getenv("SCALE_WORKERS");
    struct error error;

    if (argc != 3)
        fail("SWEEP.yaml OUT.nc");
    workers = told ? atoi(told) : WORKERS_DEFAULT;
    if (workers < 1 || workers >= BACK)
        fail("SCALE_WORKERS is not a number of workers");
    signals_install();
    if (sweep_load(&sweep, argv[1], NULL, 0, &error) != 0 || sweep_load_corpus(&sweep, &corpus, &error) != 0)
        fail(error.text);
    char *arguments[] = {run, argv[1], output, argv[2], NULL};
    return command_call(command_find(run), command_run, 4, arguments);
}
