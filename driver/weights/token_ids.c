#include "driver/weights/token_ids.h"

#include "driver/output/mapped_file.h"
#include "driver/text/place.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(unsigned char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Parses a word of `length` bytes as a token; -1: it is not a token id. */
static int read_token(
    const unsigned char *word, size_t length, int64_t vocabulary, int32_t *token, struct error *error)
{
    char text[2 * EXCERPT_SIZE], excerpt[EXCERPT_SIZE];
    int64_t number = 0;

    snprintf(
        text, sizeof(text), "%.*s", length < EXCERPT_SIZE ? (int)length : EXCERPT_SIZE, (const char *)word);
    for (size_t i = 0; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return error_set(error, ERROR_INPUT, "'%s' is not a token id", place_excerpt(text, excerpt));
        if (number < vocabulary)
            number = 10 * number + (word[i] - '0');
    }
    if (number >= vocabulary)
        return error_set(error, ERROR_INPUT, "token %s is not below the vocabulary of %" PRId64,
            place_excerpt(text, excerpt), vocabulary);
    *token = (int32_t)number;
    return 0;
}

/* Fills text->tokens, which must have room for all. */
static int read_tokens(struct text *text, const struct mapped_file *file, const char *path,
    int64_t vocabulary, struct error *error)
{
    int64_t line = 1;

    for (size_t at = 0; at < file->size;) {
        size_t end = at;
        while (end < file->size && !is_blank(file->bytes[end]))
            end++;
        if (end > at &&
            read_token(file->bytes + at, end - at, vocabulary, &text->tokens[text->token_count], error) < 0) {
            error_prefix(error, "%s:%" PRId64, path, line);
            return place_clean(error);
        }
        text->token_count += end > at;
        line += end < file->size && file->bytes[end] == '\n';
        at = end + 1;
    }
    return text->token_count > 0 ? 0 : error_set(error, ERROR_INPUT, "%s: no tokens", path);
}

int token_ids_read(struct text *text, const char *path, int64_t vocabulary, struct error *error)
{
    struct mapped_file file;
    int status;

    *text = (struct text){0};
    if (mapped_file_open(&file, path, error) < 0)
        return -1;
    text->tokens = malloc((file.size / 2 + 1) * sizeof(*text->tokens)); /* each needs a digit and a blank */
    if (text->tokens)
        status = read_tokens(text, &file, path, vocabulary, error);
    else
        status = error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    mapped_file_close(&file);
    if (status < 0)
        token_ids_release(text);
    return status;
}

void token_ids_release(struct text *text)
{
    free(text->tokens);
    *text = (struct text){0};
}
