/*
 * The log of a worker, for the case that it dies: FOLDER/worker-<session>-<rank>.log with a line for
 * everything that it begins, the stderr of libraries, and the signal that killed it. The first line has the
 * number of the worker, which is another one than its rank's. A worker that ends normally removes its log.
 */
#include "worker/host/inside.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Libraries may write a long backtrace after the line about a fatal signal: more is searched than kept. */
enum { LINE_SIZE = 512, TAIL_BYTES = 65536, EXCERPT_BYTES = 4096 };

#define FATAL "killed by signal "

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { FATAL_COUNT = sizeof(fatal) / sizeof(*fatal) };

static struct {
    int file; /* -1: no log is open */
    char path[PATH_MAX];
    char doing[LINE_SIZE];
    struct sigaction before[FATAL_COUNT];
} log_ = {.file = -1};

static int path_of(char path[PATH_MAX], const char *folder, int64_t session, int64_t rank)
{
    int length =
        snprintf(path, PATH_MAX, "%s/worker-%06lld-%lld.log", folder, (long long)session, (long long)rank);

    return length < PATH_MAX ? 0 : -1;
}

/* ---- of this process ---- */

/*
 * Writes a line and restores the handlers from before, which then handle the signal: a fault repeats at once,
 * a signal from another process is raised again. Calls only functions that are safe in a handler.
 */
static void on_fatal(int number, siginfo_t *info, void *context)
{
    (void)context;
    char line[LINE_SIZE + 64] = FATAL "00, ";
    size_t length = strlen(line);

    line[length - 4] = (char)('0' + number / 10);
    line[length - 3] = (char)('0' + number % 10);
    memcpy(line + length, log_.doing, strlen(log_.doing));
    length += strlen(log_.doing);
    line[length++] = '\n';
    if (write(log_.file, line, length) < 0) {
        /* an error cannot be reported here */
    }
    for (int i = 0; i < FATAL_COUNT; i++)
        sigaction(fatal[i], &log_.before[i], NULL);
    if (info->si_code <= 0)
        raise(number);
}

void log_open(const char *folder, int64_t session, int64_t rank, int64_t worker)
{
    struct sigaction action = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    if (path_of(log_.path, folder, session, rank) != 0)
        return;
    log_.file = open(log_.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log_.file < 0)
        return;
    fflush(stderr);
    dup2(log_.file, STDERR_FILENO);
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FATAL_COUNT; i++)
        sigaction(fatal[i], &action, &log_.before[i]);
    log_line("worker %lld", (long long)worker);
}

void log_line(const char *format, ...)
{
    char line[LINE_SIZE], now[32], host[64];
    time_t clock = time(NULL);
    struct tm date;
    va_list arguments;

    if (log_.file < 0)
        return;
    strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&clock, &date));
    int length = snprintf(
        line, sizeof(line), "%s pid %ld host %s ", now, (long)getpid(), environment_host(host, sizeof(host)));
    va_start(arguments, format);
    length += vsnprintf(line + length, sizeof(line) - (size_t)length, format, arguments);
    va_end(arguments);
    if (length > LINE_SIZE - 1)
        length = LINE_SIZE - 1;
    line[length++] = '\n';
    if (write(log_.file, line, (size_t)length) < 0) {
        /* a full disk: writing checkpoints reports it */
    }
}

void log_run(const char *run, int64_t cell)
{
    if (run)
        snprintf(log_.doing, sizeof(log_.doing), "in run %s, cell %lld", run, (long long)cell);
    else
        snprintf(log_.doing, sizeof(log_.doing), "between two runs");
}

void log_close(void)
{
    if (log_.file < 0)
        return;
    unlink(log_.path);
    close(log_.file);
    log_.file = -1;
}

/* ---- of others ---- */

/* Reads the last bytes of a file, from the start of a line on. Returns their number, 0 if there are none. */
static size_t read_tail(const char *path, char tail[TAIL_BYTES + 1])
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;

    if (file >= 0) {
        off_t size = lseek(file, 0, SEEK_END), from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
        length = pread(file, tail, TAIL_BYTES, from);
        close(file);
        tail[length > 0 ? length : 0] = '\0';
        for (char *nul = tail; length > 0 && (nul = memchr(nul, '\0', (size_t)(tail + length - nul)));)
            *nul = '\n'; /* text follows it */
        const char *begin = from > 0 && length > 0 ? strchr(tail, '\n') : NULL;
        if (begin) {
            length -= begin + 1 - tail;
            memmove(tail, begin + 1, (size_t)length + 1);
        }
    }
    return length > 0 ? (size_t)length : 0;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end && end[1] ? end + 1 : NULL;
}

/* The last line about a fatal signal; NULL: there is none. */
static const char *fatal_line(const char *tail)
{
    const char *found = NULL;

    for (const char *line = tail; line; line = next_line(line))
        if (strncmp(line, FATAL, strlen(FATAL)) == 0)
            found = line;
    return found;
}

static int run_path(char path[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s.log", folder, name) < PATH_MAX ? 0 : -1;
}

static void append_to_log(const char *folder, const char *name, const char *bytes, size_t length)
{
    char path[PATH_MAX];

    if (run_path(path, folder, name) != 0)
        return;
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    if (write(file, bytes, length) < 0) {
        /* the log only helps to explain a failure */
    }
    close(file);
}

void log_bequeath(const char *folder, int64_t session, int64_t rank, const char *name, char *last, int size)
{
    char path[PATH_MAX], tail[TAIL_BYTES + 1] = "";

    last[0] = '\0';
    if (path_of(path, folder, session, rank) != 0)
        return;
    size_t length = read_tail(path, tail);
    const char *found = fatal_line(tail);
    snprintf(last, (size_t)size, "%.*s", found ? (int)strcspn(found, ",\n") : 0, found ? found : "");
    if (name && length > 0) {
        /* the end of the log, and before it the line about a fatal signal if that stands further up */
        const char *from = length > EXCERPT_BYTES ? next_line(tail + length - EXCERPT_BYTES) : tail;
        if (!from) /* one very long line */
            from = tail + length - EXCERPT_BYTES;
        if (found && found < from)
            append_to_log(folder, name, found, strcspn(found, "\n") + 1);
        append_to_log(folder, name, from, (size_t)(tail + length - from));
    }
    unlink(path);
}

void log_forget(const char *folder, const char *name)
{
    char path[PATH_MAX];

    if (run_path(path, folder, name) == 0)
        unlink(path);
}
