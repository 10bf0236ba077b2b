/*
 * Fuzzes the reader of datasets: the bytes are edits of a valid one, which status, show and a start of its
 * sweep then read. Edits of whole files would rarely get past the header.
 */
#include "driver/commands/inside.h"
#include "driver/dataset/extend/extend.h"
#include "driver/dataset/ledger/ledger.h"
#include "driver/dataset/read/read.h"
#include "driver/sweep/inside.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

#define SWEEP                                                                                                \
    "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\nsteps: 4\n"                    \
    "measure: {every: 2, metrics: [norms]}\nlearning_rate: [0.1, 0.01]\n"                                    \
    "together: {model: {small: {width: 8, heads: 1, layers: 1}, large: {width: 8, heads: 2, layers: 1}}}\n"

enum { SAME, GROWN, RETRIED, KINDS };
enum { EDIT_BYTE, EDIT_NUMBER, EDIT_TEXT, EDIT_REMOVE, EDIT_INSERT, EDIT_CUT, EDITS };
enum { BYTES_MOST = 1 << 20, HEADER = 24 << 10, INSERT_MOST = 64 };

static char folder[] = "/dev/shm/normsweep-fuzz-XXXXXX";
static char path[sizeof(folder) + 16], setting[sizeof(path) + 16];
static struct sweep sweep[KINDS];
static struct corpus corpus;
static unsigned char *valid; /* the dataset before any edit */
static size_t valid_size;
static const struct session session = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};

static size_t read_file(unsigned char *bytes)
{
    int file = open(path, O_RDONLY);
    ssize_t size = file < 0 ? -1 : read(file, bytes, BYTES_MOST);

    if (size < 0)
        abort();
    close(file);
    return (size_t)size;
}

static void write_file(const unsigned char *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file) != 0)
        abort();
}

static void parse(struct sweep *into, const char *more)
{
    const char *settings[2] = {setting, more};
    struct error error;

    if (sweep_parse(into, "fuzz.yaml", folder, SWEEP, strlen(SWEEP), settings, more ? 2 : 1, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
}

/* Ends the first pending run. */
static void end_run(struct dataset *dataset, const struct sweep *of)
{
    struct result result = {.outcome = OUTCOME_DONE, .last_step = 4, .diverged_step = -1, .norm_growth = 2};
    struct error error;
    int64_t cell = 0;

    while (cell < of->cells && dataset_outcomes(dataset)[cell] != OUTCOME_PENDING)
        cell++;
    if (cell < of->cells && (dataset_start(dataset, cell, "here", 1, 0, &error) != 0 ||
                                dataset_result(dataset, cell, &result, &error) != 0))
        abort();
    if (dataset_commit(dataset, &error) != 0)
        abort();
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct dataset_options options = {0};
    struct dataset *dataset;
    struct error error;

    (void)argc;
    (void)argv;
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
    snprintf(path, sizeof(path), "%s/fuzz.nc", folder);
    snprintf(setting, sizeof(setting), "output=%s", path);
    parse(&sweep[SAME], NULL);
    parse(&sweep[GROWN], "learning_rate=[0.1, 0.03, 0.01]");
    parse(&sweep[RETRIED], NULL);
    valid = malloc(BYTES_MOST);
    if (!valid || sweep_load_corpus(&sweep[SAME], &corpus, &error) != 0 ||
        dataset_open(&dataset, path, &sweep[SAME], &corpus, &session, &options, &error) != 0)
        abort();
    end_run(dataset, &sweep[SAME]);
    if (dataset_close(dataset, &error) != 0)
        abort();
    valid_size = read_file(valid);
    return 0;
}

/* ---- edits ---- */

struct input {
    const unsigned char *bytes;
    size_t left;
};

static uint64_t take(struct input *input, size_t count)
{
    uint64_t value = 0;

    for (; count > 0 && input->left > 0; count--, input->left--)
        value = value << 8 | *input->bytes++;
    return value;
}

/* Applies one edit: a byte for what and where, a place, and what the edit needs. Returns the new size. */
static size_t edit(struct input *input, unsigned char *file, size_t size)
{
    unsigned kind = (unsigned)take(input, 1);
    size_t within = kind & 0x80 || size < HEADER ? size : HEADER, at = size ? take(input, 3) % within : 0;
    size_t count = 1, left = size - at;
    uint64_t number;

    switch ((kind & 0x7f) % EDITS) {
    case EDIT_BYTE:
        number = take(input, 1) << 56;
        break;
    case EDIT_NUMBER: /* small and huge ones */
        number = take(input, 2);
        number = htobe64(number & 0x8000 ? 0 - (number & 0x7fff) : number << (number & 63));
        at &= ~(size_t)3;
        left = size - at;
        count = 8;
        break;
    case EDIT_TEXT:
        number = htobe64(take(input, 8));
        count = 8;
        break;
    case EDIT_REMOVE:
        count = take(input, 1) + 1;
        count = count < left ? count : left;
        memmove(file + at, file + at + count, left - count);
        return size - count;
    case EDIT_INSERT:
        count = take(input, 1) % INSERT_MOST;
        if (size + count > BYTES_MOST)
            return size;
        memmove(file + at + count, file + at, left);
        return size + count;
    default:
        return at;
    }
    memcpy(file + at, &number, count < left ? count : left);
    return size;
}

/* ---- what reads the file ---- */

static void look(
    int (*function)(const struct arguments *, struct error *), const char *name, const char *more)
{
    char *argv[] = {(char *)name, path, (char *)more, NULL};
    int status = command_call(command_find(name), function, more ? 3 : 2, argv);

    if (status != 0 && status != 2)
        abort();
}

/* What has been continued can be read, and continued again. */
static void use(struct dataset *dataset, const struct sweep *of)
{
    struct error error;
    struct view view;

    end_run(dataset, of);
    if (dataset_close(dataset, &error) != 0 || view_open(&view, path, &error) != 0 ||
        verify_dataset(&view, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    view_close(&view);
}

/* A start that refuses changes nothing. */
static void start(int kind, const unsigned char *file, size_t size)
{
    static unsigned char after[BYTES_MOST];
    struct dataset_options options = {.retry_failed = kind == RETRIED};
    struct error error = {.text = ""};
    struct dataset *dataset;

    if (dataset_open(&dataset, path, &sweep[kind], &corpus, &session, &options, &error) == 0) {
        use(dataset, &sweep[kind]);
    } else if (!error.text[0] || strchr(error.text, '\n') || read_file(after) != size ||
               memcmp(after, file, size) != 0) {
        fprintf(stderr, "refused, but changed: %s\n", error.text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    static unsigned char file[BYTES_MOST];
    struct input input = {bytes, size};
    int kind = (int)(take(&input, 1) % KINDS);
    size_t length = valid_size;

    memcpy(file, valid, valid_size);
    while (input.left > 0)
        length = edit(&input, file, length);
    write_file(file, length);
    look(command_status, "status", NULL);
    look(command_show, "show", NULL);
    look(command_show, "show", "train_loss");
    start(kind, file, length);
    return 0;
}
