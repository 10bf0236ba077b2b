/*
 * Copies what mpirun and its ranks print: see struct pump. The launcher has two pumps, moves them whenever
 * something may have arrived, and finishes them when mpirun has ended. Reading and writing never fail for the
 * caller: where nobody reads any more, lines are dropped, and the sweep goes on.
 */
#include "driver/ranks/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pump_init(struct pump *pump, int from, int to, bool quiet)
{
    *pump = (struct pump){.from = from, .to = to, .quiet = quiet, .status = -1};
    fcntl(from, F_SETFL, fcntl(from, F_GETFL) | O_NONBLOCK);
}

static void write_bytes(int to, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(to, bytes, count);
        if (written < 0 && errno != EINTR)
            return; /* the reader is gone; the sweep goes on without it */
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
}

/* Parts of lines that mpirun, or libevent inside it, prints about itself; then those of MPICH's mpiexec. */
static const char *const noise[] = {"PMIX ERROR", "ORTE_ERROR_LOG", "PRTE ERROR", "mpirun: Forwarding signal",
    "sent help message help-", "orte_base_help_aggregate", "[warn] Epoll ", "plm:ssh: Warning: setpgid",
    "YOUR APPLICATION TERMINATED WITH", "This typically refers to a problem with your",
    "Please see the FAQ page for debugging", "[mpiexec@", "[proxy:"};

/* Is the line not for the user: noise of mpirun, or a status for the launcher? */
static bool is_noise(struct pump *pump, const char *line, size_t length)
{
    /* Open MPI's mpirun sets its messages between dashes, MPICH's mpiexec between equals signs. */
    size_t dashes = strspn(line, line[0] == '=' ? "=" : "-");

    if (dashes >= 40 && dashes >= length - 1) {
        pump->in_block = !pump->in_block;
        pump->block_lines = 0;
        return true;
    }
    if (length == 1 && pump->to == STDOUT_FILENO)
        return true; /* MPICH's mpiexec sets its messages off */
    if (pump->in_block && ++pump->block_lines > PUMP_BLOCK_LINES)
        pump->in_block = false;
    if (pump->in_block)
        return true;
    for (size_t i = 0; i < sizeof(noise) / sizeof(*noise); i++)
        if (strstr(line, noise[i]))
            return true;
    if (strncmp(line, PUMP_STATUS, strlen(PUMP_STATUS)) != 0)
        return false;
    pump->status = (int)strtol(line + strlen(PUMP_STATUS), NULL, 10);
    return true;
}

static void pass_line(struct pump *pump)
{
    pump->line[pump->length] = '\0';
    if (pump->length == 0)
        return;
    if (!pump->quiet || !is_noise(pump, pump->line, pump->length)) {
        size_t said = strcspn(pump->line, "\r\n"); /* 0: a blank line says nothing */
        if (said > 0) {
            memcpy(pump->last, pump->line, said);
            pump->last[said] = '\0';
        }
        write_bytes(pump->to, pump->line, pump->length);
    } else if (pump->length <= PUMP_NOISE - pump->noise_length) {
        memcpy(pump->noise + pump->noise_length, pump->line, pump->length);
        pump->noise_length += pump->length;
    }
    pump->length = 0;
}

void pump_move(struct pump *pump)
{
    char bytes[4096];
    ssize_t count;

    while (!pump->ended && (count = read(pump->from, bytes, sizeof(bytes))) != 0) {
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return;
        for (ssize_t i = 0; i < count; i++) {
            if (bytes[i] != '\0') /* Open MPI 5.0 writes the ends of its strings, too */
                pump->line[pump->length++] = bytes[i];
            if (bytes[i] == '\n' || pump->length == PUMP_LINE - 1)
                pass_line(pump);
        }
    }
    if (!pump->ended)
        close(pump->from);
    pump->ended = true;
    pump->from = -1; /* poll ignores it */
}

void pump_finish(struct pump *pump)
{
    pump_move(pump);
    pass_line(pump);
    if (!pump->ended)
        close(pump->from);
    pump->ended = true;
}

void pump_tell_noise(struct pump *pump)
{
    write_bytes(pump->to, pump->noise, pump->noise_length);
}
