#include "worker/loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker/clock.h"
#include "worker/environment.h"
#include "worker/keeper.h"
#include "worker/node.h"
#include "worker/processors.h"
#include "worker/signals.h"

enum { COORDINATOR = 0, HELD_MAX = 16, UNDER_WAY_MOST = 256 };

#define POLL_SECONDS 1e-3 /* between two looks for messages while a run trains */
#define PROGRESS_SECONDS 0.25

struct loop {
    struct wire *wire;
    struct setup setup;
    unsigned char *pieces; /* of the setup, while it arrives */
    int64_t pieces_come;
    struct corpus corpus;
    struct arena arena;
    bool ready, quit, together;
    struct train_order held[HELD_MAX]; /* held[0] is the one that trains, while `training` */
    int used;
    bool training, stop; /* stop: the run that trains is to be handed back */
    double polled, reported;
    struct keeper keeper;
    struct message message; /* room for one, in either direction */
};

static struct message *blank(struct loop *loop, enum message_kind kind)
{
    memset(&loop->message, 0, offsetof(struct message, as) + sizeof(loop->message.as.result));
    loop->message.kind = kind;
    return &loop->message;
}

static void send(struct loop *loop)
{
    wire_send(loop->wire, COORDINATOR, &loop->message);
    wire_drain(loop->wire, UNDER_WAY_MOST, INFINITY);
}

static void send_result(struct loop *loop, uint64_t ticket, const struct result *result)
{
    struct message *message = blank(loop, MESSAGE_RESULT);

    message->as.result.ticket = ticket;
    message->as.result.result = *result;
    send(loop);
}

static void remove_held(struct loop *loop, int at)
{
    loop->used--;
    memmove(&loop->held[at], &loop->held[at + 1], (size_t)(loop->used - at) * sizeof(loop->held[0]));
}

/* Hands back the order of `ticket`, or all for 0; the one that trains follows when its step is over. */
static void hand_back(struct loop *loop, uint64_t ticket)
{
    const struct result stopped = {.outcome = OUTCOME_PENDING, .diverged_step = -1};

    for (int i = loop->used - 1; i >= 0; i--) {
        if (ticket != 0 && loop->held[i].ticket != ticket)
            continue;
        if (i == 0 && loop->training) {
            loop->stop = true;
            continue;
        }
        uint64_t returned = loop->held[i].ticket;
        remove_held(loop, i);
        send_result(loop, returned, &stopped);
    }
}

/* ---- setting up ---- */

static void refuse(struct loop *loop, const char *why)
{
    struct message *message = blank(loop, MESSAGE_REFUSED);

    snprintf(message->as.text, sizeof(message->as.text), "%.*s", REASON_SIZE - 1, why);
    send(loop);
}

/* The coordinator needs no processor of its own: it sleeps. */
static void pin(const struct loop *loop)
{
    const char *rank = getenv("OMPI_COMM_WORLD_LOCAL_RANK"), *size = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    char host[HOST_SIZE];

    if (!rank || !size || loop->setup.threads == 0)
        return;
    int beside = strcmp(environment_host(host, sizeof(host)), loop->setup.host) == 0;
    processors_pin(
        (int)strtol(rank, NULL, 10) - beside, (int)strtol(size, NULL, 10) - beside, loop->setup.threads);
}

static bool load(struct loop *loop)
{
    enum corpus_fault fault;
    struct error error;

    if (node_load_corpus(&loop->corpus, &loop->setup.source, &fault, &error) != 0) {
        refuse(loop, error.text);
        return false;
    }
    if (memcmp(&loop->corpus.digest, &loop->setup.corpus, sizeof(loop->corpus.digest)) != 0) {
        refuse(loop, "the texts are not those that the coordinator has read");
        return false;
    }
    return true;
}

static void set_up(struct loop *loop, size_t size)
{
    if (setup_decode(&loop->setup, loop->pieces, size) != 0) {
        refuse(loop, "no memory");
        return;
    }
    free(loop->pieces);
    loop->pieces = NULL;
    pin(loop);
    loop->keeper.folder = loop->setup.folder;
    loop->ready = load(loop);
    if (loop->ready) {
        blank(loop, MESSAGE_READY);
        send(loop);
    }
}

static void take_piece(struct loop *loop, const struct setup_piece *piece)
{
    if (!loop->pieces)
        loop->pieces = malloc((size_t)piece->total);
    if (!loop->pieces) {
        refuse(loop, "no memory");
        return;
    }
    memcpy(loop->pieces + piece->offset, piece->bytes, (size_t)piece->count);
    loop->pieces_come += piece->count;
    if (loop->pieces_come == piece->total)
        set_up(loop, (size_t)piece->total);
}

/* ---- listening ---- */

static void take_order(struct loop *loop, const struct train_order *order)
{
    struct train_order copy = *order;

    if (loop->used == HELD_MAX || signals_stop()) {
        const struct result stopped = {.outcome = OUTCOME_PENDING, .diverged_step = -1};
        send_result(loop, copy.ticket, &stopped);
        return;
    }
    loop->held[loop->used++] = copy;
}

static bool listen(struct loop *loop)
{
    const struct message *message = &loop->message;
    int rank;

    if (!wire_receive(loop->wire, &rank, &loop->message))
        return false;
    if (message->kind == MESSAGE_SETUP) {
        take_piece(loop, &message->as.setup);
    } else if (message->kind == MESSAGE_ORDER) {
        take_order(loop, &message->as.order);
    } else if (message->kind == MESSAGE_STOP) {
        hand_back(loop, message->as.ticket);
    } else if (message->kind == MESSAGE_QUIT) {
        loop->quit = loop->stop = true;
        loop->together = message->as.quit.together;
    }
    return true;
}

/* ---- training ---- */

static void on_row(void *context, int64_t step, const double *values, size_t count)
{
    struct loop *loop = context;

    for (size_t offset = 0; offset < count; offset += PIECE_VALUES) {
        struct row_piece *row = &blank(loop, MESSAGE_ROW)->as.row;
        row->ticket = loop->held[0].ticket;
        row->step = step;
        row->offset = (int64_t)offset;
        row->count = (int64_t)(count - offset < PIECE_VALUES ? count - offset : PIECE_VALUES);
        memcpy(row->values, values + offset, (size_t)row->count * sizeof(*values));
        send(loop);
    }
}

static void send_progress(struct loop *loop, int64_t step, int64_t last_step, int64_t tokens)
{
    struct run_progress progress = {loop->held[0].ticket, step, last_step, tokens};

    blank(loop, MESSAGE_PROGRESS)->as.progress = progress;
    send(loop);
}

static enum verdict on_step(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct loop *loop = context;
    double now = clock_now();

    if (now - loop->polled >= POLL_SECONDS) {
        loop->polled = now;
        while (listen(loop))
            ;
        if (signals_stop())
            hand_back(loop, 0);
    }
    if (now - loop->reported >= PROGRESS_SECONDS) {
        loop->reported = now;
        send_progress(loop, step, last_step, tokens);
    }
    return loop->stop ? VERDICT_STOP : VERDICT_CARRY_ON;
}

static void on_finish(void *context, const struct snapshot *snapshot)
{
    struct loop *loop = context;

    keeper_finish(&loop->keeper, snapshot);
}

/* A run whose weights could not be saved has failed. */
static void check_saved(struct loop *loop, struct result *result)
{
    if (!loop->keeper.failed.text[0])
        return;
    result->outcome = OUTCOME_FAILED;
    snprintf(result->reason, sizeof(result->reason), "%.*s", REASON_SIZE - 1, loop->keeper.failed.text);
    loop->keeper.failed.text[0] = '\0';
}

static void train_first(struct loop *loop)
{
    const struct train_order order = loop->held[0];
    struct observer observer = {.context = loop, .row = on_row, .carry_on = on_step, .finish = on_finish};
    struct result result;

    keeper_begin(&loop->keeper, &order.digest, order.ticket, false);
    loop->training = true;
    loop->stop = false;
    loop->polled = loop->reported = clock_now();
    send_progress(loop, 0, run_last_step(&order.run, &loop->corpus), 0);
    train(&order.run, &loop->corpus, &loop->setup.measure, &observer, &loop->arena, &result);
    loop->training = false;
    check_saved(loop, &result);
    remove_held(loop, 0);
    send_result(loop, order.ticket, &result);
}

static void say_hello(struct loop *loop)
{
    struct hello *hello = &blank(loop, MESSAGE_HELLO)->as.hello;

    hello->pid = getpid();
    environment_host(hello->host, sizeof(hello->host));
    send(loop);
}

static void live(struct loop *loop)
{
    struct patience patience = {0};

    say_hello(loop);
    while (!loop->quit) {
        if (signals_stop())
            hand_back(loop, 0);
        if (listen(loop)) {
            patience_renew(&patience);
        } else if (loop->ready && loop->used > 0) {
            train_first(loop);
            patience_renew(&patience);
        } else {
            patience_wait(&patience);
        }
    }
}

int worker_loop(struct wire *wire)
{
    struct loop *loop = calloc(1, sizeof(*loop));

    if (!loop) {
        fputs("no memory for a worker\n", stderr);
        _exit(ERROR_ENVIRONMENT);
    }
    loop->wire = wire;
    live(loop);
    bool together = loop->together;
    arena_release(&loop->arena);
    corpus_release(&loop->corpus);
    setup_release(&loop->setup);
    free(loop->pieces);
    free(loop);
    wire_close(wire, together);
    if (!together)
        _exit(0);
    return 0;
}
