/* Everything put into the write buffer reaches the file, in any order, with any overlaps and sizes. */
#include "tests/failing.h"
#include "tests/scratch.h"

#include "driver/dataset/ledger/inside.h"
#include "model/core/random.h"

#include <signal.h>
#include <sys/resource.h>

enum { FILE_SIZE = 3 << 20 };

struct trial {
    char path[64];
    struct write_buffer buffer;
    unsigned char *wanted; /* [FILE_SIZE] */
};

static void trial_init(struct trial *trial)
{
    scratch_file(trial->path);
    CHECK(truncate(trial->path, FILE_SIZE) == 0);
    CHECK(write_buffer_open(&trial->buffer, trial->path) == 0);
    trial->wanted = calloc(FILE_SIZE, 1);
}

static void put(struct trial *trial, int64_t place, const unsigned char *bytes, size_t size)
{
    CHECK(write_buffer_put(&trial->buffer, place, bytes, size) == 0);
    memcpy(trial->wanted + place, bytes, size);
}

/* Does another reader of the file see what was put? */
static bool is_written(struct trial *trial)
{
    size_t size;
    char *found = get_bytes(trial->path, &size);
    bool same = size == FILE_SIZE && memcmp(found, trial->wanted, FILE_SIZE) == 0;

    free(found);
    return same;
}

static void trial_free(struct trial *trial)
{
    unlink(trial->path);
    free(trial->wanted);
}

static void trial_release(struct trial *trial)
{
    CHECK(write_buffer_close(&trial->buffer) == 0);
    CHECK(is_written(trial));
    trial_free(trial);
}

/* A test of a buffer whose file holds in the end what was put. */
#define IN_TRIAL(id) TEST_IN(id, struct trial, trial, trial_init(trial), trial_release(trial))

static uint64_t draw(uint64_t *draws, uint64_t bound)
{
    return random_below(5, RANDOM_TEST, (*draws)++, bound);
}

IN_TRIAL(write_buffer_keeps_the_latest)
{
    unsigned char bytes[300];
    uint64_t draws = 0;

    for (int round = 0; round < 20; round++) {
        uint64_t range = round % 2 ? 4000 : FILE_SIZE - sizeof(bytes);
        for (int i = 0; i < 3000; i++) {
            memset(bytes, (int)draw(&draws, 256), sizeof(bytes));
            put(trial, (int64_t)draw(&draws, range), bytes, (size_t)draw(&draws, sizeof(bytes)));
        }
        CHECK(write_buffer_flush(&trial->buffer) == 0 && is_written(trial));
    }
    CHECK(write_buffer_sync(&trial->buffer) == 0);
}

/* A put larger than the buffer, and more pieces than it can hold. */
IN_TRIAL(write_buffer_is_bounded)
{
    unsigned char *large = malloc(FILE_SIZE);

    memset(large, 7, FILE_SIZE);
    put(trial, 1, large, FILE_SIZE - 1);
    for (int64_t i = 0; i < 2 * WRITE_BUFFER_PIECES + 5; i++)
        put(trial, 3 * i, (unsigned char[]){(unsigned char)i}, 1);
    CHECK(trial->buffer.pieces <= WRITE_BUFFER_PIECES && trial->buffer.used <= WRITE_BUFFER_BYTES);
    free(large);
}

IN_TRIAL(write_buffer_forgets_what_is_not_written)
{
    const unsigned char bytes[] = "written", late[] = "too late";

    put(trial, 1000, bytes, sizeof(bytes));
    CHECK(write_buffer_flush(&trial->buffer) == 0);
    CHECK(write_buffer_put(&trial->buffer, 1004, late, sizeof(late)) == 0);
    write_buffer_forget(&trial->buffer);
}

/* What could not be written stays, in whatever order; bytes beside it are not joined to others' places. */
IN_TRIAL(write_buffer_keeps_its_order_after_a_failure)
{
    put(trial, 1000, (const unsigned char *)"first", 5);
    put(trial, 100, (const unsigned char *)"second", 6);
    failing_next("pwrite", ENOSPC);
    CHECK(write_buffer_flush(&trial->buffer) == ENOSPC && failing_end());
    put(trial, 1005, (const unsigned char *)"third", 5);
    put(trial, 1002, (const unsigned char *)"over", 4);
}

/* Both the last bytes and the descriptor fail: the first failure is told. */
TEST(write_buffer_tells_the_first_failure)
{
    struct trial trial = {0};

    trial_init(&trial);
    put(&trial, 1000, (const unsigned char *)"lost", 4);
    failing_next("pwrite", ENOSPC);
    failing_next("close", EIO);
    CHECK(write_buffer_close(&trial.buffer) == ENOSPC && failing_end());
    trial_free(&trial);
}

static int write_too_much(void *context)
{
    const struct rlimit limit = {4096, 4096};
    struct trial *trial = context;

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    write_buffer_put(&trial->buffer, 4090, "0123456789", 10);
    const int first = write_buffer_flush(&trial->buffer), again = write_buffer_flush(&trial->buffer);
    return first == EFBIG && again == EFBIG;
}

TEST(write_buffer_says_what_failed)
{
    struct write_buffer buffer;
    struct trial trial = {0};

    CHECK(write_buffer_open(&buffer, "/nowhere/at/all") == ENOENT);
    trial_init(&trial);
    CHECK(in_child(write_too_much, &trial) == true);
    CHECK(write_buffer_close(&trial.buffer) == 0);
    trial_free(&trial);
}
