#include "driver/commands/ending.h"

#include "driver/commands/notify.h"
#include "driver/picture/status_json.h"
#include "driver/text/exit_status.h"
#include "worker/host/clock.h"

#include <stdlib.h>

static enum log_event event_of(const struct ending *ending)
{
    if (ending->status == STATUS_DONE || ending->status == STATUS_RUNS_FAILED)
        return LOG_SWEEP_ENDED;
    if (ending->status == STATUS_STOPPED)
        return LOG_SWEEP_STOPPED;
    return ending->refused ? LOG_START_REFUSED : LOG_SWEEP_FAILED;
}

static void put_end(struct json_writer *writer, const struct ending *ending)
{
    json_writer_whole(writer, "exit_status", ending->status);
    json_writer_text(writer, "message", ending->message[0] ? ending->message : NULL);
    json_writer_real(writer, "seconds", ending->seconds);
}

/* `status` NULL: the dataset could not be read. */
static void write_log(const struct ending *ending, const struct status *status)
{
    struct json_writer *writer = journal_begin(ending->journal, event_of(ending));
    struct error error;

    if (!writer)
        return;
    status_json_path(writer, ending->output);
    put_end(writer, ending);
    if (status) {
        json_writer_whole(writer, "cells", status->survey.cells);
        json_writer_whole(writer, "runs", status->survey.runs);
        json_writer_whole(writer, "ended", status->survey.ended);
        status_json_counts(writer, status->survey.count);
    }
    journal_end(ending->journal, false);
    if (journal_complains(ending->journal, false, &error))
        fprintf(stderr, "%s\n", error.text);
}

/* The object of `status --json`, as far as there is one, with the event. -1: it could not be made. */
static int make_object(FILE *out, const struct ending *ending, const struct status *status)
{
    struct json_writer writer = {.out = out};
    struct error ignored;

    json_writer_open(&writer, NULL, '{');
    status_json_head(&writer, ending->output);
    json_writer_text(&writer, "event", log_event_table[event_of(ending)].name);
    put_end(&writer, ending);
    int result = status ? status_json(&writer, status, &ignored) : 0;
    json_writer_close(&writer, '}');
    fputc('\n', out);
    return result;
}

static int make_text(char **text, size_t *size, const struct ending *ending, const struct status *status)
{
    FILE *out = open_memstream(text, size);

    if (!out)
        return -1;
    int made = make_object(out, ending, status);
    if (fclose(out) == 0 && *text && made == 0) /* fclose may fail without saying so */
        return 0;
    free(*text);
    *text = NULL;
    return -1;
}

static bool is_told(const struct ending *ending)
{
    return ending->status != STATUS_INTERRUPTED && (ending->script || ending->journal);
}

static int read_status(struct status *status, const struct ending *ending)
{
    struct error ignored;

    if (ending->own)
        return status_read_own(status, ending->output, clock_now(), &ignored);
    return status_read(status, ending->output, NULL, clock_now(), &ignored);
}

void ending_log(struct ending *ending)
{
    struct status status;

    if (!is_told(ending))
        return;
    bool readable = ending->output && read_status(&status, ending) == 0;
    write_log(ending, readable ? &status : NULL);
    if (ending->script && make_text(&ending->text, &ending->size, ending, readable ? &status : NULL) != 0 &&
        make_text(&ending->text, &ending->size, ending, NULL) != 0)
        ending->size = 0; /* no memory: the script is called all the same */
    if (readable)
        status_release(&status);
}

void ending_notify(struct ending *ending)
{
    if (is_told(ending) && ending->script)
        notify(ending->script, ending->text, ending->size);
    free(ending->text);
    ending->text = NULL;
}
