#include "driver/weights/token_ids.h"

#include "driver/output/mapped_file.h"
#include "driver/text/place.h"
#include "driver/text/utf8.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a file, behind a byte order mark. */
struct bytes {
    const char *at;
    size_t size;
};

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Parses a word of `length` bytes as a token; -1: it is not a token id. */
static int read_token(
    const char *word, size_t length, const struct token_ids *how, int32_t *token, struct error *error)
{
    char text[2 * EXCERPT_SIZE], excerpt[EXCERPT_SIZE];
    int64_t number = 0;

    snprintf(text, sizeof(text), "%.*s", length < EXCERPT_SIZE ? (int)length : EXCERPT_SIZE, word);
    for (size_t i = 0; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return error_set(error, ERROR_INPUT, "'%s' is not a token id%s", place_excerpt(text, excerpt),
                strchr(text, ',') ? "; separate ids by white space alone" : "");
        if (number < how->vocabulary)
            number = 10 * number + (word[i] - '0');
    }
    if (number >= how->vocabulary)
        return error_set(error, ERROR_INPUT, "token %s is not below the vocabulary of %" PRId64,
            place_excerpt(text, excerpt), how->vocabulary);
    if (number == how->padding)
        return error_set(error, ERROR_INPUT,
            "token %" PRId64 " is padding, which a text does not have; tokenize without padding", number);
    *token = (int32_t)number;
    return 0;
}

/* Ends a line of the file whose tokens begin at `first`: a sequence, if it has any. */
static void end_line(struct text *text, const struct token_ids *how, int64_t first)
{
    int64_t words = text->token_count - first - how->behind;

    if (text->line && words > 0)
        text->line[text->line_count++] = (struct line){first, words};
}

/* Fills the tokens and, if there are any, the lines, which must have room for all. */
static int read_tokens(struct text *text, const struct bytes *file, const char *path,
    const struct token_ids *how, struct error *error)
{
    int64_t line = 1, first = 0;

    for (size_t at = 0; at < file->size;) {
        size_t end = at;
        while (end < file->size && !is_blank(file->at[end]))
            end++;
        if (end > at && read_token(file->at + at, end - at, how, &text->tokens[text->token_count], error) < 0)
            return error_prefix(error, "%s:%" PRId64, path, line);
        text->token_count += end > at;
        if (end < file->size && file->at[end] == '\n') {
            end_line(text, how, first);
            first = text->token_count;
            line++;
        }
        at = end + 1;
    }
    end_line(text, how, first);
    text->tokens[text->token_count] = 0;
    if (text->token_count == 0)
        return error_set(error, ERROR_INPUT, "%s: no tokens", path);
    if (how->lines && text->line_count == 0)
        return error_set(error, ERROR_INPUT, "%s: no line has %" PRId64 " tokens, which a sequence needs",
            path, how->behind + 1);
    return 0;
}

static size_t count_lines(const struct bytes *file)
{
    size_t lines = 1;

    for (size_t i = 0; i < file->size; i++)
        lines += file->at[i] == '\n';
    return lines;
}

/* Each token needs a digit and a blank. */
static int take_room(struct text *text, const struct bytes *file, bool lines)
{
    text->tokens = malloc((file->size / 2 + 2) * sizeof(*text->tokens));
    if (lines)
        text->line = malloc(count_lines(file) * sizeof(*text->line));
    return text->tokens && (text->line || !lines) ? 0 : -1;
}

int token_ids_read(struct text *text, const char *path, const struct token_ids *how, struct error *error)
{
    struct mapped_file file;

    *text = (struct text){0};
    if (mapped_file_open(&file, path, error) < 0)
        return -1;
    struct bytes bytes = {file.bytes ? (const char *)file.bytes : "", file.size};
    int status = utf8_begin(&bytes.at, &bytes.size, error);
    if (status < 0)
        error_prefix(error, "%s", path);
    else if (take_room(text, &bytes, how->lines) == 0)
        status = read_tokens(text, &bytes, path, how, error);
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
    free(text->line);
    *text = (struct text){0};
}
