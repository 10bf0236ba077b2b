#include "driver/text/text.h"

const struct exit_status_row exit_status_table[EXIT_STATUS_COUNT] = {
#define X(name, ...) {__VA_ARGS__},
    EXIT_STATUSES(X)
#undef X
};
