/* Token ids of a text, from a file: whole numbers between white space. */
#include "driver/inspect/inside.h"
#include "driver/text/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a file, behind a byte order mark. */
struct bytes {
    const char *at;
    size_t size;
};

/* Parses a word of `length` bytes as a token; -1: it is not a token id. */
static int read_token(
    const char *word, size_t length, const struct token_ids *how, int32_t *token, struct error *error)
{
    char text[2 * EXCERPT_SIZE];
    int64_t number = 0;

    snprintf(text, sizeof(text), "%.*s", length < EXCERPT_SIZE ? (int)length : EXCERPT_SIZE, word);
    for (size_t i = 0; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return error_set(error, ERROR_INPUT, "'%s' is not a token id%s", text_excerpt(text).text,
                strchr(text, ',') ? "; separate ids by white space alone" : "");
        if (number < how->vocabulary)
            number = 10 * number + (word[i] - '0');
    }
    if (number >= how->vocabulary)
        return error_set(error, ERROR_INPUT, "token %s is not below the vocabulary of %" PRId64,
            text_excerpt(text).text, how->vocabulary);
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

/* Fills the tokens and, if they are wanted, the lines. */
static int read_tokens(struct text *text, const struct bytes *file, const char *path,
    const struct token_ids *how, struct error *error)
{
    int64_t line = 1, first = 0;
    size_t lines = 1;

    for (size_t i = 0; i < file->size; i++)
        lines += file->at[i] == '\n';
    text->tokens = memory_new(file->size / 2 + 2, sizeof(*text->tokens)); /* a token: a digit and a blank */
    text->line = how->lines ? memory_new(lines, sizeof(*text->line)) : NULL;
    for (size_t at = 0; at < file->size;) {
        size_t end = at;
        while (end < file->size && !memchr(" \t\n\v\f\r", file->at[end], 6))
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

/* Reads a whole file into *text, which the caller frees. 0, or an errno. */
static int read_file(const char *path, char **text, size_t *size)
{
    int64_t length;
    int cause, descriptor = regular_open(path, &length, &cause);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");

    *text = NULL;
    if (!file)
        return cause ? cause : ENOMEM;
    *text = memory_new((size_t)length, 1);
    *size = fread(*text, 1, (size_t)length, file); /* fewer bytes if the file is shorter by now */
    cause = ferror(file) ? errno : 0;
    fclose(file);
    return cause;
}

int token_ids_read(struct text *text, const char *path, const struct token_ids *how, struct error *error)
{
    struct bytes bytes = {0};
    char *content;
    int status = read_file(path, &content, &bytes.size);

    *text = (struct text){0};
    bytes.at = content;
    if (status != 0)
        status = error_set(error, status == EIO || status == ENOMEM ? ERROR_ENVIRONMENT : ERROR_INPUT,
            "%s: %s", path, regular_why(status));
    else if (utf8_begin(&bytes.at, &bytes.size, error) < 0)
        status = error_prefix(error, "%s", path);
    else
        status = read_tokens(text, &bytes, path, how, error);
    free(content);
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
