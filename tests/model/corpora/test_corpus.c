#include "tests/failing.h"
#include "tests/scratch.h"

#include "model/core/random.h"
#include "model/corpora/inside.h"

#include <sys/stat.h>

/* What was loaded last, or why it was not. */
static struct corpus corpus;
static enum corpus_fault fault;
static struct error error;

/* A temporary file, which the caller unlinks. */
struct file {
    char path[SCRATCH_PATH];
};

static struct file write_bytes(const void *bytes, size_t size)
{
    struct file file = {0};

    scratch_file(file.path);
    put_bytes(file.path, bytes, size);
    return file;
}

static int load_source(const struct corpus_source *source)
{
    memset(&corpus, 0x55, sizeof(corpus));
    fault = (enum corpus_fault) - 1;
    error = (struct error){0};
    return corpus_load(&corpus, source, &fault, &error);
}

/* Loads files that hold these texts; NULL for none. */
static int load(enum corpus_kind kind, int64_t min_count, const char *train, const char *valid)
{
    struct file train_file = write_bytes(train, strlen(train));
    struct file valid_file = write_bytes(valid, valid ? strlen(valid) : 0);
    struct corpus_source source = {.kind = kind,
        .min_count = min_count,
        .train_path = train_file.path,
        .valid_path = valid ? valid_file.path : NULL};
    int status = load_source(&source);

    unlink(train_file.path);
    unlink(valid_file.path);
    return status;
}

static void load_well(enum corpus_kind kind, int64_t min_count, const char *train, const char *valid)
{
    if (load(kind, min_count, train, valid) != 0)
        test_fail(__FILE__, __LINE__, "%s", error.text);
}

/* "0 1 2 " of the tokens. */
static const char *tokens_text(const struct text *text)
{
    static char line[512];
    size_t length = 0;

    line[0] = '\0';
    for (int64_t i = 0; i < text->token_count && length < sizeof(line) - 12; i++)
        length += (size_t)snprintf(
            line + length, sizeof(line) - length, "%s%" PRId32, i ? " " : "", text->tokens[i]);
    return line;
}

/* "first+words first+words" of the lines. */
static const char *lines_text(const struct text *text)
{
    static char line[512];
    size_t length = 0;

    line[0] = '\0';
    for (int64_t i = 0; i < text->line_count && length < sizeof(line) - 48; i++)
        length += (size_t)snprintf(line + length, sizeof(line) - length, "%s%" PRId64 "+%" PRId64,
            i ? " " : "", text->line[i].first, text->line[i].words);
    return line;
}

/* Headings, empty lines, a line of one word, blanks of every kind, no newline at the end. */
static const char snippet[] = " \n"
                              " = Title = \n"
                              " \n"
                              " the cat <unk>\tsat on\vthe mat . \r\n"
                              "=== more\n"
                              "\n"
                              "Articles\n"
                              " a =b";

TEST(corpus_text_tokens)
{
    load_well(CORPUS_TEXT, 1, snippet, "the dog = Title\n\n");
    CHECK(corpus.vocabulary == 15 && corpus.end_of_line == 14);
    CHECK_TEXT(tokens_text(&corpus.train), "14 0 1 0 14 14 2 3 4 5 6 2 7 8 14 9 10 14 14 11 14 12 13 14");
    CHECK_TEXT(lines_text(&corpus.train), "6+8 19+1 21+2");
    CHECK_TEXT(tokens_text(&corpus.valid), "2 4 0 1 14 14");
    CHECK_TEXT(lines_text(&corpus.valid), "0+4");
    corpus_release(&corpus);
    CHECK(corpus.train.tokens == NULL && corpus.valid.token_count == 0);
}

static bool is_line(struct line line, int64_t first, int64_t words)
{
    return line.first == first && line.words == words;
}

TEST(corpus_text_sequences)
{
    load_well(CORPUS_TEXT, 1, snippet, NULL);
    CHECK(corpus.valid.token_count == 0 && corpus.valid.line_count == 0);
    CHECK(text_sequences(&corpus.train, SEQUENCES_LINES, 5) == 3);
    CHECK(is_line(text_sequence(&corpus.train, SEQUENCES_LINES, 5, 0), 6, 5)); /* cut */
    CHECK(is_line(text_sequence(&corpus.train, SEQUENCES_LINES, 8, 0), 6, 8)); /* just fits */
    CHECK(corpus.train.tokens[14] == corpus.end_of_line);
    CHECK(is_line(text_sequence(&corpus.train, SEQUENCES_LINES, 5, 1), 19, 1));
    CHECK(corpus.train.tokens[19] == 11 && corpus.train.tokens[20] == corpus.end_of_line);

    CHECK(text_sequences(&corpus.train, SEQUENCES_STREAM, 23) == 1); /* 24 tokens */
    CHECK(text_sequences(&corpus.train, SEQUENCES_STREAM, 24) == 0);
    CHECK(text_sequences(&corpus.train, SEQUENCES_STREAM, INT64_MAX) == 0);
    CHECK(text_sequences(&corpus.train, SEQUENCES_STREAM, 5) == 4);
    CHECK(text_sequences(&corpus.valid, SEQUENCES_STREAM, 5) == 0);
    CHECK(is_line(text_sequence(&corpus.train, SEQUENCES_STREAM, 5, 3), 15, 5));
    CHECK(is_line(text_sequence(&corpus.train, SEQUENCES_LINES, INT64_MAX, 2), 21, 2));
    corpus_release(&corpus);
}

TEST(corpus_text_holds_eos)
{
    load_well(CORPUS_TEXT, 1, "a <eos> b\n<eos>\n", "b <eos>\n");
    CHECK(corpus.vocabulary == 3);
    CHECK_TEXT(tokens_text(&corpus.train), "0 2 1 2 2 2");
    CHECK_TEXT(lines_text(&corpus.train), "0+3 4+1");
    CHECK_TEXT(tokens_text(&corpus.valid), "1 2 2");
    corpus_release(&corpus);
}

TEST(corpus_bytes)
{
    load_well(CORPUS_BYTES, 1, "=a\n\n \n\xff", "\n");
    CHECK(corpus.vocabulary == 256 && corpus.end_of_line == 10);
    CHECK_TEXT(tokens_text(&corpus.train), "61 97 10 10 32 10 255 10");
    CHECK_TEXT(lines_text(&corpus.train), "0+2 4+1 6+1");
    CHECK_TEXT(tokens_text(&corpus.valid), "10");
    CHECK(corpus.valid.line_count == 0);
    corpus_release(&corpus);
}

TEST(corpus_bytes_may_be_nul)
{
    struct file file = write_bytes("a\0b", 3);
    struct corpus_source source = {.kind = CORPUS_BYTES, .train_path = file.path};

    CHECK(load_source(&source) == 0);
    CHECK_TEXT(tokens_text(&corpus.train), "97 0 98 10");
    corpus_release(&corpus);
    unlink(file.path);
}

#define NO_UNK ", which has no <unk>; set min_count: 2 to make rare words <unk>"

/* The error of loading these texts is `expected`, behind the path of the text at fault. */
static void check_refused(enum corpus_kind kind, const char *train, const char *valid,
    enum corpus_fault expected_fault, const char *expected)
{
    CHECK(load(kind, 1, train, valid) == -1);
    CHECK(corpus.train.tokens == NULL && corpus.valid.tokens == NULL);
    CHECK(fault == expected_fault && error.status == ERROR_INPUT);
    CHECK_TEXT(strchrnul(error.text, ':'), expected);
}

TEST(corpus_refuses_texts)
{
    check_refused(CORPUS_TEXT, "", NULL, CORPUS_FAULT_TRAIN, ": empty");
    check_refused(CORPUS_BYTES, "", NULL, CORPUS_FAULT_TRAIN, ": empty");
    check_refused(CORPUS_TEXT, " \n\t\r\n", NULL, CORPUS_FAULT_TRAIN, ": only white space, no words");
    check_refused(CORPUS_TEXT, "a", "", CORPUS_FAULT_VALID, ": empty");
    check_refused(CORPUS_BYTES, "a", "", CORPUS_FAULT_VALID, ": empty");
    check_refused(CORPUS_TEXT, "a", "\n", CORPUS_FAULT_VALID, ": only white space, no words");
    check_refused(CORPUS_TEXT, "a b", "a\n\n b foo bar", CORPUS_FAULT_VALID,
        ":3: 'foo' is not in the training text" NO_UNK);
    check_refused(CORPUS_TEXT, "a b", "\x1b[2J\x7f", CORPUS_FAULT_VALID,
        ":1: '?[2J?' is not in the training text" NO_UNK);
}

TEST(corpus_cuts_long_words_in_errors)
{
    char word[201], expected[256];

    memset(word, 'x', 62);
    memset(word + 62, '\xc3', 1); /* a character of two bytes across the cut */
    memset(word + 63, '\xa9', 1);
    memset(word + 64, 'y', 136);
    word[200] = '\0';
    snprintf(expected, sizeof(expected), ":1: '%.62s' is not in the training text" NO_UNK, word);
    check_refused(CORPUS_TEXT, "a", word, CORPUS_FAULT_VALID, expected);
}

static void check_path_refused(const char *path, enum corpus_kind kind, const char *expected)
{
    struct corpus_source source = {.kind = kind, .train_path = path};
    char text[256];

    CHECK(load_source(&source) == -1);
    CHECK(fault == CORPUS_FAULT_TRAIN && error.status == ERROR_INPUT);
    snprintf(text, sizeof(text), "%s%s", path ? path : "", expected);
    CHECK_TEXT(error.text, text);
}

TEST(corpus_refuses_paths)
{
    struct file nul = write_bytes("a\nb\nc \0 d\n", 10), last = write_bytes("a\n\0", 3);
    char pipe[SCRATCH_PATH + 8];

    check_path_refused(NULL, CORPUS_TEXT, "train_text is missing");
    check_path_refused(NULL, CORPUS_BYTES, "train_text is missing");
    check_path_refused("no/such.txt", CORPUS_TEXT, ": No such file or directory");
    check_path_refused("/", CORPUS_TEXT, ": Is a directory");
    check_path_refused("/", CORPUS_BYTES, ": Is a directory");
    check_path_refused("/dev/zero", CORPUS_BYTES, ": not a regular file");
    check_path_refused(nul.path, CORPUS_TEXT, ":3: a NUL byte: this is not a text");
    check_path_refused(last.path, CORPUS_TEXT, ":2: a NUL byte: this is not a text");
    snprintf(pipe, sizeof(pipe), "%s.fifo", nul.path);
    CHECK(mkfifo(pipe, 0600) == 0);
    check_path_refused(pipe, CORPUS_TEXT, ": not a regular file");
    unlink(pipe);
    unlink(nul.path);
    unlink(last.path);
}

TEST(corpus_refuses_unreadable)
{
    struct file file = write_bytes("a\n", 2);

    if (chmod(file.path, 0) == 0 && access(file.path, R_OK) != 0)
        check_path_refused(file.path, CORPUS_TEXT, ": Permission denied");
    else
        test_skip("this user (root?) may read every file, so the message on one that cannot be read is not "
                  "checked");
    unlink(file.path);
}

/* Larger than any machine's memory, and takes no room: one line, no crash. */
TEST(corpus_refuses_huge_file)
{
    struct file file = write_bytes("a", 1);
    struct corpus_source source = {.kind = CORPUS_TEXT, .train_path = file.path};

    if (truncate(file.path, INT64_C(1) << 43) != 0)
        test_skip(
            "this file system has no sparse files of 8 TiB, so a text larger than the memory is not checked");
    else {
        CHECK(load_source(&source) == -1);
        CHECK(error.status == ERROR_ENVIRONMENT && strstr(error.text, ": no memory for "));
    }
    unlink(file.path);
}

/* <unk> stands where the first rare word stood, and is a word even if none is rare. */
TEST(corpus_text_without_rare_words)
{
    load_well(CORPUS_TEXT, 2, "a x b a\n<eos> y b z\n", "y a new <unk> b\n");
    CHECK(corpus.vocabulary == 4 && corpus.unknown == 1 && corpus.end_of_line == 3);
    CHECK_TEXT(tokens_text(&corpus.train), "0 1 2 0 3 3 1 2 1 3");
    CHECK_TEXT(tokens_text(&corpus.valid), "1 0 1 1 2 3");
    CHECK(corpus_unknown_share(&corpus) == 0.5);
    corpus_release(&corpus);

    load_well(CORPUS_TEXT, 2, "a b a b\n", "a new\n");
    CHECK(corpus.vocabulary == 4 && corpus.unknown == 2);
    CHECK_TEXT(tokens_text(&corpus.train), "0 1 0 1 3");
    CHECK_TEXT(tokens_text(&corpus.valid), "0 2 3");
    corpus_release(&corpus);

    load_well(CORPUS_TEXT, 3, "a <unk> b a b\nb <unk> a <unk>\n", NULL);
    CHECK(corpus.vocabulary == 4 && corpus.unknown == 1 && isnan(corpus_unknown_share(&corpus)));
    CHECK_TEXT(tokens_text(&corpus.train), "0 1 2 0 2 3 2 1 0 1 3");
    corpus_release(&corpus);

    load_well(CORPUS_TEXT, 1, "a x b a\n", "a\n");
    CHECK(corpus.unknown < 0 && isnan(corpus_unknown_share(&corpus)));
    corpus_release(&corpus);
}

/* Headings stay headings, though their words are rare. */
TEST(corpus_headings_of_rare_words)
{
    load_well(CORPUS_TEXT, 2, "=one= a\na a\n", NULL);
    CHECK_TEXT(tokens_text(&corpus.train), "0 1 2 1 1 2");
    CHECK_TEXT(lines_text(&corpus.train), "3+2");
    corpus_release(&corpus);
}

TEST(corpus_of_rare_words_alone)
{
    static const char *const texts[] = {"a a b\n", "<unk> <unk> <unk> a a\n"};

    for (int i = 0; i < 2; i++) {
        CHECK(load(CORPUS_TEXT, 3, texts[i], "a\n") == -1);
        CHECK(fault == CORPUS_FAULT_SOURCE && error.status == ERROR_INPUT);
        CHECK_TEXT(error.text,
            "min_count: 3 leaves no word but <unk>; the training text has no other more than 2 times");
    }
}

/* Whichever allocation fails. */
TEST(corpus_rare_words_without_memory)
{
    int count = 0;
    bool failed = true;

    for (; failed; count++) {
        failing_after(count, "realloc", ENOMEM);
        int status = load(CORPUS_TEXT, 2, "a x a\n", "b\n");
        failed = failing_end();
        CHECK(status == (failed ? -1 : 0));
        CHECK(!failed || (error.status == ERROR_ENVIRONMENT && strstr(error.text, "no memory for ")));
    }
    corpus_release(&corpus);
    CHECK(count > 6); /* the text, words, slots and bytes; the counts of words; the validation text */
}

static struct digest digest_of(enum corpus_kind kind, const char *train, const char *valid)
{
    load_well(kind, 1, train, valid);
    struct digest digest = corpus.digest;
    corpus_release(&corpus);
    return digest;
}

TEST(corpus_digest_is_of_the_content)
{
    struct digest first = digest_of(CORPUS_TEXT, "ab\n", "ab\n");
    struct digest other[] = {digest_of(CORPUS_TEXT, "ab\n", NULL), digest_of(CORPUS_TEXT, "ab\nab\n", NULL),
        digest_of(CORPUS_TEXT, "ab \n", "ab\n"), digest_of(CORPUS_BYTES, "ab\n", "ab\n")};
    struct digest again = digest_of(CORPUS_TEXT, "ab\n", "ab\n");

    CHECK(memcmp(&first, &again, sizeof(first)) == 0);
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        CHECK(memcmp(&first, &other[i], sizeof(first)) != 0);
}

/* Also where the tokens are the same. */
TEST(corpus_digest_is_of_min_count)
{
    struct digest digest[3];

    for (int i = 0; i < 3; i++) {
        load_well(CORPUS_TEXT, i + 1, "a a a <unk>\n", NULL);
        CHECK_TEXT(tokens_text(&corpus.train), "0 0 0 1 2");
        digest[i] = corpus.digest;
        corpus_release(&corpus);
    }
    CHECK(memcmp(&digest[0], &digest[1], sizeof(*digest)) != 0);
    CHECK(memcmp(&digest[1], &digest[2], sizeof(*digest)) != 0);
}

/* Enough words for the table and the token array to grow many times. */
TEST(corpus_text_grows)
{
    const int64_t words = 30000;
    char *text = malloc((size_t)words * 16);
    size_t length = 0;

    for (int64_t i = 0; i < 2 * words; i++)
        length += (size_t)sprintf(text + length, "w%" PRId64 "%c", i % words, i % 3 ? ' ' : '\n');
    load_well(CORPUS_TEXT, 1, text, NULL);
    CHECK(corpus.vocabulary == words + 1 && corpus.train.line_count == 2 * words / 3 + 1);
    int64_t word = 0;
    for (int64_t i = 0; i < corpus.train.token_count; i++)
        if (corpus.train.tokens[i] != corpus.end_of_line)
            CHECK(corpus.train.tokens[i] == word++ % words);
    CHECK(word == 2 * words);
    corpus_release(&corpus);
    free(text);
}

/* Words and lines that lie across the pieces in which a file is read, one word longer than several of them.
 */
TEST(text_of_many_pieces)
{
    enum { WORD = 3 << 20, SHORT = 400000 };
    char *text = malloc(2 * WORD + 12 * SHORT), *end = text;

    for (int i = 0; i < SHORT; i++)
        end += sprintf(end, "%d%c", i % 1000, i % 7 ? ' ' : '\n');
    memset(end, 'x', WORD);
    end += WORD;
    end += sprintf(end, " y\n= ");
    memset(end, 'x', WORD);
    strcpy(end + WORD, "\nlast");
    load_well(CORPUS_TEXT, 1, text, NULL);
    int64_t at = 0;
    for (int i = 0; i < SHORT; i++) {
        CHECK(corpus.train.tokens[at++] == i % 1000);
        CHECK(i % 7 || corpus.train.tokens[at++] == corpus.end_of_line);
    }
    CHECK(corpus.vocabulary == 1000 + 5); /* xxx y = last <eos> */
    CHECK(corpus.train.token_count == at + 8);
    CHECK(corpus.train.tokens[at] == 1000 && corpus.train.tokens[at + 4] == 1000);
    CHECK(corpus.train.line_count == SHORT / 7 + 3);
    corpus_release(&corpus);
    free(text);
}

/* More than any processor addresses. */
TEST(text_without_addresses)
{
    corpus = (struct corpus){.file = -1};

    CHECK(block_take(&corpus, INT64_C(1) << 50, 1, false, -1, &error) == -1 &&
          error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(error.text, "grants no 1.351e+10 MB of addresses (ulimit -v?)") != NULL);
    CHECK(corpus.block == NULL);
}

enum { NOISE = 600 };

/* Bytes that make short words, blanks and newlines likely; no NUL. */
static size_t draw_noise(char *bytes, uint64_t file)
{
    static const char alphabet[] = "ab<unk>= \n\t\r\n  eos\xff\x80'%";
    size_t size = 1 + random_below(1, RANDOM_TEST, file << 20, NOISE - 1);

    for (size_t i = 0; i < size; i++)
        bytes[i] = alphabet[random_below(1, RANDOM_TEST, (file << 20) + i + 1, sizeof(alphabet) - 1)];
    bytes[size] = '\0';
    return size;
}

/* The same reading by other means, quadratic: ids of the words of a NUL-free text, -1 for the end of a line.
 */
static int64_t read_plainly(char *text, int32_t *tokens, int32_t *vocabulary)
{
    const char *words[NOISE];
    int64_t count = 0;

    *vocabulary = 0;
    for (char *line = text; line && *line;) {
        char *rest, *newline = strchr(line, '\n');
        if (newline)
            *newline = '\0';
        for (char *word = strtok_r(line, " \t\r\v\f", &rest); word;
             word = strtok_r(NULL, " \t\r\v\f", &rest)) {
            int32_t id = 0;
            while (id < *vocabulary && strcmp(words[id], word) != 0)
                id++;
            if (id == *vocabulary && strcmp(word, "<eos>") != 0)
                words[(*vocabulary)++] = word;
            tokens[count++] = strcmp(word, "<eos>") == 0 ? -1 : id;
        }
        tokens[count++] = -1;
        line = newline ? newline + 1 : NULL;
    }
    return count;
}

TEST(corpus_text_against_a_plain_reader)
{
    char bytes[NOISE + 1];
    int32_t tokens[2 * NOISE], words;

    for (uint64_t file = 0; file < 300; file++) {
        draw_noise(bytes, file);
        bool has_words = strspn(bytes, " \t\r\n") < strlen(bytes);
        CHECK(load(CORPUS_TEXT, 1, bytes, NULL) == (has_words ? 0 : -1));
        int64_t count = read_plainly(bytes, tokens, &words);
        if (!has_words)
            continue;
        CHECK(corpus.train.token_count == count && corpus.vocabulary == words + 1);
        for (int64_t i = 0; i < count && i < corpus.train.token_count; i++)
            CHECK(corpus.train.tokens[i] == (tokens[i] < 0 ? words : tokens[i]));
        corpus_release(&corpus);
    }
}

/* The text with <unk> for each word that it has fewer than min_count times. The caller frees it. */
static char *replace_rare(const char *text, int64_t min_count)
{
    static const char blanks[] = " \t\r\v\f\n";
    char *replaced = calloc(strlen(text) + 1, sizeof("<unk>"));

    for (const char *at = text; *at;) {
        size_t length = strcspn(at, blanks), count = 0;
        for (const char *other = text; *other;) {
            size_t its = strcspn(other, blanks);
            count += its == length && memcmp(other, at, length) == 0;
            other += its + (other[its] != 0);
        }
        bool rare = length > 0 && (int64_t)count < min_count && !(length == 5 && memcmp(at, "<eos>", 5) == 0);
        strncat(replaced, rare ? "<unk>" : at, rare ? SIZE_MAX : length);
        strncat(replaced, at + length, at[length] ? 1 : 0);
        at += length + (at[length] != 0);
    }
    return replaced;
}

static bool same_tokens(const struct text *a, const struct text *b)
{
    return a->token_count == b->token_count &&
           memcmp(a->tokens, b->tokens, (size_t)a->token_count * sizeof(*a->tokens)) == 0;
}

/* Rare words are as if the training text had <unk> in their place, whatever the text and min_count. */
TEST(corpus_rare_words_against_a_replaced_text)
{
    char bytes[NOISE + 1], valid[NOISE + 1];
    int compared = 0;

    for (uint64_t i = 0; i < 300; i++) {
        const int64_t min_count = 2 + (int64_t)(i % 5);
        draw_noise(bytes, i);
        draw_noise(valid, i + 1000);
        char *replaced = replace_rare(bytes, min_count);
        if (strstr(replaced, "<unk>") && strspn(valid, " \t\r\n") < strlen(valid) &&
            load(CORPUS_TEXT, min_count, bytes, valid) == 0) {
            struct corpus rare = corpus;
            load_well(CORPUS_TEXT, 1, replaced, valid);
            CHECK(rare.vocabulary == corpus.vocabulary && rare.unknown == corpus.unknown);
            CHECK(same_tokens(&rare.train, &corpus.train) && same_tokens(&rare.valid, &corpus.valid));
            corpus_release(&rare);
            corpus_release(&corpus);
            compared++;
        }
        free(replaced);
    }
    CHECK(compared > 100);
}

static void check_sound(const struct text *text)
{
    int64_t end = 0;

    CHECK(text->token_count > 0 && text->tokens[text->token_count - 1] == corpus.end_of_line);
    for (int64_t i = 0; i < text->token_count; i++)
        CHECK(text->tokens[i] >= 0 && text->tokens[i] < corpus.vocabulary);
    for (int64_t i = 0; i < text->line_count; i++) {
        CHECK(text->line[i].first >= end && text->line[i].words > 0);
        end = text->line[i].first + text->line[i].words + 1;
        CHECK(end <= text->token_count && text->tokens[end - 1] == corpus.end_of_line);
    }
}

/* Any bytes, as either kind, for training and validation: read soundly or refused with one line. */
TEST(corpus_any_bytes)
{
    unsigned char bytes[256];

    for (uint64_t i = 0; i < 400; i++) {
        size_t size = random_below(2, RANDOM_TEST, i << 20, sizeof(bytes));
        for (size_t j = 0; j < size; j++)
            bytes[j] = (unsigned char)(random_bits(2, RANDOM_TEST, (i << 20) + j + 1) % (i % 4 ? 256 : 64) +
                                       (i % 2 ? 0 : 1));
        struct file train = write_bytes(bytes, size), valid = write_bytes(bytes, size / 2);
        struct corpus_source source = {.kind = i % 3 ? CORPUS_TEXT : CORPUS_BYTES,
            .train_path = train.path,
            .valid_path = i % 5 ? valid.path : NULL};
        if (load_source(&source) == 0) {
            check_sound(&corpus.train);
            if (source.valid_path)
                check_sound(&corpus.valid);
            corpus_release(&corpus);
        } else
            CHECK(error.text[0] && !strchr(error.text, '\n'));
        unlink(train.path);
        unlink(valid.path);
    }
}

/* WikiText-2's published counts. */
TEST(corpus_wikitext)
{
    const char *named = getenv("NORMSWEEP_WIKITEXT2"), *folder = named ? named : "../shared/wikitext-2";
    char train[4096], valid[4096];
    struct corpus_source source = {.kind = CORPUS_TEXT, .train_path = train, .valid_path = valid};

    snprintf(train, sizeof(train), "%s/valid.txt", folder);
    snprintf(valid, sizeof(valid), "%s/test.txt", folder);
    if (access(train, R_OK) != 0 || access(valid, R_OK) != 0) {
        test_skip(
            "its published counts of words are not checked; to check them, set NORMSWEEP_WIKITEXT2 to a "
            "folder with its validation and test parts as valid.txt and test.txt");
        return;
    }
    CHECK(load_source(&source) == 0);
    CHECK(corpus.train.token_count == 213886 + 3760 && corpus.valid.token_count == 241211 + 4358);
    CHECK(corpus.vocabulary == 13776 + 1);
    CHECK(corpus.train.line_count == 1841 && corpus.valid.line_count == 2183);
    int64_t ones = 0, longest = 0;
    for (int64_t i = 0; i < corpus.valid.line_count; i++) {
        ones += corpus.valid.line[i].words == 1;
        longest = corpus.valid.line[i].words > longest ? corpus.valid.line[i].words : longest;
    }
    CHECK(ones == 30 && longest == 481);
    corpus_release(&corpus);
}
