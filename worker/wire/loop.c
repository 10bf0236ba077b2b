/*
 * A worker: says hello, waits for its setup, then trains the runs of the orders that it holds, one after
 * another, until it is told to quit.
 *
 * All listening happens between steps, in breaths while files are read or written, and while idle; so one
 * thread is enough, and the patience that each report carries says how long the next one may take. Without a
 * coordinator that it can trust, a worker ends itself: it must neither train nor write what nobody collects.
 * A spare is a worker that has had no setup.
 */
#include "model/core/check.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/host/host.h"
#include "worker/run/run.h"
#include "worker/wire/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNDER_WAY_MOST = 256, HELD_MAX = 32 };

#define POLL_SECONDS 1e-3 /* between two polls for messages while a run trains */
#define PROGRESS_SECONDS 0.25 /* between two reports of progress */
#define LOOK_SECONDS 1 /* between two looks at the neighbours */
#define IDLE_SECONDS 5 /* between two messages of an idle worker or of a spare: see driver/ranks/peers.c */

/* Between two polls of a spare; less in its first seconds, as a short sweep's end should not wait for it. */
#define SPARE_SECONDS 1
#define SPARE_PART 0.05 /* of the time that it has waited */

/*
 * The coordinator sends a message every few seconds: see dispatch.c. A worker that was itself stopped for a
 * while first reads the messages that have come meanwhile.
 */
#define ORPHAN_SECONDS 100 /* longest silence of the coordinator, which may wait for a disk */
#define FIRST_SECONDS 1800 /* the same before its first message, when it reads texts and makes a dataset */
#define GRACE_SECONDS 15 /* extra time for a message to arrive */

/* How long the coordinator should wait for the next message about a run. */
#define PATIENCE_LEAST 30
#define PATIENCE_GAPS 20 /* in units of the longest time between two steps, or two breaths, so far */
#define PATIENCE_MOST 600 /* for files, even if the disk was slow once */
#define SLOWEST_COST 1e10 /* per second: bounds the time of the first step, which is not known yet */

_Static_assert(sizeof(((struct message *)0)->as.hello) <= sizeof(struct run_result) &&
                   sizeof(((struct message *)0)->as.text) <= sizeof(struct run_result) &&
                   sizeof(((struct message *)0)->as.failure) <= sizeof(struct run_result) &&
                   sizeof(((struct message *)0)->as.progress) <= sizeof(struct run_result),
    "a result is the longest message of a worker, except the values of a row");

/*
 * How long a worker on another host than the coordinator waits for its mark. A client of a network file
 * system asks the server anew whenever a folder is opened, as mark_await does, so this is the time that a
 * busy server may take. No run begins before (BEGIN_SECONDS in driver/ranks/dispatch.c), so it must not be
 * long.
 */
#define MARK_SECONDS 10

struct loop {
    struct wire *wire;
    struct setup setup;
    struct seat seat;
    int64_t rank, worker;
    bool contacted; /* the coordinator has sent something. Before its first setup: this rank is a spare */
    unsigned char *pieces; /* of the setup, while it arrives */
    int64_t pieces_come, pieces_total; /* bytes */
    struct corpus corpus;
    struct arena arena;
    struct unigram unigram;
    struct keeper keeper;
    bool ready, quit, together;
    int status; /* valid once quit and together are set */
    struct train_order held[HELD_MAX]; /* held[0] is the current run while `training` */
    int used;
    bool training, stop, drop; /* stop: hand back the current run; drop: without saving it */
    struct run_progress progress; /* of the current run */
    struct metric_form form; /* of its rows */
    double looked, longest; /* time of the last end of a step; longest time between two */
    struct breath breath; /* called while files are read and written */
    double breathed, longest_breath; /* time of the last breath; longest time between two, over all files */
    double polled, reported; /* time of the last poll for messages, and of the last report of progress */
    double begun, spoken, heard; /* times of the hello, the last message sent and the last one received */
    struct neighbours neighbours; /* whose death this rank reports, because it is on the same host */
    double looked_around;
    struct message message; /* room for one message, sent or received */
};

/* Returns room for a message of a kind to send; all other bytes are 0. */
static struct message *blank(struct loop *loop, enum message_kind kind)
{
    memset(&loop->message, 0, offsetof(struct message, as) + sizeof(loop->message.as.result));
    loop->message.kind = kind;
    return &loop->message;
}

/* Ends the process: without a coordinator that it can trust, a worker must neither train nor write. */
_Noreturn static void leave(const char *why)
{
    log_line("%s", why);
    _exit(ERROR_ENVIRONMENT);
}

/* Sends the message. Ends the process if the coordinator no longer takes messages. */
static void send(struct loop *loop)
{
    double now = clock_now(), silence = now - loop->heard;

    wire_send(loop->wire, ADDRESS_COORDINATOR, &loop->message);
    loop->spoken = now;
    if (!wire_drain(loop->wire, UNDER_WAY_MOST, GRACE_SECONDS + fmax(ORPHAN_SECONDS - silence, 0)))
        leave("the coordinator no longer takes messages");
}

/* Looks whether neighbours are alive, and tells the coordinator, which may be on another host, if not. */
static void look_around(struct loop *loop, double now)
{
    struct neighbours *them = &loop->neighbours;

    if (now - loop->looked_around < LOOK_SECONDS)
        return;
    loop->looked_around = now;
    for (int64_t i = them->count - 1; i >= 0; i--) {
        struct process process = {.pid = (long)them->rank[i].pid, .start = them->rank[i].start};
        if (process_lives(&process))
            continue;
        blank(loop, MESSAGE_LOSS)->as.lost.address = them->rank[i].address;
        send(loop);
        them->rank[i] = them->rank[--them->count];
    }
}

/* ---- progress, and how long the coordinator should wait for more ---- */

/* Reports the progress of the run, and after how many seconds of silence to give this worker up. */
static void report_progress(struct loop *loop, double patience)
{
    struct message *message = blank(loop, MESSAGE_PROGRESS);

    loop->progress.patience = patience;
    loop->reported = clock_now();
    message->as.progress = loop->progress;
    send(loop);
}

static double usual_patience(const struct loop *loop)
{
    return fmax(PATIENCE_LEAST, PATIENCE_GAPS * loop->longest);
}

static double file_patience(const struct loop *loop)
{
    return fmin(fmax(PATIENCE_LEAST, PATIENCE_GAPS * loop->longest_breath), PATIENCE_MOST);
}

static void on_breath(void *context)
{
    struct loop *loop = context;
    double now = clock_now();

    loop->longest_breath = fmax(loop->longest_breath, now - loop->breathed);
    loop->breathed = now;
    look_around(loop, now);
    if (now - loop->reported >= PROGRESS_SECONDS)
        report_progress(loop, file_patience(loop));
}

/* Reports before a file is read or written, as that may be slow; end_file leaves it out of a step's time. */
static void begin_file(struct loop *loop)
{
    loop->breathed = clock_now();
    report_progress(loop, file_patience(loop));
}

static void end_file(struct loop *loop)
{
    loop->looked = clock_now();
    report_progress(loop, usual_patience(loop));
}

/* ---- the setup: processors, folder, corpus ---- */

/* Sends a line of the keeper for the user. */
static void say(void *context, const char *line)
{
    struct loop *loop = context;
    struct message *message = blank(loop, MESSAGE_NOTE);

    snprintf(message->as.text, sizeof(message->as.text), "%.*s", REASON_SIZE - 1, line);
    send(loop);
}

/* Reports a failure after which neither this worker nor the sweep can go on. */
static void refuse(struct loop *loop, enum error_status status, const char *why)
{
    struct failure *failure = &blank(loop, MESSAGE_FAILED)->as.failure;

    failure->status = status;
    snprintf(failure->text, sizeof(failure->text), "%.*s", REASON_SIZE - 1, why);
    send(loop);
}

/* Is the folder of the output the coordinator's? In another it would not find what this worker writes. */
static bool sees_mark(struct loop *loop)
{
    const struct setup *setup = &loop->setup;
    char why[REASON_SIZE], host[HOST_SIZE];
    bool here = strcmp(environment_host(host, sizeof(host)), setup->host) == 0;
    int status = mark_await(setup->folder, setup->mark, here ? 0 : MARK_SECONDS);

    if (status == 0)
        return true;
    snprintf(why, sizeof(why),
        "%.100s is not the folder that the coordinator on %s writes (%s); use an -o that all hosts share",
        setup->folder, setup->host, strerror(status));
    refuse(loop, ERROR_ENVIRONMENT, why);
    return false;
}

static void set_up(struct loop *loop, size_t size)
{
    struct setup *setup = &loop->setup;
    enum corpus_fault fault;
    struct error error;

    if (setup_decode(setup, loop->pieces, size) != 0) {
        refuse(loop, ERROR_ENVIRONMENT, "no memory");
        return;
    }
    free(loop->pieces);
    loop->pieces = NULL;
    if (!sees_mark(loop))
        return;
    if (loop->seat.number >= 0 && setup->threads > 0)
        processors_pin((int)loop->seat.number, (int)loop->seat.count, setup->threads);
    log_open(setup->folder, setup->session, loop->rank, loop->worker);
    loop->keeper = (struct keeper){.folder = setup->folder,
        .session = setup->session,
        .interval = setup->checkpoint_seconds,
        .say = say,
        .context = loop,
        .mark = setup->mark,
        .breath = &loop->breath};
    setup->source.breath = &loop->breath;
    begin_file(loop);
    if (node_load_corpus(&loop->corpus, &setup->source, &fault, &error) != 0) {
        refuse(loop, ERROR_ENVIRONMENT, error.text);
    } else if (memcmp(&loop->corpus.digest, &setup->corpus, sizeof(loop->corpus.digest)) != 0) {
        refuse(loop, ERROR_ENVIRONMENT, "the texts differ from those that the coordinator has read");
    } else {
        loop->ready = true;
        blank(loop, MESSAGE_READY);
        send(loop);
    }
}

/* Takes a piece of the setup; after the last one, sets the worker up. Pieces come in order, and together are
 * as long as each of them says. */
static void take_piece(struct loop *loop, const struct setup_piece *piece)
{
    if ((loop->pieces_come > 0 && piece->total != loop->pieces_total) || piece->offset != loop->pieces_come ||
        piece->count > piece->total - piece->offset)
        leave("the coordinator has sent a setup in pieces that do not fit");
    loop->pieces_total = piece->total;
    loop->seat = piece->seat;
    loop->rank = piece->rank;
    loop->worker = piece->worker;
    loop->pieces_come += piece->count;
    if (piece->offset == 0) {
        loop->pieces = malloc((size_t)piece->total);
        if (!loop->pieces)
            refuse(loop, ERROR_ENVIRONMENT, "no memory");
    }
    if (!loop->pieces)
        return;
    memcpy(loop->pieces + piece->offset, piece->bytes, (size_t)piece->count);
    if (loop->pieces_come == piece->total)
        set_up(loop, (size_t)piece->total);
}

/* ---- orders ---- */

/* The result of an order that is handed back. */
static const struct result returned = {.outcome = OUTCOME_PENDING, .diverged_step = -1};

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

/* Asks to hand back the current run, saved or not. The first request decides whether it is saved. */
static void stop_training(struct loop *loop, bool save)
{
    loop->drop = loop->stop ? loop->drop : !save;
    loop->stop = true;
}

/* Hands back the order of `ticket`, or all for 0; the run that trains follows at the end of its step. */
static void hand_back(struct loop *loop, uint64_t ticket, bool save)
{
    for (int i = loop->used - 1; i >= 0; i--) {
        if (ticket != 0 && loop->held[i].ticket != ticket)
            continue;
        if (i == 0 && loop->training) {
            stop_training(loop, save);
            continue;
        }
        uint64_t held = loop->held[i].ticket;
        remove_held(loop, i);
        send_result(loop, held, &returned);
    }
}

/* ---- listening ---- */

/* Handles one message; false if none has come. */
static bool listen(struct loop *loop)
{
    const struct message *message = &loop->message;
    int address;

    if (!wire_receive(loop->wire, &address, &loop->message))
        return false;
    loop->heard = clock_now();
    loop->contacted = true;
    if (message->kind == MESSAGE_SETUP) {
        take_piece(loop, &message->as.setup);
    } else if (message->kind == MESSAGE_ORDER) {
        const struct train_order *order = &message->as.order;
        if (order->ticket == 0 || order->cell < 0)
            leave("the coordinator has sent an order that cannot be true");
        if (loop->used == HELD_MAX || signals_stop())
            send_result(loop, order->ticket, &returned);
        else
            loop->held[loop->used++] = *order;
    } else if (message->kind == MESSAGE_STOP) {
        hand_back(loop, message->as.stop.ticket, message->as.stop.save);
    } else if (message->kind == MESSAGE_NEIGHBOURS) {
        loop->neighbours = message->as.neighbours;
    } else if (message->kind == MESSAGE_DAMAGED) {
        leave("a message of the coordinator is damaged");
    } else if (message->kind == MESSAGE_QUIT) {
        stop_training(loop, message->as.quit.save);
        loop->quit = true;
        loop->together = message->as.quit.together;
        loop->status = (int)message->as.quit.status;
    }
    return true;
}

/* Ends this process if the coordinator is gone. */
static void look_for_coordinator(struct loop *loop)
{
    struct patience patience = {0};
    double begin = clock_now();

    if (begin - loop->heard < (loop->contacted ? ORPHAN_SECONDS : FIRST_SECONDS))
        return;
    while (!listen(loop)) {
        if (clock_now() - begin > GRACE_SECONDS)
            leave("no more messages from the coordinator");
        patience_wait(&patience);
    }
}

/* ---- training ---- */

static void on_row(void *context, int64_t step, const double *values, size_t count)
{
    struct loop *loop = context;

    INVARIANT(count == metric_row_size(&loop->form, step), "%zu values at step %lld, %zu in a row", count,
        (long long)step, metric_row_size(&loop->form, step));
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

static enum verdict on_step(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct loop *loop = context;
    double now = clock_now();

    loop->progress.step = step;
    loop->progress.last_step = last_step;
    loop->progress.tokens = tokens;
    loop->longest = fmax(loop->longest, now - loop->looked);
    loop->looked = now;
    if (now - loop->polled >= POLL_SECONDS) {
        loop->polled = now;
        while (listen(loop))
            ;
        look_for_coordinator(loop);
        look_around(loop, now);
        if (signals_stop())
            hand_back(loop, 0, true);
    }
    if (now - loop->reported >= PROGRESS_SECONDS)
        report_progress(loop, usual_patience(loop));
    if (loop->stop && loop->drop)
        return VERDICT_STOP;
    return keeper_verdict(&loop->keeper, step, loop->stop, now);
}

static bool on_resume(void *context, struct snapshot *snapshot)
{
    struct loop *loop = context;

    loop->progress.step = -1;
    begin_file(loop);
    bool resumed = keeper_resume(&loop->keeper, snapshot);
    loop->progress.step = 0;
    if (resumed) {
        loop->progress.step = snapshot->step;
        loop->progress.tokens = snapshot->result->tokens;
        log_line("goes on at step %lld", (long long)snapshot->step);
    }
    end_file(loop);
    return resumed;
}

static int on_begin(
    void *context, int64_t name, const struct weight_layout *layout, scalar *weights, struct error *error)
{
    struct loop *loop = context;

    begin_file(loop);
    int status = starts_load(&loop->setup.starts, name, layout, weights, &loop->breath, error);
    end_file(loop);
    return status;
}

static void on_save(void *context, const struct snapshot *snapshot)
{
    struct loop *loop = context;

    begin_file(loop);
    keeper_save(&loop->keeper, snapshot);
    if (loop->keeper.saved_step == snapshot->step) {
        blank(loop, MESSAGE_CHECKPOINT)->as.checkpoint.ticket = loop->held[0].ticket;
        send(loop);
        log_line("has saved step %lld", (long long)snapshot->step);
    }
    end_file(loop);
}

static void on_finish(void *context, const struct snapshot *snapshot)
{
    struct loop *loop = context;

    begin_file(loop);
    keeper_finish(&loop->keeper, snapshot);
    end_file(loop);
}

static void on_keep(void *context, const struct snapshot *snapshot)
{
    struct loop *loop = context;

    begin_file(loop);
    keeper_keep(&loop->keeper, snapshot);
    blank(loop, MESSAGE_CHECKPOINT)->as.checkpoint =
        (struct run_checkpoint){.ticket = loop->held[0].ticket, .kept = true};
    send(loop);
    end_file(loop);
}

/* Trains the first run that is held, and sends its result. */
static void train_first(struct loop *loop)
{
    const struct train_order order = loop->held[0];
    struct keeper *keeper = &loop->keeper;
    struct observer observer = {.context = loop,
        .row = on_row,
        .carry_on = on_step,
        .begin = on_begin,
        .save = on_save,
        .unigram = &loop->unigram};
    struct result result;
    char digest[DIGEST_TEXT];

    digest_format(&order.digest, digest);
    log_line("begins run %s cell %lld", digest, (long long)order.cell);
    log_run(digest, order.cell);
    keeper_begin(keeper, &order.digest, order.ticket, order.resume);
    if (order.shares) {
        keeper_share(keeper, &order.trunk);
        observer.keep = on_keep;
    }
    if (keeper->resume)
        observer.resume = on_resume;
    if (order.run.save_weights != SAVE_NOTHING)
        observer.finish = on_finish;
    loop->progress =
        (struct run_progress){.ticket = order.ticket, .last_step = run_last_step(&order.run, &loop->corpus)};
    loop->form = metric_form(&order.run, &loop->setup.measure);
    loop->training = true;
    loop->stop = loop->drop = false;
    loop->longest = train_step_cost(&order.run, loop->corpus.vocabulary) / SLOWEST_COST;
    loop->looked = loop->polled = clock_now();
    if (!keeper->resume) /* else on_resume reports the first step */
        report_progress(loop, usual_patience(loop));
    train(&order.run, &loop->corpus, &loop->setup.measure, &observer, &loop->arena, &result);
    loop->training = false;
    loop->progress = (struct run_progress){0};
    log_run(NULL, 0);
    if (keeper->failed.text[0]) {
        refuse(loop, keeper->failed.status, keeper->failed.text);
        keeper->failed.text[0] = '\0'; /* the sweep goes on if another worker has the run by now */
        result.outcome = OUTCOME_PENDING;
    }
    remove_held(loop, 0);
    send_result(loop, order.ticket, &result);
}

/* This process among those of its machine, by the numbers of Open MPI's or MPICH's launcher; else -1. */
static struct seat own_seat(void)
{
    static const char *const variables[][2] = {
        {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"}, {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"}};

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        const char *number = getenv(variables[i][0]), *count = getenv(variables[i][1]);
        if (number && count)
            return (struct seat){strtol(number, NULL, 10), strtol(count, NULL, 10)};
    }
    return (struct seat){-1, -1};
}

static void live_until_quit(struct loop *loop)
{
    struct hello *hello = &blank(loop, MESSAGE_HELLO)->as.hello;
    struct patience patience = {0};

    loop->begun = loop->heard = clock_now();
    hello->process = process_self();
    hello->seat = own_seat();
    send(loop);
    while (!loop->quit) {
        bool spare = loop->contacted && loop->pieces_come == 0;
        if (signals_stop())
            hand_back(loop, 0, true);
        if (listen(loop)) {
            patience_renew(&patience);
        } else if (loop->ready && loop->used > 0) {
            train_first(loop);
            patience_renew(&patience);
        } else {
            look_for_coordinator(loop);
            look_around(loop, clock_now());
            if ((loop->ready || spare) && clock_now() - loop->spoken > IDLE_SECONDS)
                report_progress(loop, PATIENCE_LEAST);
            if (spare)
                clock_pause(fmin(SPARE_PART * (clock_now() - loop->begun), SPARE_SECONDS));
            else
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
    loop->breath = (struct breath){on_breath, loop};
    live_until_quit(loop);
    bool together = loop->together;
    int status = loop->status;
    log_close();
    arena_release(&loop->arena);
    corpus_release(&loop->corpus);
    setup_release(&loop->setup);
    free(loop->pieces);
    free(loop);
    wire_close(wire, together, 0);
    if (!together)
        _exit(0);
    return status;
}
