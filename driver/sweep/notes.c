/*
 * What people write about a sweep. Neither text has an effect on any run; both become attributes of the
 * dataset. Tags are one text with commas between them, the form of the attribute `keywords` in the
 * conventions for datasets, because an attribute of a CDF-5 file cannot be a list of texts.
 */
#include "driver/sweep/notes.h"

#include "driver/sweep/value.h"

#include <stdlib.h>
#include <string.h>

static bool has_control(const char *text, const char *allowed)
{
    for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++)
        if ((*byte < 0x20 || *byte == 0x7f) && !strchr(allowed, *byte))
            return true;
    return false;
}

/* Replaces a text of the sweep. */
static int replace(struct reader *reader, char **text, const char *by)
{
    char *copy = reader_string(reader, "%s", by);

    if (!copy)
        return -1;
    free(*text);
    *text = copy;
    return 0;
}

int notes_read(struct reader *reader, const struct node *node)
{
    const char *key = key_table[KEY_NOTES].name, *text;

    if (value_text(reader, key, node, &text) < 0)
        return -1;
    if (strlen(text) > NOTES_MOST)
        return reader_fault(reader, node->place, "%s: longer than %d bytes", key, NOTES_MOST);
    if (has_control(text, "\n\t"))
        return reader_fault(reader, node->place, "%s: a control character in the text", key);
    return replace(reader, &reader->sweep->notes, text);
}

static int check_tag(struct reader *reader, const struct node *node, const char *tag)
{
    const char *key = key_table[KEY_TAGS].name;
    char excerpt[EXCERPT_SIZE];
    size_t length = strlen(tag);

    place_excerpt(tag, excerpt);
    if (length == 0)
        return reader_fault(reader, node->place, "%s: an empty tag", key);
    if (length > TAG_LONGEST)
        return reader_fault(
            reader, node->place, "%s: '%s' is longer than %d bytes", key, excerpt, TAG_LONGEST);
    if (tag[0] == ' ' || tag[length - 1] == ' ')
        return reader_fault(reader, node->place, "%s: '%s' begins or ends with a space", key, excerpt);
    if (strchr(tag, ','))
        return reader_fault(
            reader, node->place, "%s: '%s' has a comma; write a list: [one, two]", key, excerpt);
    if (has_control(tag, ""))
        return reader_fault(reader, node->place, "%s: a control character in '%s'", key, excerpt);
    return 0;
}

/* Is the tag one of those in the text? */
static bool has_tag(const char *tags, const char *tag)
{
    size_t length = strlen(tag), gap = strlen(TAG_SEPARATOR);

    while (*tags) {
        size_t own = strcspn(tags, ",");
        if (own == length && memcmp(tags, tag, length) == 0)
            return true;
        tags += tags[own] ? own + gap : own;
    }
    return false;
}

static int add_tag(struct reader *reader, const struct node *node)
{
    const char *key = key_table[KEY_TAGS].name, *tag, *tags = reader->sweep->tags;

    if (value_text(reader, key, node, &tag) < 0 || check_tag(reader, node, tag) < 0)
        return -1;
    if (has_tag(tags, tag))
        return reader_fault(reader, node->place, "%s: '%s' appears twice", key, tag);
    char *longer = reader_string(reader, "%s%s%s", tags, tags[0] ? TAG_SEPARATOR : "", tag);
    if (!longer)
        return -1;
    free(reader->sweep->tags);
    reader->sweep->tags = longer;
    return 0;
}

int tags_read(struct reader *reader, const struct node *node)
{
    const char *key = key_table[KEY_TAGS].name;

    if (node->kind != NODE_LIST)
        return add_tag(reader, node);
    if (node->count > TAGS_MOST)
        return reader_fault(reader, node->place, "%s: more than %d tags", key, TAGS_MOST);
    for (int64_t i = 0; i < node->count; i++)
        if (add_tag(reader, &node->child[i]) < 0)
            return -1;
    return 0;
}
