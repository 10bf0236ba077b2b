/* A signal may go to a thread of a library, and then it does not wake this one. So the handler writes to a
 * pipe, at which the pause looks. */
#include "driver/commands/status_pause.h"

#include "worker/host/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted, resized;
static int ends[2] = {-1, -1}; /* of the pipe */

static void on_signal(int number)
{
    int before = errno;

    if (number == SIGINT)
        interrupted = 1;
    else
        resized = 1;
    if (write(ends[1], "", 1) < 0)
        errno = before; /* the pipe is full, which wakes as well */
}

void status_pause_begin(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        ends[0] = ends[1] = -1; /* then a signal counts at the end of a pause */
    sigemptyset(&action.sa_mask);
    sigaction(SIGWINCH, &action, NULL);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

enum pause_end status_pause(double seconds)
{
    struct pollfd pipe_ = {.fd = ends[0], .events = POLLIN};
    double end = clock_now() + seconds, left = seconds;
    char bytes[64];

    while (!interrupted && !resized && left > 0) {
        poll(&pipe_, 1, (int)ceil(fmin(left, 3600) * 1e3));
        left = end - clock_now();
    }
    while (read(ends[0], bytes, sizeof(bytes)) > 0)
        ;
    enum pause_end why = interrupted ? PAUSE_INTERRUPTED : resized ? PAUSE_RESIZED : PAUSE_OVER;
    resized = 0;
    return why;
}
