/*
 * The corpora of words, text and pairs: words_load reads the training text, or both sides of it, then closes
 * the vocabulary and reads the validation.
 *
 * Texts are read in one pass over the bytes: a class table finds the ends of words, and an open-addressing
 * hash table gives their ids. Slots are small, and the words lie in the order of their ids, so that frequent
 * words lie together: both stay in the cache. <eos> comes last in the vocabulary, so its id is known only at
 * the end of the training text; until then it is EOS_UNKNOWN_YET. Only then are rare words known, too: a pass
 * over the tokens counts them, another gives the tokens the ids without rare words.
 *
 * The table of a large vocabulary does not fit the cache, and waiting for memory took six sevenths of the
 * time. So AHEAD words are scanned first, their slots and bytes are prefetched together, and then they are
 * looked up.
 */
#include "model/corpora/inside.h"

#include <inttypes.h>
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

enum { EOS_UNKNOWN_YET = -1, NOT_THERE = -2, FIRST_SLOTS = 1 << 12, POOL_SIZE = 1 << 16, AHEAD = 64 };

struct word {
    const char *bytes;
    int64_t length;
    uint32_t hash;
};

struct word_slot {
    uint32_t hash;
    int32_t id; /* minus NOT_THERE, so that a slot of zeros is free */
};

/* A pool for the bytes of words, in front of the pools that are full. */
struct word_pool {
    struct word_pool *older;
    int64_t left;
    char *free; /* [left] */
};

/* The words of the training texts. */
struct vocabulary {
    bool open; /* new words enter it */
    int64_t words; /* without <eos>, which is entered first: -1 before it is; the next id */
    int32_t unknown; /* id of <unk>, or negative */
    int64_t slots; /* a power of two */
    struct word_slot *slot; /* [slots] open addressing, linear probing */
    int64_t room;
    struct word *word; /* [room] <eos>, then the others by id */
    struct word_pool *pool; /* the bytes of the words */
};

/* The state of reading one text. */
struct word_reader {
    struct text *text;
    struct vocabulary *vocabulary;
    bool every_line; /* empty lines and headings are noted, too */
    int32_t end_of_line;
    int64_t line_number; /* from 1 */
    int64_t line_first; /* token at which the line begins */
    bool heading;
    struct word ahead[AHEAD];
    const char *path;
    struct error *error;
};

/* ---- the vocabulary ---- */

/* The first `length` < 8 of eight bytes, shifted to the high end of the number. */
static inline uint64_t first_bytes(uint64_t eight, int64_t length)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return eight >> (64 - 8 * length);
#else
    return eight << (64 - 8 * length);
#endif
}

/* Takes eight bytes at a time, so it may read CONTENT_SLACK bytes after the word. */
static inline uint32_t hash_bytes(const char *bytes, int64_t length)
{
    uint64_t hash = (uint64_t)length, eight;

    for (; length > 0; bytes += sizeof(eight), length -= (int64_t)sizeof(eight)) {
        memcpy(&eight, bytes, sizeof(eight));
        if (length < (int64_t)sizeof(eight))
            eight = first_bytes(eight, length);
        hash = (hash ^ eight) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

/* The word that begins at `bytes`, up to the first byte of another class. */
static inline struct word scan_word(const char *bytes)
{
    const char *end = bytes;

    while (class_of[(unsigned char)*end] == IN_WORD)
        end++;
    return (struct word){bytes, end - bytes, hash_bytes(bytes, end - bytes)};
}

/* The word of a slot; for a free slot the first word, so that a prefetch has an address. */
static inline const struct word *word_of(const struct vocabulary *vocabulary, const struct word_slot *slot)
{
    return &vocabulary->word[slot->id ? slot->id + NOT_THERE - EOS_UNKNOWN_YET : 0];
}

static inline bool is_word(
    const struct vocabulary *vocabulary, const struct word_slot *slot, const struct word *word)
{
    const struct word *known = word_of(vocabulary, slot);

    return slot->hash == word->hash && known->length == word->length &&
           memcmp(known->bytes, word->bytes, (size_t)word->length) == 0;
}

/* The slot of a word, or the free one where it would go. */
static inline struct word_slot *find_slot(const struct vocabulary *vocabulary, const struct word *word)
{
    uint64_t mask = (uint64_t)vocabulary->slots - 1, at = word->hash & mask;

    for (;; at = (at + 1) & mask) {
        struct word_slot *slot = &vocabulary->slot[at];
        if (slot->id == 0 || is_word(vocabulary, slot, word))
            return slot;
    }
}

/* Moves the slots without comparing words, as all words are different. */
static int resize_table(struct vocabulary *vocabulary, int64_t slots, struct error *error)
{
    struct word_slot *slot = corpus_resize(NULL, slots, sizeof(*slot), error);
    uint64_t mask = (uint64_t)slots - 1;

    if (!slot)
        return -1;
    memset(slot, 0, (size_t)slots * sizeof(*slot));
    for (int64_t i = 0; i < vocabulary->slots; i++) {
        uint64_t at = vocabulary->slot[i].hash & mask;
        if (vocabulary->slot[i].id == 0)
            continue;
        while (slot[at].id)
            at = (at + 1) & mask;
        slot[at] = vocabulary->slot[i];
    }
    free(vocabulary->slot);
    vocabulary->slot = slot;
    vocabulary->slots = slots;
    return 0;
}

/* Copies a word's bytes into the vocabulary's pool. NULL without memory. */
static const char *keep_bytes(struct vocabulary *vocabulary, const struct word *word, struct error *error)
{
    struct word_pool *pool = vocabulary->pool;

    if (!pool || pool->left < word->length) {
        int64_t size = word->length > POOL_SIZE ? word->length : POOL_SIZE;
        pool = corpus_resize(NULL, (int64_t)sizeof(*pool) + size, 1, error);
        if (!pool)
            return NULL;
        *pool = (struct word_pool){.older = vocabulary->pool, .left = size, .free = (char *)(pool + 1)};
        vocabulary->pool = pool;
    }
    char *bytes = pool->free;
    memcpy(bytes, word->bytes, (size_t)word->length);
    pool->free += word->length;
    pool->left -= word->length;
    return bytes;
}

/* Enters a word under the next id. */
static int enter_word(struct vocabulary *vocabulary, const struct word *word, struct error *error)
{
    int64_t at = vocabulary->words - EOS_UNKNOWN_YET;

    if (at == vocabulary->room) {
        struct word *grown = corpus_resize(vocabulary->word, 2 * at + FIRST_SLOTS, sizeof(*grown), error);
        if (!grown)
            return -1;
        vocabulary->word = grown;
        vocabulary->room = 2 * at + FIRST_SLOTS;
    }
    if (at >= vocabulary->slots / 2 && resize_table(vocabulary, 2 * vocabulary->slots, error) != 0)
        return -1;
    vocabulary->word[at] = (struct word){keep_bytes(vocabulary, word, error), word->length, word->hash};
    if (!vocabulary->word[at].bytes)
        return -1;
    *find_slot(vocabulary, word) = (struct word_slot){word->hash, (int32_t)vocabulary->words - NOT_THERE};
    vocabulary->words++;
    return 0;
}

static const char eos_bytes[8 + CONTENT_SLACK] = "<eos>", unk_bytes[8 + CONTENT_SLACK] = "<unk>";

/* Makes <unk> a word, and drops the words that the training text has fewer than min_count times: their tokens
 * become <unk>, whose id is that of the first of them. The others keep their order. */
static int drop_rare(
    struct vocabulary *vocabulary, struct text *text, const struct corpus_source *source, struct error *error)
{
    const struct word unk = scan_word(unk_bytes);
    int64_t kept = 0, most = 0, *id; /* [words] how often the text has a word; then its new id */
    int32_t unknown = NOT_THERE;

    if (find_slot(vocabulary, &unk)->id == 0 && enter_word(vocabulary, &unk, error) != 0)
        return -1;
    id = corpus_resize(NULL, vocabulary->words, sizeof(*id), error);
    if (!id)
        return -1;
    memset(id, 0, (size_t)vocabulary->words * sizeof(*id));
    for (int64_t i = 0; i < text->token_count; i++) {
        breathe_at(source->breath, i);
        if (text->tokens[i] != EOS_UNKNOWN_YET)
            id[text->tokens[i]]++;
    }
    id[find_slot(vocabulary, &unk)->id + NOT_THERE] = 0; /* it is among the rare words, however frequent */

    for (int64_t i = 0; i < vocabulary->words; i++) {
        bool rare = id[i] < source->min_count;
        most = id[i] > most ? id[i] : most;
        if (rare && unknown != NOT_THERE) {
            id[i] = unknown;
            continue;
        }
        if (rare)
            unknown = (int32_t)kept;
        vocabulary->word[kept - EOS_UNKNOWN_YET] = rare ? unk : vocabulary->word[i - EOS_UNKNOWN_YET];
        id[i] = kept++;
    }
    for (int64_t i = 0; i < text->token_count; i++) {
        breathe_at(source->breath, i);
        if (text->tokens[i] != EOS_UNKNOWN_YET)
            text->tokens[i] = (int32_t)id[text->tokens[i]];
    }
    free(id);

    vocabulary->words = kept;
    memset(vocabulary->slot, 0, (size_t)vocabulary->slots * sizeof(*vocabulary->slot));
    for (int64_t i = EOS_UNKNOWN_YET; i < kept; i++) {
        const struct word *word = &vocabulary->word[i - EOS_UNKNOWN_YET];
        *find_slot(vocabulary, word) = (struct word_slot){word->hash, (int32_t)i - NOT_THERE};
    }
    if (kept > 1)
        return 0;
    return error_set(error, ERROR_INPUT,
        "min_count: %" PRId64 " leaves no word but <unk>; the training text has no other more than %" PRId64
        " times",
        source->min_count, most);
}

/*
 * Ends the training texts, which corpus->train holds: drops their rare words, gives its tokens their ids in
 * the vocabulary, and sets the corpus's vocabulary, end_of_line and unknown. Other words become <unk> from
 * here on. The digest takes a min_count that drops words. -1 without memory, or if all words are rare.
 */
static int vocabulary_close(struct vocabulary *vocabulary, struct corpus *corpus,
    const struct corpus_source *source, struct error *error)
{
    const struct word unk = scan_word(unk_bytes);
    struct text *text = &corpus->train;

    if (source->min_count > 1) {
        digest_add(&corpus->digest, &source->min_count, sizeof(source->min_count));
        if (drop_rare(vocabulary, text, source, error) != 0)
            return -1;
    }
    vocabulary->open = false;
    vocabulary->unknown = find_slot(vocabulary, &unk)->id + NOT_THERE;
    corpus->vocabulary = vocabulary->words + 1;
    corpus->end_of_line = (int32_t)vocabulary->words;
    corpus->unknown = vocabulary->unknown;
    for (int64_t i = 0; i < text->token_count; i++)
        text->tokens[i] = text->tokens[i] == EOS_UNKNOWN_YET ? corpus->end_of_line : text->tokens[i];
    return 0;
}

/* ---- reading ---- */

/* The message shows the word without control characters, and truncated. */
static int refuse_word(struct word_reader *reader, const struct word *word)
{
    char shown[64];
    size_t size = sizeof(shown), length = (uint64_t)word->length < size ? (size_t)word->length : size - 1;

    while ((uint64_t)word->length > length && length > 0 && (word->bytes[length] & 0xc0) == 0x80)
        length--; /* do not cut a UTF-8 character */
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)word->bytes[i];
        shown[i] = word->bytes[i];
        if (byte < ' ' || byte == 0x7f)
            shown[i] = '?';
    }
    shown[length] = '\0';
    return error_set(reader->error, ERROR_INPUT,
        "%s:%" PRId64 ": '%s' is not in the training text, which has no <unk>; set min_count: 2 to make rare "
        "words <unk>",
        reader->path, reader->line_number, shown);
}

static int enter_new(struct word_reader *reader, const struct word *word)
{
    struct vocabulary *vocabulary = reader->vocabulary;

    if (vocabulary->words == INT32_MAX + (int64_t)NOT_THERE)
        return error_set(reader->error, ERROR_INPUT, "%s:%" PRId64 ": more than %" PRId64 " different words",
            reader->path, reader->line_number, vocabulary->words);
    if (enter_word(vocabulary, word, reader->error) != 0)
        return error_prefix(reader->error, "%s", reader->path);
    return 0;
}

/* The id of a word, which may be a new one; NOT_THERE with the error set if it is not allowed. */
static inline int32_t identify(struct word_reader *reader, const struct word *word)
{
    struct vocabulary *vocabulary = reader->vocabulary;
    int32_t id = find_slot(vocabulary, word)->id + NOT_THERE;

    if (id == EOS_UNKNOWN_YET)
        return reader->end_of_line;
    if (id != NOT_THERE)
        return id;
    if (vocabulary->open)
        return enter_new(reader, word) == 0 ? (int32_t)vocabulary->words - 1 : NOT_THERE;
    if (vocabulary->unknown == NOT_THERE)
        refuse_word(reader, word);
    return vocabulary->unknown;
}

static void end_line(struct word_reader *reader)
{
    struct text *text = reader->text;
    int64_t words = text->token_count - reader->line_first;

    text->tokens[text->token_count++] = reader->end_of_line;
    if (reader->every_line || (words > 0 && !reader->heading))
        text->line[text->line_count++] = (struct line){reader->line_first, words};
    reader->line_first = text->token_count;
    reader->line_number++;
    reader->heading = false;
}

/* Scans the next words and ends of lines (as words of length 0) into `ahead`, up to AHEAD of them or a NUL
 * byte. Returns their number. */
static int look_ahead(struct word_reader *reader, const char **at, const char *end)
{
    const struct vocabulary *vocabulary = reader->vocabulary;
    const char *next = *at;
    int count = 0;

    while (next < end && count < AHEAD) {
        enum byte_class class = class_of[(unsigned char)*next];
        if (class == NUL)
            break;
        if (class == IN_WORD) {
            struct word word = scan_word(next);
            __builtin_prefetch(&vocabulary->slot[word.hash & ((uint64_t)vocabulary->slots - 1)]);
            reader->ahead[count++] = word;
            next += word.length;
        } else {
            if (class == NEWLINE)
                reader->ahead[count++] = (struct word){.bytes = next};
            next++;
        }
    }
    *at = next;
    return count;
}

/* Prefetches what identify will most likely read for all words ahead: the known words, then their bytes. */
static void fetch_ahead(const struct word_reader *reader, int count)
{
    const struct vocabulary *vocabulary = reader->vocabulary;
    uint64_t mask = (uint64_t)vocabulary->slots - 1;

    for (int i = 0; i < count; i++)
        __builtin_prefetch(word_of(vocabulary, &vocabulary->slot[reader->ahead[i].hash & mask]));
    for (int i = 0; i < count; i++)
        __builtin_prefetch(word_of(vocabulary, &vocabulary->slot[reader->ahead[i].hash & mask])->bytes);
}

/* Reads bytes that do not end inside a word. */
static int read_piece(struct word_reader *reader, const char *at, const char *end)
{
    struct text *text = reader->text;

    while (at < end) {
        int count = look_ahead(reader, &at, end);
        if (count == 0 && at < end)
            return error_set(reader->error, ERROR_INPUT, "%s:%" PRId64 ": a NUL byte: this is not a text",
                reader->path, reader->line_number);
        fetch_ahead(reader, count);
        for (int i = 0; i < count; i++) {
            const struct word *word = &reader->ahead[i];
            if (word->length == 0) {
                end_line(reader);
                continue;
            }
            int32_t id = identify(reader, word);
            if (id == NOT_THERE)
                return -1;
            if (text->token_count == reader->line_first)
                reader->heading = *word->bytes == '=';
            text->tokens[text->token_count++] = id;
        }
    }
    if (corpus_check_memory(text->token_count, sizeof(int32_t), reader->error) != 0)
        return error_prefix(reader->error, "%s", reader->path);
    return 0;
}

/* Reads a text of words behind what `text` holds, which has room. With `every_line`, empty lines and headings
 * are lines of the text, too. While the vocabulary is open the ends of lines have no id yet. */
static int read_words(struct text *text, struct vocabulary *vocabulary, struct content *content,
    bool every_line, struct digest *digest, struct error *error)
{
    int64_t begin = text->token_count, there, done = 0;
    struct word_reader reader = {.text = text,
        .vocabulary = vocabulary,
        .every_line = every_line,
        .end_of_line = vocabulary->open ? EOS_UNKNOWN_YET : (int32_t)vocabulary->words,
        .line_number = 1,
        .line_first = begin,
        .path = content->path,
        .error = error};

    while ((there = content_next(content, done, digest, error)) > 0) {
        done = there; /* without a last word that may go on in the next piece */
        while (done > 0 && class_of[(unsigned char)content->bytes[done - 1]] == IN_WORD)
            done--;
        if (read_piece(&reader, content->bytes, content->bytes + done) != 0)
            return -1;
    }
    if (there == 0 && text->token_count - begin == reader.line_number - 1)
        return error_set(error, ERROR_INPUT, "%s: only white space, no words", content->path);
    return there == 0 ? 0 : -1;
}

/* ---- corpora ---- */

/* Drops pairs with an empty side: published texts have a few. Their words and their tokens stay. */
static void leave_out_empty(struct text *text)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < text->line_count; i++) {
        if (text->line[i].words == 0 || text->source[i].words == 0)
            continue;
        text->line[kept] = text->line[i];
        text->source[kept++] = text->source[i];
    }
    text->left_out = text->line_count - kept;
    text->line_count = kept;
}

/* For pairs, reads the source first: its lines go to text->source, its tokens come before the target's. */
static int read_sides(struct corpus *corpus, struct text *text, struct content *source,
    struct content *target, struct vocabulary *vocabulary, struct error *error)
{
    bool pairs = text->source != NULL;
    struct line *lines = text->line;
    int64_t sources = 0;

    if (pairs)
        corpus_digest_size(corpus, source);
    corpus_digest_size(corpus, target);
    if (pairs) {
        text->line = text->source;
        if (read_words(text, vocabulary, source, true, &corpus->digest, error) != 0)
            return -1;
        sources = text->line_count;
        text->line = lines;
        text->line_count = 0;
    }
    if (read_words(text, vocabulary, target, pairs, &corpus->digest, error) != 0)
        return -1;
    if (!pairs)
        return 0;
    if (sources != text->line_count)
        return error_set(error, ERROR_INPUT,
            "%s: %" PRId64 " line%s, but %s has %" PRId64 "; line n of one translates line n of the other",
            target->path, text->line_count, text->line_count == 1 ? "" : "s", source->path, sources);
    leave_out_empty(text);
    return 0;
}

int words_load(struct corpus *corpus, const struct corpus_source *source, struct corpus_files *files,
    int file, enum corpus_fault *fault, struct error *error)
{
    const struct word eos = scan_word(eos_bytes);
    struct vocabulary vocabulary = {.open = true, .words = EOS_UNKNOWN_YET, .unknown = NOT_THERE};
    /* At most one token per byte, and one more for the end of a last line without a newline. */
    int64_t train = files->train.size + 1, valid = files->valid.size + 1;
    bool pairs = source->kind == CORPUS_PAIRS;
    int status = -1;

    if (pairs) {
        train += files->train_source.size + 1;
        valid = files->valid.size > 0 ? valid + files->valid_source.size + 1 : 0;
    }
    if (block_take(corpus, train, valid, pairs, file, error) != 0)
        return error_prefix(error, "%s", pairs ? files->train_source.path : files->train.path);

    if (resize_table(&vocabulary, FIRST_SLOTS, error) == 0 && enter_word(&vocabulary, &eos, error) == 0)
        status = read_sides(corpus, &corpus->train, &files->train_source, &files->train, &vocabulary, error);
    if (status == 0) {
        *fault = CORPUS_FAULT_SOURCE;
        status = vocabulary_close(&vocabulary, corpus, source, error);
    }
    if (status == 0) {
        *fault = CORPUS_FAULT_VALID;
        if (files->valid.size > 0)
            status =
                read_sides(corpus, &corpus->valid, &files->valid_source, &files->valid, &vocabulary, error);
    }

    while (vocabulary.pool) {
        struct word_pool *pool = vocabulary.pool;
        vocabulary.pool = pool->older;
        free(pool);
    }
    free(vocabulary.word);
    free(vocabulary.slot);
    return status;
}
