/* The setup of a worker: the coordinator's data, its processors, its folder, its corpus. */
#include "worker/wire/loop_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/host/clock.h"
#include "worker/host/environment.h"
#include "worker/host/log.h"
#include "worker/host/node.h"
#include "worker/host/processors.h"

/*
 * How long a worker on another host than the coordinator waits for its mark. A client of a network file
 * system asks the server anew whenever a folder is opened, as mark_await does, so this is the time that a
 * busy server may take. No run begins before (BEGIN_SECONDS in driver/ranks/dispatch.c), so it must not be
 * long.
 */
#define MARK_SECONDS 10

/* Sends a line for the user. */
static void loop_say(struct loop *loop, const char *line)
{
    struct message *message = loop_blank(loop, MESSAGE_NOTE);

    snprintf(message->as.text, sizeof(message->as.text), "%.*s", REASON_SIZE - 1, line);
    loop_send(loop);
}

void loop_refuse(struct loop *loop, enum error_status status, const char *why)
{
    struct failure *failure = &loop_blank(loop, MESSAGE_FAILED)->as.failure;

    failure->status = status;
    snprintf(failure->text, sizeof(failure->text), "%.*s", REASON_SIZE - 1, why);
    loop_send(loop);
}

static bool load_corpus(struct loop *loop)
{
    enum corpus_fault fault;
    struct error error;

    loop->setup.source.breath = &loop->breath;
    loop_begin_file(loop);
    if (node_load_corpus(&loop->corpus, &loop->setup.source, &fault, &error) != 0) {
        loop_refuse(loop, ERROR_ENVIRONMENT, error.text);
        return false;
    }
    if (memcmp(&loop->corpus.digest, &loop->setup.corpus, sizeof(loop->corpus.digest)) != 0) {
        loop_refuse(loop, ERROR_ENVIRONMENT, "the texts differ from those that the coordinator has read");
        return false;
    }
    return true;
}

static void say_note(void *context, const char *line)
{
    loop_say(context, line);
}

/* Checks that the folder of the output is the coordinator's; in another folder the coordinator would not find
 * what this worker writes. */
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
    loop_refuse(loop, ERROR_ENVIRONMENT, why);
    return false;
}

static void prepare_keeping(struct loop *loop)
{
    const struct setup *setup = &loop->setup;

    log_open(setup->folder, setup->session, loop->rank, loop->worker);
    loop->keeper = (struct keeper){.folder = setup->folder,
        .session = setup->session,
        .interval = setup->checkpoint_seconds,
        .say = say_note,
        .context = loop,
        .mark = setup->mark,
        .breath = &loop->breath};
}

static void set_up(struct loop *loop, size_t size)
{
    if (setup_decode(&loop->setup, loop->pieces, size) != 0) {
        loop_refuse(loop, ERROR_ENVIRONMENT, "no memory");
        return;
    }
    free(loop->pieces);
    loop->pieces = NULL;
    if (!sees_mark(loop))
        return;
    if (loop->seat.number >= 0 && loop->setup.threads > 0)
        processors_pin((int)loop->seat.number, (int)loop->seat.count, loop->setup.threads);
    prepare_keeping(loop);
    loop->ready = load_corpus(loop);
    if (loop->ready) {
        loop_blank(loop, MESSAGE_READY);
        loop_send(loop);
    }
}

/* Pieces come in order, and together are as long as each of them says. */
static bool comes_next(const struct loop *loop, const struct setup_piece *piece)
{
    bool same = loop->pieces_come == 0 || piece->total == loop->pieces_total;

    return same && piece->offset == loop->pieces_come && piece->count <= piece->total - piece->offset;
}

void loop_take_piece(struct loop *loop, const struct setup_piece *piece)
{
    if (!comes_next(loop, piece))
        loop_leave("the coordinator has sent a setup in pieces that do not fit");
    loop->pieces_total = piece->total;
    loop->seat = piece->seat;
    loop->rank = piece->rank;
    loop->worker = piece->worker;
    loop->pieces_come += piece->count;
    if (piece->offset == 0) {
        loop->pieces = malloc((size_t)piece->total);
        if (!loop->pieces)
            loop_refuse(loop, ERROR_ENVIRONMENT, "no memory");
    }
    if (!loop->pieces)
        return;
    memcpy(loop->pieces + piece->offset, piece->bytes, (size_t)piece->count);
    if (loop->pieces_come == piece->total)
        set_up(loop, (size_t)piece->total);
}
