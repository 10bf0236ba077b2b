/*
 * The script's standard input is a file in memory and not a pipe: it can be any size, nobody waits for the
 * script to read it, and a script that does not read it is no error.
 */
#include "driver/commands/notify.h"

#include "driver/text/lines.h"
#include "driver/text/place.h"
#include "worker/host/clock.h"
#include "worker/host/signals.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERM_SECONDS 3 /* between SIGTERM and SIGKILL */
#define LOOK_SECONDS 0.02

/* A file in memory with this text, at its beginning. -1 with errno. */
static int make_input(const char *text, size_t size)
{
    int file = memfd_create("status.json", MFD_CLOEXEC);

    while (file >= 0 && size > 0) {
        ssize_t written = write(file, text, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            int cause = errno;
            close(file);
            errno = cause;
            return -1;
        }
        text += written;
        size -= (size_t)written;
    }
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    return file;
}

/* Signals that this program ignores have their usual effect in the script. 0 or an errno. */
static int start(const char *script, int input, pid_t *child)
{
    char *argument[] = {"sh", "-c", (char *)script, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t usual;

    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    int cause = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (cause == 0)
        cause = posix_spawn(child, "/bin/sh", &actions, &attributes, argument, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return cause;
}

static bool has_ended(pid_t child, int *status)
{
    pid_t pid;

    do
        pid = waitpid(child, status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    return pid != 0;
}

/* Waits until the script has ended, `seconds` have passed, or a signal has come. False: it has not ended. */
static bool await(pid_t child, double seconds, bool (*is_enough)(void), int *status)
{
    double end = clock_now() + seconds;

    while (!has_ended(child, status)) {
        if (clock_now() >= end || (is_enough && is_enough()))
            return false;
        clock_pause(LOOK_SECONDS);
    }
    return true;
}

/* Ends the script and what it has started. */
static void end(pid_t child)
{
    int status;

    kill(-child, SIGTERM);
    if (await(child, TERM_SECONDS, NULL, &status))
        return;
    kill(-child, SIGKILL);
    await(child, TERM_SECONDS, NULL, &status);
}

static void complain(const char *script, const char *what, int number, const char *more)
{
    char excerpt[EXCERPT_SIZE], digits[16] = "";

    if (number >= 0)
        snprintf(digits, sizeof(digits), " %d", number);
    lines_print(
        stderr, 0, "normsweep run: --notify '%s' %s%s%s", place_excerpt(script, excerpt), what, digits, more);
}

static void report(const char *script, int status)
{
    if (WIFSIGNALED(status))
        complain(script, "was ended by signal", WTERMSIG(status), "");
    else if (WEXITSTATUS(status) != 0)
        complain(script, "ended with status", WEXITSTATUS(status), "");
}

void notify(const char *script, const char *text, size_t size)
{
    bool (*is_enough)(void) = signals_stop() ? signals_second : signals_stop;
    int input = make_input(text, size), status = 0;
    pid_t child = -1;

    signals_end_at_second(false);
    int cause = input < 0 ? errno : start(script, input, &child);
    if (input >= 0)
        close(input);
    if (cause != 0) {
        complain(script, "cannot be started: ", -1, strerror(cause));
        return;
    }
    if (await(child, NOTIFY_SECONDS, is_enough, &status)) {
        report(script, status);
        return;
    }
    end(child);
    if (is_enough())
        complain(script, "was ended by a signal to this program", -1, "");
    else
        complain(script, "was ended after", NOTIFY_SECONDS, " s");
}
