/*
 * The tree of a sweep file: scalars, lists, and maps that keep the order of their keys; and messages about
 * places in it, "sweep.yaml:12:18: ...". Settings of the command line have no line; for them the message
 * begins with --set. This is the one file that knows libyaml, whose events become the tree.
 *
 * libyaml says what it expected, and a user wants to know what is wrong; guess_cause adds that for the common
 * mistakes. Anchors, tags, repeated keys and several documents are refused, each at its position.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"
#include "model/core/printable.h"

#include <yaml.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- messages, paths, and where keys are given ---- */

int position_prefix(struct error *error, const char *file, struct position position)
{
    const char *name = position.file ? position.file : file;
    struct error fault = *error;

    if (position.line > 0)
        return error_prefix(error, "%s:%d:%d", name, position.line, position.column);
    if (position.column > 0)
        return error_set(error, fault.status, "--set %s", fault.text);
    return error_prefix(error, "%s:1:1", name);
}

char *reader_path(const struct reader *reader, const struct node *node, const char *path)
{
    const char *file = node->position.file, *slash = file ? strrchr(file, '/') : NULL;
    const char *folder = file ? file : reader->folder ? reader->folder : "";
    size_t length = file ? (size_t)(slash ? slash - file : 0) : strlen(folder);

    if (path[0] == '/' || length == 0 || node->position.line == 0)
        return memory_format("%s%s", path[0] != '/' && slash && slash == file ? "/" : "", path);
    return memory_format("%.*s%s%s", (int)length, folder, folder[length - 1] == '/' ? "" : "/", path);
}

int reader_unknown(struct reader *reader, const struct node *key)
{
    bool setting = key->position.line == 0;
    error_set(reader->error, ERROR_INPUT, "%sunknown key '%s'%s", setting ? "--set: " : "",
        text_excerpt(key->text).text, key_hint(key->text).text);
    return setting ? -1 : position_prefix(reader->error, reader->sweep->path, key->position);
}

struct spot *reader_spot(const struct sweep *sweep, const struct param *param)
{
    return &sweep->spots->param[param - param_table];
}

struct spot *reader_named(const struct sweep *sweep, const char *name)
{
    const struct param *param = param_find(name);

    return param ? reader_spot(sweep, param) : &sweep->spots->key[key_find(name)];
}

/* ---- the tree ---- */

bool node_is_null(const struct node *node)
{
    return node->kind == NODE_SCALAR && !node->quoted &&
           (node->text[0] == 0 || strcmp(node->text, "~") == 0 || strcasecmp(node->text, "null") == 0);
}

int64_t node_find(const struct node *map, const char *name)
{
    int64_t i = 0;

    while (i < map->count && strcmp(map->key[i].text, name) != 0)
        i++;
    return i;
}

/* Makes room for one more child of a list or map, and for its key; does not change count. The room doubles
 * when count reaches a power of 2; it is never smaller than the next one. */
static void node_grow(struct node *node)
{
    size_t count = (size_t)node->count, room = count ? 2 * count : 1;

    if (count & (count - 1))
        return;
    node->child = memory_grow(node->child, room, sizeof(*node->child));
    if (node->kind == NODE_MAP)
        node->key = memory_grow(node->key, room, sizeof(*node->key));
}

void node_put(struct node *map, struct node *key, struct node *value)
{
    int64_t index = node_find(map, key->text);

    if (index == map->count) {
        node_grow(map);
        map->count++;
    } else {
        node_release(&map->key[index]);
        node_release(&map->child[index]);
    }
    map->key[index] = *key;
    map->child[index] = *value;
    *key = *value = (struct node){0};
}

void node_remove(struct node *map, int64_t index)
{
    size_t behind = (size_t)(map->count - index - 1);

    node_release(&map->key[index]);
    node_release(&map->child[index]);
    memmove(&map->key[index], &map->key[index + 1], behind * sizeof(*map->key));
    memmove(&map->child[index], &map->child[index + 1], behind * sizeof(*map->child));
    map->count--;
}

void node_release(struct node *node)
{
    for (int64_t i = 0; i < node->count; i++) {
        node_release(&node->child[i]);
        if (node->key)
            node_release(&node->key[i]);
    }
    free(node->text);
    free(node->key);
    free(node->child);
    *node = (struct node){0};
}

/* ---- reading ---- */

struct parsing {
    yaml_parser_t parser;
    struct reader *reader;
    const char *text;
    size_t size;
    const char *file, *setting; /* as of yaml_read */
};

/* The position of what an event begins with. */
static struct position position_of(const struct parsing *parsing, const yaml_event_t *event)
{
    const yaml_mark_t mark = event->start_mark;

    if (parsing->setting)
        return POSITION_SETTING;
    return (struct position){(int)mark.line + 1, (int)mark.column + 1, parsing->file};
}

static int refuse(const struct parsing *parsing, struct position position, const char *why)
{
    if (parsing->setting)
        return reader_fault(parsing->reader, POSITION_SETTING, "%s: %s", parsing->setting, why);
    position.file = parsing->file;
    return reader_fault(parsing->reader, position, "%s", why);
}

/* Line and column of byte `offset`. */
static struct position offset_position(const struct parsing *parsing, size_t offset)
{
    struct position position = {.line = 1, .column = 1};

    for (size_t i = 0; i < offset && i < parsing->size; i++) {
        if (parsing->text[i] == '\n')
            position = (struct position){.line = position.line + 1, .column = 1};
        else if (((unsigned char)parsing->text[i] & 0xc0) != 0x80)
            position.column++;
    }
    return position;
}

/* Line `number`, counted from 1, and its length; an empty one if there is no such line. */
static const char *line_at(const struct parsing *parsing, int number, size_t *length)
{
    const char *line = parsing->text, *end = parsing->text + parsing->size;

    while (--number > 0 && line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        line = newline ? newline + 1 : end;
    }
    const char *newline = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
    *length = number > 0 ? 0 : (size_t)((newline ? newline : end) - line);
    return line;
}

static size_t span_of(const char *line, size_t length, const char *letters)
{
    size_t span = 0;

    while (span < length && line[span] && strchr(letters, line[span]))
        span++;
    return span;
}

/* Does the line begin like "steps:5"? */
static bool lacks_space(const char *line, size_t length)
{
    size_t key = span_of(line, length, " ");

    while (key < length && !strchr(" :#'\"{[,", line[key]))
        key++;
    return key + 1 < length && line[key] == ':' && !strchr(" \t\r", line[key + 1]);
}

/* What a user has most likely done, "" if that is unknown; libyaml says only what it expected. */
static const char *guess_cause(const struct parsing *parsing, struct position fault)
{
    const char *problem = parsing->parser.problem ? parsing->parser.problem : "";
    size_t length, above_length, blanks;
    const char *line = line_at(parsing, fault.line, &length);
    const char *above = line_at(parsing, fault.line - 1, &above_length);

    blanks = span_of(line, length, " \t");
    if (memchr(line, '\t', blanks))
        return "; a tab: indent with spaces";
    bool colon = strstr(problem, "expected ':'") || strstr(problem, "mapping values are not allowed");
    if (colon && (lacks_space(line, length) || lacks_space(above, above_length)))
        return "; a space must follow ':'";
    size_t before = (size_t)(fault.column - 1) < length ? (size_t)(fault.column - 1) : length;
    bool second = memmem(line, before, ": ", 2) != NULL; /* a second ':' in the line is another fault */
    if ((strstr(problem, "mapping values are not allowed") && !second) ||
        (strstr(problem, "did not find expected key") && blanks > 0) ||
        strstr(problem, "expected <document start>"))
        return "; indented differently from the lines above?";
    return "";
}

/* Reports libyaml's error and its likely cause; of a wrong encoding libyaml names only the byte. */
static int parser_fault(struct parsing *parsing)
{
    const yaml_parser_t *parser = &parsing->parser;
    /* A key without its ':' is noticed in the next line. */
    bool of_key = parser->context && strstr(parser->context, "a simple key");
    const yaml_mark_t mark = of_key ? parser->context_mark : parser->problem_mark;
    struct position fault = {(int)mark.line + 1, (int)mark.column + 1, NULL};
    struct string why = {0};

    if (parser->error == YAML_MEMORY_ERROR)
        memory_end();
    if (parser->error == YAML_READER_ERROR) {
        size_t valid = 0, length = 1;
        for (; valid < parsing->size && length > 0; valid += length)
            length = utf8_length(parsing->text + valid, parsing->size - valid);
        if (valid < parsing->size && valid <= parser->problem_offset)
            return refuse(parsing, offset_position(parsing, valid),
                "is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8");
        fault = offset_position(parsing, parser->problem_offset);
    }
    string_format(&why, "YAML: %s", parser->problem ? parser->problem : "cannot be read");
    if (parser->context)
        string_format(&why, ", %s", parser->context);
    string_format(&why, "%s", guess_cause(parsing, fault));
    refuse(parsing, fault, string_text(&why));
    string_release(&why);
    return -1;
}

static int next_event(struct parsing *parsing, yaml_event_t *event)
{
    return yaml_parser_parse(&parsing->parser, event) ? 0 : parser_fault(parsing);
}

static int read_node(struct parsing *parsing, struct node *node, const yaml_event_t *event, int depth);

/* Reads one key, whose event is given, and its value. On success both are in the map. */
static int read_pair(struct parsing *parsing, struct node *map, const yaml_event_t *event, int depth)
{
    yaml_event_t value;

    if (event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT)
        return refuse(parsing, position_of(parsing, event), "a key must be a word");
    node_grow(map);
    map->child[map->count] = (struct node){0};
    if (read_node(parsing, &map->key[map->count], event, depth) < 0)
        return -1;
    map->count++;
    if (next_event(parsing, &value) < 0)
        return -1;
    int status = read_node(parsing, &map->child[map->count - 1], &value, depth);
    yaml_event_delete(&value);
    return status;
}

static int compare_keys(const void *map, int64_t a, int64_t b)
{
    const struct node *key = ((const struct node *)map)->key;

    return strcmp(key[a].text, key[b].text);
}

/* Refuses the first key of a map that repeats an earlier one. */
static int check_repeated(const struct parsing *parsing, const struct node *map)
{
    int64_t *sorted = memory_sorted(map->count, compare_keys, map), first = map->count;
    char why[sizeof("repeated key ''") + EXCERPT_SIZE];

    for (int64_t i = 1; i < map->count; i++)
        if (sorted[i] < first && compare_keys(map, sorted[i - 1], sorted[i]) == 0)
            first = sorted[i];
    free(sorted);
    if (first == map->count)
        return 0;
    snprintf(why, sizeof(why), "repeated key '%s'", text_excerpt(map->key[first].text).text);
    return refuse(parsing, map->key[first].position, why);
}

/* Reads the children of a list or map, and its end. */
static int read_children(struct parsing *parsing, struct node *node, int depth)
{
    yaml_event_t event;

    for (bool more = true; more;) {
        int status = 0;
        if (next_event(parsing, &event) < 0)
            return -1;
        if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT) {
            more = false;
        } else if (node->kind == NODE_MAP) {
            status = read_pair(parsing, node, &event, depth);
        } else {
            node_grow(node);
            status = read_node(parsing, &node->child[node->count], &event, depth);
            node->count += status == 0;
        }
        yaml_event_delete(&event);
        if (status < 0)
            return -1;
    }
    return node->kind == NODE_MAP ? check_repeated(parsing, node) : 0;
}

/* Why an event is refused that other readers of YAML accept; NULL: it is not. */
static const char *unsupported(const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;

    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor || event->type == YAML_ALIAS_EVENT)
        return "anchors and aliases are not supported; write the value out";
    return tag ? "tags are not supported" : NULL;
}

/* Reads the node that begins with `event`. On failure nothing is held. */
static int read_node(struct parsing *parsing, struct node *node, const yaml_event_t *event, int depth)
{
    const char *why = unsupported(event);

    *node = (struct node){.kind = NODE_SCALAR, .position = position_of(parsing, event)};
    if (why)
        return refuse(parsing, node->position, why);
    if (event->type == YAML_SCALAR_EVENT) {
        const char *value = (const char *)event->data.scalar.value;
        if (memchr(value, 0, event->data.scalar.length))
            return refuse(parsing, node->position, "a NUL byte in a text");
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        node->text = memory_copy_part(value, event->data.scalar.length);
        return 0;
    }
    if (depth >= TREE_DEPTH)
        return refuse(parsing, node->position, "nested too deeply");
    node->kind = event->type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST;
    int status = read_children(parsing, node, depth + 1);
    if (status < 0)
        node_release(node);
    return status;
}

/* Reads an event: 0 if it has this type, 1 if it has another, which *found then is the position of, -1 on
 * failure. */
static int expect(struct parsing *parsing, yaml_event_type_t type, struct position *found)
{
    yaml_event_t event;

    if (next_event(parsing, &event) < 0)
        return -1;
    bool same = event.type == type;
    *found = position_of(parsing, &event);
    yaml_event_delete(&event);
    return same ? 0 : 1;
}

static int read_document(struct parsing *parsing, struct node *root)
{
    struct position found;
    yaml_event_t event;

    if (expect(parsing, YAML_STREAM_START_EVENT, &found) < 0)
        return -1;
    int status = expect(parsing, YAML_DOCUMENT_START_EVENT, &found);
    if (status)
        return status < 0 ? -1 : refuse(parsing, POSITION_DEFAULT, "empty");
    if (next_event(parsing, &event) < 0)
        return -1;
    status = read_node(parsing, root, &event, 0);
    yaml_event_delete(&event);
    if (status == 0)
        status = expect(parsing, YAML_DOCUMENT_END_EVENT, &found);
    if (status == 0)
        status = expect(parsing, YAML_STREAM_END_EVENT, &found);
    return status > 0 ? refuse(parsing, found, "several documents in one file") : status;
}

int yaml_read(struct reader *reader, struct node *root, const char *text, size_t size, const char *file,
    const char *setting)
{
    struct parsing parsing = {.reader = reader, .text = text, .size = size, .file = file, .setting = setting};

    *root = (struct node){0};
    if (!yaml_parser_initialize(&parsing.parser))
        memory_end();
    yaml_parser_set_encoding(&parsing.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parsing.parser, (const unsigned char *)text, size);
    int status = read_document(&parsing, root);
    yaml_parser_delete(&parsing.parser);
    if (status < 0)
        node_release(root);
    return status;
}

const char *yaml_library(void)
{
    return yaml_get_version_string();
}
