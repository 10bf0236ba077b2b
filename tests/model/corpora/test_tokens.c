/* Files of token ids: who maps them, and when they are no longer what was checked. */
#include "tests/scratch.h"

#include <endian.h>
#include <sys/mman.h>

#include "model/corpora/corpora.h"

enum { TOKENS = 3000, HEADER = 512 }; /* in units of 16 bits */

/* A file of llm.c: token i is i. */
static void write_file(char path[SCRATCH_PATH])
{
    static uint16_t words[HEADER + TOKENS];
    const uint32_t head[] = {htole32(20240520), htole32(1), htole32(TOKENS)};

    scratch_file(path);
    memcpy(words, head, sizeof(head));
    for (int i = 0; i < TOKENS; i++)
        words[HEADER + i] = htole16((uint16_t)i);
    put_bytes(path, words, sizeof(words));
}

/* Attaches what `from` has written of this source: 0, or -1 and nothing is held. */
static int attach(const struct corpus_source *source, int from)
{
    struct corpus corpus;
    int32_t tokens[5] = {0};
    int status = corpus_attach(&corpus, source, dup(from));

    if (status != 0) {
        CHECK(corpus.block == NULL && corpus.train_file.bytes == NULL && corpus.valid_file.bytes == NULL);
        return status;
    }
    text_copy(&corpus.train, TOKENS - 5, 5, tokens);
    for (int i = 0; i < 5; i++)
        CHECK(tokens[i] == TOKENS - 5 + i);
    CHECK(corpus.train.token_count == TOKENS && corpus.vocabulary == TOKENS && corpus.train.line_count == 0);
    CHECK(text_sequences(&corpus.train, SEQUENCES_STREAM, 30) == 99);
    CHECK(corpus.end_of_line == TOKENS - 1 && corpus.valid.token_count == (source->valid_path ? TOKENS : 0));
    corpus_release(&corpus);
    return 0;
}

/* Another file of the same content is not the one that was checked. */
TEST(tokens_attach_the_file_that_was_checked)
{
    char path[SCRATCH_PATH], other[SCRATCH_PATH];
    struct corpus_source source = {.kind = CORPUS_TOKENS, .vocabulary = TOKENS, .train_path = path};
    int block = memfd_create("test", MFD_CLOEXEC);
    enum corpus_fault fault;
    struct error error = {0};

    write_file(path);
    CHECK(corpus_write(block, &source, &fault, &error) == 0);
    CHECK_TEXT(error.text, "");
    CHECK(attach(&source, block) == 0);
    write_file(other);
    source.train_path = other;
    CHECK(attach(&source, block) == -1);
    source.train_path = "no/such/file";
    CHECK(attach(&source, block) == -1);
    source.train_path = path;
    CHECK(attach(&source, block) == 0);
    CHECK(truncate(path, 1024) == 0);
    CHECK(attach(&source, block) == -1);
    close(block);
    unlink(path);
    unlink(other);
}

TEST(tokens_of_two_files)
{
    char path[SCRATCH_PATH], valid[SCRATCH_PATH];
    struct corpus_source source = {
        .kind = CORPUS_TOKENS, .vocabulary = TOKENS, .train_path = path, .valid_path = valid};
    int block = memfd_create("test", MFD_CLOEXEC);
    enum corpus_fault fault;
    struct error error = {0};

    write_file(path);
    write_file(valid);
    CHECK(corpus_write(block, &source, &fault, &error) == 0);
    CHECK(attach(&source, block) == 0);
    CHECK(unlink(valid) == 0);
    CHECK(attach(&source, block) == -1);
    source.vocabulary--;
    source.valid_path = NULL;
    CHECK(corpus_write(block, &source, &fault, &error) == -1 && fault == CORPUS_FAULT_TRAIN);
    CHECK(strstr(error.text, ": token 2999 at byte 7022 is not below vocabulary 2999") != NULL);
    close(block);
    unlink(path);
}
