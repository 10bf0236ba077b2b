/*
 * Texts of words. One pass over the bytes: a class table finds the ends of words, the hash is taken on the
 * way, and an open-addressing table gives the id. <eos> comes last in the vocabulary, so its id is known only
 * at the end of the training text; until then it is EOS_UNKNOWN_YET.
 */
#include "model/corpus_kinds.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum byte_class { IN_WORD, BLANK, NEWLINE, NUL };

static const unsigned char class_of[256] = {['\0'] = NUL,
    ['\n'] = NEWLINE,
    [' '] = BLANK,
    ['\t'] = BLANK,
    ['\v'] = BLANK,
    ['\f'] = BLANK,
    ['\r'] = BLANK};

enum { EOS_UNKNOWN_YET = -1, NOT_THERE = -2, FIRST_SLOTS = 1 << 12, FIRST_CAPACITY = 1 << 14 };

struct word {
    const char *bytes; /* NULL: the slot is free */
    int64_t length;
    uint32_t hash;
    int32_t id;
};

/* One text while it is read. */
struct reader {
    struct text *text;
    int64_t token_capacity, line_capacity;
    struct vocabulary *vocabulary;
    bool training; /* new words enter the vocabulary */
    int32_t end_of_line;
    int64_t line_number; /* from 1 */
    const char *path;
    struct error *error;
};

static inline uint64_t hash_byte(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * UINT64_C(0x9E3779B97F4A7C15);
}

/* The word that begins at `bytes`, up to the first byte of another class. */
static inline struct word scan_word(const char *bytes)
{
    const char *end = bytes;
    uint64_t hash = 0;

    for (; class_of[(unsigned char)*end] == IN_WORD; end++)
        hash = hash_byte(hash, *end);
    return (struct word){bytes, end - bytes, (uint32_t)(hash >> 32), NOT_THERE};
}

/* The slot of a word, or the free one where it would go. */
static inline struct word *find_slot(const struct vocabulary *vocabulary, const struct word *word)
{
    uint64_t mask = (uint64_t)vocabulary->slots - 1, at = word->hash & mask;

    for (;; at = (at + 1) & mask) {
        struct word *slot = &vocabulary->slot[at];
        if (!slot->bytes || (slot->hash == word->hash && slot->length == word->length &&
                                memcmp(slot->bytes, word->bytes, (size_t)word->length) == 0))
            return slot;
    }
}

static int resize_table(struct vocabulary *vocabulary, int64_t slots, struct error *error)
{
    struct word *old = vocabulary->slot, *slot = corpus_resize(NULL, slots, sizeof(*slot), error);
    int64_t old_slots = vocabulary->slots;

    if (!slot)
        return -1;
    memset(slot, 0, (size_t)slots * sizeof(*slot));
    vocabulary->slot = slot;
    vocabulary->slots = slots;
    for (int64_t i = 0; i < old_slots; i++)
        if (old[i].bytes)
            *find_slot(vocabulary, &old[i]) = old[i];
    free(old);
    return 0;
}

static int vocabulary_init(struct vocabulary *vocabulary, struct error *error)
{
    struct word eos = scan_word("<eos>");

    *vocabulary = (struct vocabulary){.unknown = NOT_THERE};
    if (resize_table(vocabulary, FIRST_SLOTS, error) != 0)
        return -1;
    eos.id = EOS_UNKNOWN_YET;
    *find_slot(vocabulary, &eos) = eos;
    return 0;
}

void vocabulary_release(struct vocabulary *vocabulary)
{
    free(vocabulary->slot);
    *vocabulary = (struct vocabulary){0};
}

/* No word comes after: <eos> gets its id, and <unk> is looked for. */
static void vocabulary_close(struct vocabulary *vocabulary)
{
    struct word eos = scan_word("<eos>"), unk = scan_word("<unk>");

    find_slot(vocabulary, &eos)->id = (int32_t)vocabulary->words;
    struct word *slot = find_slot(vocabulary, &unk);
    vocabulary->unknown = slot->bytes ? slot->id : NOT_THERE;
}

static int enter_word(struct reader *reader, struct word *slot, struct word *word)
{
    struct vocabulary *vocabulary = reader->vocabulary;

    if (vocabulary->words == INT32_MAX - 1)
        return error_set(reader->error, ERROR_INPUT, "%s:%" PRId64 ": more than %d different words",
            reader->path, reader->line_number, INT32_MAX - 1);
    word->id = (int32_t)vocabulary->words++;
    *slot = *word;
    if (vocabulary->words < vocabulary->slots / 2)
        return 0;
    return resize_table(vocabulary, 2 * vocabulary->slots, reader->error);
}

/* A word as one line can show it: no control characters, and not without end. */
static void show_word(char *shown, size_t size, const struct word *word)
{
    size_t length = (uint64_t)word->length < size ? (size_t)word->length : size - 1;

    while ((uint64_t)word->length > length && length > 0 && (word->bytes[length] & 0xc0) == 0x80)
        length--; /* not through a UTF-8 character */
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)word->bytes[i];
        shown[i] = word->bytes[i];
        if (byte < ' ' || byte == 0x7f)
            shown[i] = '?';
    }
    shown[length] = '\0';
}

static int refuse_word(struct reader *reader, const struct word *word)
{
    char shown[64];

    show_word(shown, sizeof(shown), word);
    return error_set(reader->error, ERROR_INPUT,
        "%s:%" PRId64 ": '%s' is not in the vocabulary and there is no <unk>", reader->path,
        reader->line_number, shown);
}

static inline int identify(struct reader *reader, struct word *word)
{
    struct word *slot = find_slot(reader->vocabulary, word);

    if (slot->bytes)
        word->id = slot->id;
    else if (reader->training)
        return enter_word(reader, slot, word);
    else if (reader->vocabulary->unknown == NOT_THERE)
        return refuse_word(reader, word);
    else
        word->id = reader->vocabulary->unknown;
    return 0;
}

static inline int append_token(struct reader *reader, int32_t token)
{
    struct text *text = reader->text;

    if (text->token_count == reader->token_capacity) {
        int64_t capacity = text->tokens ? 2 * reader->token_capacity : FIRST_CAPACITY;
        int32_t *tokens = corpus_resize(text->tokens, capacity, sizeof(*tokens), reader->error);
        if (!tokens)
            return -1;
        text->tokens = tokens;
        reader->token_capacity = capacity;
    }
    text->tokens[text->token_count++] = token;
    return 0;
}

static int append_line(struct reader *reader, struct line line)
{
    struct text *text = reader->text;

    if (text->line_count == reader->line_capacity) {
        int64_t capacity = text->line ? 2 * reader->line_capacity : FIRST_CAPACITY;
        struct line *lines = corpus_resize(text->line, capacity, sizeof(*lines), reader->error);
        if (!lines)
            return -1;
        text->line = lines;
        reader->line_capacity = capacity;
    }
    text->line[text->line_count++] = line;
    return 0;
}

static inline const char *skip_blanks(const char *at)
{
    while (class_of[(unsigned char)*at] == BLANK)
        at++;
    return at;
}

/* Reads the words of one line; leaves *at behind them, at a newline or a NUL. */
static int read_words(struct reader *reader, const char **at)
{
    const char *next = skip_blanks(*at);

    while (class_of[(unsigned char)*next] == IN_WORD) {
        struct word word = scan_word(next);
        if (identify(reader, &word) != 0 || append_token(reader, word.id) != 0)
            return -1;
        next = skip_blanks(next + word.length);
    }
    *at = next;
    return 0;
}

static int read_line(struct reader *reader, const char **at, const char *end)
{
    int64_t first = reader->text->token_count;
    bool heading = *skip_blanks(*at) == '=';

    reader->line_number++;
    if (read_words(reader, at) != 0)
        return -1;
    if (*at < end && **at == '\0')
        return error_set(reader->error, ERROR_INPUT, "%s:%" PRId64 ": a NUL byte: this is no text",
            reader->path, reader->line_number);
    if (*at < end)
        ++*at;
    int64_t words = reader->text->token_count - first;
    if (append_token(reader, reader->end_of_line) != 0)
        return -1;
    return words > 0 && !heading ? append_line(reader, (struct line){first, words}) : 0;
}

static int read_text(struct reader *reader, const struct content *content)
{
    const char *at = content->bytes, *end = at + content->size;

    *reader->text = (struct text){0};
    while (at < end)
        if (read_line(reader, &at, end) != 0)
            return -1;
    if (reader->text->token_count == reader->line_number)
        return error_set(reader->error, ERROR_INPUT, "%s: no words, white space alone", reader->path);
    return 0;
}

/* Lets go of what was read; "no memory" alone does not say where. */
static int fail_reading(struct reader *reader)
{
    text_release(reader->text);
    if (reader->error->status == ERROR_ENVIRONMENT)
        error_prefix(reader->error, "%s", reader->path);
    return -1;
}

int words_read_training(struct text *text, struct vocabulary *vocabulary, const struct content *content,
    const char *path, struct error *error)
{
    struct reader reader = {.text = text,
        .vocabulary = vocabulary,
        .training = true,
        .end_of_line = EOS_UNKNOWN_YET,
        .path = path,
        .error = error};

    *text = (struct text){0};
    if (vocabulary_init(vocabulary, error) != 0 || read_text(&reader, content) != 0) {
        vocabulary_release(vocabulary);
        return fail_reading(&reader);
    }
    vocabulary_close(vocabulary);
    for (int64_t i = 0; i < text->token_count; i++)
        if (text->tokens[i] == EOS_UNKNOWN_YET)
            text->tokens[i] = (int32_t)vocabulary->words;
    return 0;
}

int words_read(struct text *text, struct vocabulary *vocabulary, const struct content *content,
    const char *path, struct error *error)
{
    struct reader reader = {.text = text,
        .vocabulary = vocabulary,
        .end_of_line = (int32_t)vocabulary->words,
        .path = path,
        .error = error};

    return read_text(&reader, content) == 0 ? 0 : fail_reading(&reader);
}
