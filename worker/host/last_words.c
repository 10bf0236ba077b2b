#include "worker/host/last_words.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct last_words {
    char *told, *logged; /* logged: with a '\n' before it */
    int file;
    size_t time; /* offset in `logged` */
};

/* Never changed once they wait, and never freed: a handler in another thread may be reading them. */
static struct last_words prepared[LAST_WORDS_MOST];
static size_t count;
static _Atomic(struct last_words *) waiting;
static volatile sig_atomic_t torn_line;

void last_words_prepare(const char *told, int file, const char *logged, size_t time)
{
    if (count == LAST_WORDS_MOST)
        return;
    struct last_words *words = &prepared[count++];
    *words = (struct last_words){.told = strdup(told),
        .file = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 0), /* its number cannot become another file's */
        .time = time + 1};
    if (asprintf(&words->logged, "\n%s", logged) < 0)
        words->logged = NULL;
    if (words->told && words->logged)
        atomic_store(&waiting, words);
}

void last_words_torn(bool torn)
{
    torn_line = torn;
}

void last_words_drop(void)
{
    atomic_store(&waiting, NULL);
}

static void put_number(char *text, int digits, int64_t number)
{
    for (int i = digits - 1; i >= 0; i--, number /= 10)
        text[i] = (char)('0' + number % 10);
}

/* Years begin in March here, so that the leap day is their last. */
void last_words_put_time(char *text, int64_t seconds, long nanoseconds)
{
    int64_t days = seconds / 86400 + 719468; /* since 0000-03-01 */
    int64_t era = days / 146097, day = days % 146097; /* of 400 years */
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    int64_t month = (5 * day + 2) / 153; /* 0: March */
    put_number(text, 4, 400 * era + year + (month >= 10));
    put_number(text + 5, 2, month < 10 ? month + 3 : month - 9);
    put_number(text + 8, 2, day - (153 * month + 2) / 5 + 1);
    put_number(text + 11, 2, seconds / 3600 % 24);
    put_number(text + 14, 2, seconds / 60 % 60);
    put_number(text + 17, 2, seconds % 60);
    put_number(text + 20, 3, nanoseconds / 1000000);
}

void last_words_say(void)
{
    struct last_words *words = atomic_exchange(&waiting, NULL);
    struct timespec now;

    if (!words)
        return;
    if (words->file >= 0) {
        const char *line = words->logged + !torn_line;
        clock_gettime(CLOCK_REALTIME, &now);
        last_words_put_time(words->logged + words->time, now.tv_sec, now.tv_nsec);
        if (write(words->file, line, strlen(line)) < 0) {
            /* there is nobody left to tell */
        }
    }
    if (write(STDERR_FILENO, words->told, strlen(words->told)) < 0) {
        /* nor here */
    }
}
