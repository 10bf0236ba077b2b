/*
 * The text of a sweep as its dataset keeps it, which sweep.c writes. A word in a title, in a comment or
 * inside another value does not count as a key, so the text is read as YAML. Settings win over the sweep
 * file, and the sweep file wins over what it includes; null takes a key out.
 */
#include "driver/sweep/kept.h"

#include "driver/sweep/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_INCLUDE "# include "
#define HEAD_LINE "# |"
#define HEAD_SETTING "# --set "

enum said { SAID_NOTHING, SAID_NULL, SAID_VALUE };

static enum said said_of(const struct node *value)
{
    return node_is_null(value) ? SAID_NULL : SAID_VALUE;
}

/* What a document says about a key. */
static enum said document_says(const char *text, size_t size, const char *key)
{
    enum said said = SAID_NOTHING;
    struct error ignored;
    struct place fault;
    struct node root;

    if (size == 0 || yaml_read(&root, text, size, &fault, &ignored) != 0)
        return SAID_NOTHING;
    int64_t index = root.kind == NODE_MAP ? node_find(&root, key) : root.count;
    if (index < root.count)
        said = said_of(&root.child[index]);
    node_release(&root);
    return said;
}

/* `setting`: the line after its head. */
static enum said setting_says(const char *setting, size_t size, const char *key)
{
    size_t length = strlen(key);
    struct error ignored;
    struct place fault;
    struct node value;

    if (size <= length || memcmp(setting, key, length) != 0 || setting[length] != '=')
        return SAID_NOTHING;
    setting += length + 1;
    size -= length + 1;
    if (strspn(setting, " ") >= size || yaml_read(&value, setting, size, &fault, &ignored) != 0)
        return SAID_NULL;
    enum said said = said_of(&value);
    node_release(&value);
    return said;
}

static bool begins(const char *line, const char *head)
{
    return strncmp(line, head, strlen(head)) == 0;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* Reads an included file, from the first line after its head. Returns the line after it. */
static const char *read_included(const char *line, const char *key, enum said *said)
{
    char *text = NULL;
    size_t size = 0, head = strlen(HEAD_LINE);
    FILE *out = open_memstream(&text, &size);

    for (; begins(line, HEAD_LINE); line = next_line(line)) {
        const char *own = line + head + (line[head] == ' ');
        if (out)
            fprintf(out, "%.*s\n", (int)strcspn(own, "\n"), own);
    }
    if (out && fclose(out) == 0 && text && *said != SAID_VALUE)
        *said = document_says(text, size, key);
    free(text);
    return line;
}

bool kept_gives(const char *text, const char *key)
{
    enum said set = SAID_NOTHING, included = SAID_NOTHING;
    const char *line = text ? text : "";
    enum said own = document_says(line, strlen(line), key);

    while (*line) {
        const char *next = next_line(line);
        if (begins(line, HEAD_SETTING)) {
            const char *setting = line + strlen(HEAD_SETTING);
            enum said said = setting_says(setting, strcspn(setting, "\n"), key);
            set = said == SAID_NOTHING ? set : said;
        } else if (begins(line, HEAD_INCLUDE)) {
            next = read_included(next, key, &included);
        }
        line = next;
    }
    if (set == SAID_NOTHING)
        set = own;
    return (set == SAID_NOTHING ? included : set) == SAID_VALUE;
}
