#include "driver/text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define SECONDS_MOST 1e15 /* a dataset may say anything; this much still fits an int64_t */

char *duration_format(double seconds, char *text, size_t size)
{
    int64_t whole = (int64_t)fmin(fmax(seconds, 0) + 0.5, SECONDS_MOST);

    if (seconds < 0.1)
        snprintf(text, size, "%.2g s", seconds);
    else if (seconds < 10)
        snprintf(text, size, "%.1f s", seconds);
    else if (whole < 60)
        snprintf(text, size, "%" PRId64 " s", whole);
    else if (whole < 3600)
        snprintf(text, size, "%" PRId64 " min %02" PRId64 " s", whole / 60, whole % 60);
    else
        snprintf(text, size, "%" PRId64 " h %02" PRId64 " min", whole / 3600, whole / 60 % 60);
    return text;
}

char *rate_format(double rate, char *text, size_t size)
{
    if (rate < 1e3)
        snprintf(text, size, "%.0f", rate);
    else if (rate < 1e6)
        snprintf(text, size, "%.3gk", rate < 999.5e3 ? rate / 1e3 : 999);
    else
        snprintf(text, size, "%.3gM", rate / 1e6);
    return text;
}
