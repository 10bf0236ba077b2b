#include "tests/test.h"
#include "worker/wire/inside.h"

enum { MESSAGE_HEAD = offsetof(struct message, as) };

/* The size of a row piece, or a setup piece, of `count` values. */
static size_t row_bytes(size_t count)
{
    return MESSAGE_HEAD + offsetof(struct row_piece, values) + count * sizeof(double);
}

static size_t setup_bytes(size_t count)
{
    return MESSAGE_HEAD + offsetof(struct setup_piece, bytes) + count;
}

TEST(message_of_a_kind_has_one_size)
{
    struct message message = {.kind = MESSAGE_RESULT};
    size_t size = MESSAGE_HEAD + sizeof(struct run_result);

    CHECK(message_is_whole(&message, size));
    CHECK(!message_is_whole(&message, size - 1) && !message_is_whole(&message, size + 1));
    CHECK(!message_is_whole(&message, 0) && !message_is_whole(&message, sizeof(message) + 1));
    message.kind = MESSAGE_READY;
    CHECK(message_is_whole(&message, MESSAGE_HEAD) && !message_is_whole(&message, MESSAGE_HEAD + 1));
}

TEST(message_of_an_unknown_kind_is_not_whole)
{
    static const int64_t kinds[] = {
        MESSAGE_DAMAGED, -1, MESSAGE_RESULT + 1, (INT64_C(1) << 32) + MESSAGE_READY};
    struct message message = {0};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        message.kind = kinds[i];
        for (size_t size = 0; size <= sizeof(message); size++)
            CHECK(!message_is_whole(&message, size));
    }
}

/* A count beyond the piece's own values would be read from whatever lies behind them. */
TEST(message_of_values_has_as_many_as_it_says)
{
    static const int64_t wrong[] = {0, -1, 2, 4, PIECE_VALUES + 1, (INT64_C(1) << 61) + 3};
    struct message message = {.kind = MESSAGE_ROW, .as.row.count = 3};

    CHECK(message_is_whole(&message, row_bytes(3)) && !message_is_whole(&message, row_bytes(4)));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        message.as.row.count = wrong[i];
        CHECK(!message_is_whole(&message, row_bytes(3)));
    }
    message.as.row.count = PIECE_VALUES;
    CHECK(message_is_whole(&message, row_bytes(PIECE_VALUES)));
}

TEST(message_of_a_setup_has_as_many_bytes_as_it_says)
{
    struct message message = {.kind = MESSAGE_SETUP, .as.setup.count = PIECE_BYTES};

    CHECK(message_is_whole(&message, setup_bytes(PIECE_BYTES)));
    CHECK(!message_is_whole(&message, setup_bytes(PIECE_BYTES - 1)));
    message.as.setup.count = PIECE_BYTES + 1;
    CHECK(!message_is_whole(&message, setup_bytes(PIECE_BYTES + 1)));
    message.as.setup.count = -1;
    CHECK(!message_is_whole(&message, setup_bytes(0) - 1));
}
