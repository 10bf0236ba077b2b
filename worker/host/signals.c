/*
 * Signals ask a sweep to stop: the first saves all runs, a second Ctrl-C ends at once, with one last line.
 * Handlers only set flags and write a prepared text, as everything else is forbidden in them.
 */
#include "model/core/check.h"
#include "model/core/error.h"
#include "worker/host/inside.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_INTERRUPTED = 130 };

#define ECHO_SECONDS 0.05

static volatile sig_atomic_t stop /* the signal; 0: none */, interrupts, end_at_second = 1;
static bool installed;
static double deadline; /* on the clock of clock_now; 0: none */
static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

/* While signals are held: the thread that has them blocked, and that an exec keeps. */
static volatile sig_atomic_t held;
static pthread_t holder;

/* Not changed once it waits: a handler in another thread may be reading it. */
static char line_text[2][sizeof(((struct error *)0)->text) + 1];
static int lines;
static _Atomic(char *) last_line;

static double interrupted; /* time of the last SIGINT that counts */

void signals_last_line(const char *line)
{
    atomic_store(&last_line, NULL);
    if (!line)
        return;
    INVARIANT(lines < 2, "a third last line: %s", line);
    snprintf(line_text[lines], sizeof(line_text[lines]), "%s\n", line);
    atomic_store(&last_line, line_text[lines++]);
}

void signals_tell_last(void)
{
    const char *line = atomic_exchange(&last_line, NULL);

    if (line && write(STDERR_FILENO, line, strlen(line)) < 0) {
        /* there is nobody left to tell */
    }
}

static void on_signal(int number)
{
    double now = clock_now();

    /* A library may have threads before main, which do not block what this process blocks. An exec would
     * forget a signal that one of them has taken, so they hand it on, to wait in the thread that lives on. */
    if (held && !pthread_equal(pthread_self(), holder) && pthread_kill(holder, number) == 0)
        return;
    stop = number;
    /* What is sent to a process and to its group comes twice at once, faster than a user can press. */
    if (number != SIGINT || (interrupts > 0 && now - interrupted < ECHO_SECONDS))
        return;
    interrupted = now;
    interrupts = interrupts + (interrupts < 2);
    if (interrupts < 2 || !end_at_second)
        return;
    signals_tell_last();
    _exit(STATUS_INTERRUPTED);
}

static void mask(int how)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(stopping) / sizeof(*stopping); i++)
        sigaddset(&set, stopping[i]);
    sigprocmask(how, &set, NULL);
}

void signals_install(void)
{
    for (size_t i = 0; i < sizeof(stopping) / sizeof(*stopping); i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
        sigemptyset(&action.sa_mask);
        if (sigaction(stopping[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(stopping[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    mask(SIG_UNBLOCK);
    installed = true;
}

void signals_stop_in(double seconds)
{
    deadline = clock_now() + seconds;
}

bool signals_stop(void)
{
    return stop != 0 || (deadline > 0 && clock_now() >= deadline);
}

void signals_end_at_second(bool end)
{
    end_at_second = end;
}

bool signals_second(void)
{
    return interrupts >= 2;
}

void signals_hold(void)
{
    if (!installed)
        return;
    holder = pthread_self();
    held = 1;
    mask(SIG_BLOCK);
    if (stop)
        raise(stop);
}

void signals_let_go(void)
{
    if (!installed)
        return;
    held = 0;
    interrupts = 0; /* the signal that signals_hold raised again comes now */
    mask(SIG_UNBLOCK);
}
