#ifndef NORMSWEEP_TESTS_ABORTS_H
#define NORMSWEEP_TESTS_ABORTS_H

#include "tests/test.h"

#include <signal.h>
#include <sys/wait.h>

/* Calls `breaks` in a child, which must abort after one line; returns whether the line has `part`. */
static inline bool says_and_aborts(void (*breaks)(void), const char *part)
{
    char text[1024];
    size_t length = 0;
    int ends[2], status;

    fflush(NULL);
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        breaks();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], text + length, sizeof(text) - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    const char *end = strchr(text, '\n');
    CHECK(end != NULL && end[1] == '\0');
    return strncmp(text, "normsweep: ", 11) == 0 && strstr(text, part) != NULL;
}

#endif
