/* The time in a line that a signal handler writes. */
#include "tests/test.h"
#include "worker/host/last_words.h"

#include <string.h>
#include <time.h>

/* A moment of every day of 500 years, with their leap days, against the library. */
TEST(last_words_know_the_date)
{
    const int64_t day = 86400;
    char expected[32], text[] = "2026-11-21T13:40:00.123Z";
    struct tm date;

    for (int64_t i = 0; i < 500 * 366; i++) {
        time_t seconds = i * day + i * 7919 % day;
        last_words_put_time(text, seconds, 987654321);
        strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.987Z", gmtime_r(&seconds, &date));
        if (strcmp(text, expected) != 0)
            test_fail(__FILE__, __LINE__, "%s and not %s", text, expected);
    }
    last_words_put_time(text, 1709210096, 4000000);
    CHECK_TEXT(text, "2024-02-29T12:34:56.004Z");
}
