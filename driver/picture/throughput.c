#include "driver/picture/throughput.h"

#include <math.h>
#include <string.h>

void throughput_add(struct throughput *throughput, double time, double amount)
{
    int count = throughput->count;

    if (isnan(amount) || (count > 0 && amount == throughput->sample[count - 1].amount))
        return;
    if (count > 0 && amount < throughput->sample[count - 1].amount)
        count = 0;
    if (count == THROUGHPUT_SAMPLES) {
        count--;
        memmove(
            &throughput->sample[0], &throughput->sample[1], (size_t)count * sizeof(throughput->sample[0]));
    }
    throughput->sample[count].time = time;
    throughput->sample[count].amount = amount;
    throughput->count = count + 1;
}

double throughput_rate(const struct throughput *throughput)
{
    int last = throughput->count - 1;

    if (last < THROUGHPUT_JUMPS)
        return NAN;
    return (throughput->sample[last].amount - throughput->sample[0].amount) /
           (throughput->sample[last].time - throughput->sample[0].time);
}
