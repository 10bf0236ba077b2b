/*
 * The file of a log. Each line is written with one call to a file opened for appending, so that the launcher
 * and the coordinator may both write. Lines that tell of a result wait until it is on the disk: a reader who
 * acts on a line finds the result in the dataset. A line that is lost is told once.
 */
#include "driver/log/log.h"
#include "driver/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FIRST_BYTES "{\"version\": " /* of every line */

const char *const log_event_name[LOG_EVENT_COUNT] = {
#define X(event, name) name,
    LOG_EVENTS(X)
#undef X
};

struct waiting_line {
    char *text;
    bool waits; /* for a commit; the others wait for a line before them */
};

struct journal {
    char *path;
    int file;
    struct process process; /* that lines name */
    bool torn; /* the last line in the file is incomplete */
    int lost; /* errno of the first line that was lost; 0: none */
    bool told; /* journal_complains has told */
    char *text; /* the line that is being made */
    size_t size;
    struct json_writer writer; /* out NULL: none is */
    struct waiting_line *line; /* [count] */
    size_t count, room;
};

static void lose(struct journal *journal, int cause)
{
    if (!journal->lost)
        journal->lost = cause ? cause : EIO;
}

/* Refuses what is not a regular file, and one that holds something else, such as the sweep file or a dataset.
 * Finds out whether its last line is complete. */
static int open_file(struct journal *journal, struct error *error)
{
    char first[sizeof(FIRST_BYTES) - 1], last = '\n';
    struct stat status;

    /* O_NONBLOCK: a named pipe is refused below and not waited for */
    journal->file = open(journal->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (journal->file < 0 || fstat(journal->file, &status) != 0)
        return error_set(error, output_is_at_fault(errno) ? ERROR_INPUT : ERROR_ENVIRONMENT, "%s: %s",
            journal->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(error, ERROR_INPUT, "%s: is not a regular file, as a log must be", journal->path);
    size_t size = (size_t)status.st_size < sizeof(first) ? (size_t)status.st_size : sizeof(first);
    if (pread(journal->file, first, size, 0) != (ssize_t)size || memcmp(first, FIRST_BYTES, size) != 0)
        return error_set(error, ERROR_INPUT, "%s: is not a log of normsweep", journal->path);
    journal->torn = size > 0 && pread(journal->file, &last, 1, status.st_size - 1) == 1 && last != '\n';
    return 0;
}

int journal_open(struct journal **journal, const char *path, struct error *error)
{
    struct journal *opened = calloc(1, sizeof(*opened));

    *journal = NULL;
    if (!opened)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    opened->file = -1;
    opened->process = process_self();
    opened->path = strdup(path);
    int failed =
        opened->path ? open_file(opened, error) : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    if (failed)
        journal_close(opened);
    else
        *journal = opened;
    return failed;
}

/* One call writes one line, and before it the end of a line that a full disk had only room for a part of. */
static void write_line(struct journal *journal, const char *text)
{
    struct iovec part[] = {
        {.iov_base = "\n", .iov_len = journal->torn}, {.iov_base = (char *)text, .iov_len = strlen(text)}};
    size_t length = part[0].iov_len + part[1].iov_len;
    ssize_t written;

    errno = 0;
    do
        written = writev(journal->file, part, 2);
    while (written < 0 && errno == EINTR);
    if (written > 0) /* of the newline alone nothing is torn */
        journal->torn = (size_t)written != length && (size_t)written != part[0].iov_len;
    if (written != (ssize_t)length)
        lose(journal, written > 0 ? ENOSPC : errno);
}

void journal_commit(struct journal *journal, bool safe)
{
    for (size_t i = 0; journal && i < journal->count; i++) {
        if (safe || !journal->line[i].waits)
            write_line(journal, journal->line[i].text);
        free(journal->line[i].text);
    }
    if (journal)
        journal->count = 0;
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    journal_commit(journal, false);
    if (journal->file >= 0)
        close(journal->file);
    free(journal->line);
    free(journal->path);
    free(journal);
}

void journal_keep_process(struct journal *journal, const struct process *process)
{
    if (journal)
        journal->process = *process;
}

struct json_writer *journal_begin(struct journal *journal, enum log_event event)
{
    char time[JSON_TIME], host[PROCESS_PLACE];

    if (!journal)
        return NULL;
    struct json_writer *writer = &journal->writer;
    const struct process *process = &journal->process;
    *writer = (struct json_writer){.out = open_memstream(&journal->text, &journal->size)};
    if (!writer->out) {
        lose(journal, ENOMEM);
        return NULL;
    }
    snprintf(host, sizeof(host), "%.*s", process_host_length(process->place), process->place);
    json_writer_open(writer, NULL, '{');
    json_writer_whole(writer, "version", JOURNAL_VERSION);
    json_writer_text(writer, "time", json_time(time));
    json_writer_text(writer, "event", log_event_name[event]);
    json_writer_open(writer, "process", '{');
    json_writer_text(writer, "host", host);
    json_writer_whole(writer, "pid", process->pid);
    json_writer_close(writer, '}');
    return writer;
}

/* Takes ownership of the text. False: no memory. */
static bool keep_line(struct journal *journal, char *text, bool waits)
{
    if (journal->count == journal->room) {
        size_t room = journal->room ? 2 * journal->room : 16;
        struct waiting_line *more = realloc(journal->line, room * sizeof(*more));
        if (!more)
            return false;
        journal->line = more;
        journal->room = room;
    }
    journal->line[journal->count++] = (struct waiting_line){text, waits};
    return true;
}

void journal_end(struct journal *journal, bool waits)
{
    json_writer_close(&journal->writer, '}');
    fputc('\n', journal->writer.out);
    bool closed = fclose(journal->writer.out) == 0;
    char *text = journal->text; /* NULL, though it was closed, if the library found no memory for it */

    journal->writer.out = NULL;
    journal->text = NULL;
    if (closed && text && !waits && journal->count == 0)
        write_line(journal, text);
    else if (closed && text && keep_line(journal, text, waits))
        return;
    else
        lose(journal, ENOMEM);
    free(text);
}

bool journal_complains(struct journal *journal, bool goes_on, struct error *error)
{
    if (!journal || !journal->lost || journal->told)
        return false;
    journal->told = true;
    error_set(error, ERROR_ENVIRONMENT, "%s: %s; events are missing from this log%s", journal->path,
        strerror(journal->lost), goes_on ? ", and the sweep goes on" : "");
    return true;
}
