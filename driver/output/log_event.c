#include "driver/output/log_event.h"

const struct log_event_row log_event_table[LOG_EVENT_COUNT] = {
#define X(event, ...) {__VA_ARGS__},
    LOG_EVENTS(X)
#undef X
};
