#include "driver/commands/ending.h"

#include "driver/commands/notify.h"
#include "driver/picture/status_json.h"
#include "driver/text/exit_status.h"
#include "worker/host/clock.h"

#include <stdlib.h>

static const char *event_of(int status)
{
    if (status == STATUS_DONE || status == STATUS_RUNS_FAILED)
        return "sweep_ended";
    return status == STATUS_STOPPED ? "sweep_stopped" : "sweep_failed";
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
    struct json_writer *writer = journal_begin(ending->journal, event_of(ending->status));
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
    if (journal_complains(ending->journal, &error))
        fprintf(stderr, "%s\n", error.text);
}

/* The object of `status --json`, as far as there is one, with the event. -1: it could not be made. */
static int make_object(FILE *out, const struct ending *ending, const struct status *status)
{
    struct json_writer writer = {.out = out};
    struct error ignored;

    json_writer_open(&writer, NULL, '{');
    status_json_head(&writer, ending->output);
    json_writer_text(&writer, "event", event_of(ending->status));
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

static void call_script(const struct ending *ending, const struct status *status)
{
    char *text = NULL;
    size_t size = 0;

    if (make_text(&text, &size, ending, status) != 0 && make_text(&text, &size, ending, NULL) != 0)
        size = 0; /* no memory: the script is called all the same */
    notify(ending->script, text, size);
    free(text);
}

void ending_tell(const struct ending *ending)
{
    struct error ignored;
    struct status status;

    if (ending->status == STATUS_INTERRUPTED || (!ending->script && !ending->journal))
        return;
    bool readable = ending->output && status_read(&status, ending->output, NULL, clock_now(), &ignored) == 0;
    write_log(ending, readable ? &status : NULL);
    if (ending->script)
        call_script(ending, readable ? &status : NULL);
    if (readable)
        status_release(&status);
}
