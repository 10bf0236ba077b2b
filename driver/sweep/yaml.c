/*
 * The one file that knows libyaml: its events become a tree.
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

/* The parser, and where and why it failed. */
struct parsing {
    yaml_parser_t parser;
    const char *text;
    size_t size;
    struct position *fault;
    struct error *error;
};

static struct position mark_position(yaml_mark_t mark)
{
    return (struct position){.line = (int)mark.line + 1, .column = (int)mark.column + 1};
}

static int yaml_refuse(struct parsing *parsing, struct position position, const char *why)
{
    *parsing->fault = position;
    return error_set(parsing->error, ERROR_INPUT, "%s", why);
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

/* The offset of the first byte that does not begin a UTF-8 character; the text's size if there is none. */
static size_t first_foreign_byte(const struct parsing *parsing)
{
    size_t offset = 0, length = 1;

    while (offset < parsing->size && length > 0) {
        length = utf8_length(parsing->text + offset, parsing->size - offset);
        offset += length;
    }
    return offset;
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
static const char *guess_cause(const struct parsing *parsing)
{
    const char *problem = parsing->parser.problem ? parsing->parser.problem : "";
    size_t length, above_length, blanks;
    const char *line = line_at(parsing, parsing->fault->line, &length);
    const char *above = line_at(parsing, parsing->fault->line - 1, &above_length);

    blanks = span_of(line, length, " \t");
    if (memchr(line, '\t', blanks))
        return "; a tab: indent with spaces";
    bool colon = strstr(problem, "expected ':'") || strstr(problem, "mapping values are not allowed");
    if (colon && (lacks_space(line, length) || lacks_space(above, above_length)))
        return "; a space must follow ':'";
    size_t before =
        (size_t)(parsing->fault->column - 1) < length ? (size_t)(parsing->fault->column - 1) : length;
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

    if (parser->error == YAML_MEMORY_ERROR)
        memory_end();
    if (parser->error == YAML_READER_ERROR) {
        size_t foreign = first_foreign_byte(parsing);
        if (foreign < parsing->size && foreign <= parser->problem_offset)
            return yaml_refuse(parsing, offset_position(parsing, foreign),
                "is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8");
    }
    *parsing->fault = parser->error == YAML_READER_ERROR ? offset_position(parsing, parser->problem_offset)
                                                         : mark_position(parser->problem_mark);
    const char *cause = guess_cause(parsing);
    if (parser->context)
        return error_set(
            parsing->error, ERROR_INPUT, "YAML: %s, %s%s", parser->problem, parser->context, cause);
    return error_set(parsing->error, ERROR_INPUT, "YAML: %s%s",
        parser->problem ? parser->problem : "cannot be read", cause);
}

static int next_event(struct parsing *parsing, yaml_event_t *event)
{
    return yaml_parser_parse(&parsing->parser, event) ? 0 : parser_fault(parsing);
}

static int read_scalar(struct parsing *parsing, struct node *node, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;

    if (memchr(value, 0, length))
        return yaml_refuse(parsing, node->position, "a NUL byte in a text");
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = memory_copy_part(value, length);
    return 0;
}

static int read_node(struct parsing *parsing, struct node *node, const yaml_event_t *event, int depth);

/* Reads one key, whose event is given, and its value. On success both are in the map. */
static int read_pair(struct parsing *parsing, struct node *map, const yaml_event_t *event, int depth)
{
    struct position position = mark_position(event->start_mark);
    yaml_event_t value;

    if (event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT)
        return yaml_refuse(parsing, position, "a key must be a word");
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

static int check_repeated(struct parsing *parsing, const struct node *map)
{
    const struct node *repeated = node_repeated_key(map);
    char excerpt[EXCERPT_SIZE];

    if (!repeated)
        return 0;
    *parsing->fault = repeated->position;
    return error_set(
        parsing->error, ERROR_INPUT, "repeated key '%s'", place_excerpt(repeated->text, excerpt));
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

static bool has_anchor(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor;
    default:
        return event->type == YAML_ALIAS_EVENT;
    }
}

static bool has_tag(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.tag;
    default:
        return false;
    }
}

/* Reads the node that begins with `event`. On failure nothing is held. */
static int read_node(struct parsing *parsing, struct node *node, const yaml_event_t *event, int depth)
{
    int status;

    *node = (struct node){.kind = NODE_SCALAR, .position = mark_position(event->start_mark)};
    if (has_anchor(event))
        return yaml_refuse(
            parsing, node->position, "anchors and aliases are not supported; write the value out");
    if (has_tag(event))
        return yaml_refuse(parsing, node->position, "tags are not supported");
    if (event->type == YAML_SCALAR_EVENT)
        return read_scalar(parsing, node, event);
    if (depth >= TREE_DEPTH)
        return yaml_refuse(parsing, node->position, "nested too deeply");
    node->kind = event->type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST;
    status = read_children(parsing, node, depth + 1);
    if (status < 0)
        node_release(node);
    return status;
}

/* Reads an event: 0 if it has this type, 1 if it has another (*fault is then its position), -1 on failure. */
static int expect(struct parsing *parsing, yaml_event_type_t type)
{
    yaml_event_t event;

    if (next_event(parsing, &event) < 0)
        return -1;
    bool same = event.type == type;
    if (!same)
        *parsing->fault = mark_position(event.start_mark);
    yaml_event_delete(&event);
    return same ? 0 : 1;
}

static int read_document(struct parsing *parsing, struct node *root)
{
    yaml_event_t event;

    if (expect(parsing, YAML_STREAM_START_EVENT) < 0)
        return -1;
    int status = expect(parsing, YAML_DOCUMENT_START_EVENT);
    if (status)
        return status < 0 ? -1 : yaml_refuse(parsing, POSITION_DEFAULT, "empty");
    if (next_event(parsing, &event) < 0)
        return -1;
    status = read_node(parsing, root, &event, 0);
    yaml_event_delete(&event);
    if (status < 0)
        return -1;
    status = expect(parsing, YAML_DOCUMENT_END_EVENT);
    if (status == 0)
        status = expect(parsing, YAML_STREAM_END_EVENT);
    if (status > 0)
        status = yaml_refuse(parsing, *parsing->fault, "several documents in one file");
    if (status < 0)
        node_release(root);
    return status;
}

int yaml_read(struct node *root, const char *text, size_t size, struct position *fault, struct error *error)
{
    struct parsing parsing = {.text = text, .size = size, .fault = fault, .error = error};

    *root = (struct node){0};
    if (!yaml_parser_initialize(&parsing.parser))
        memory_end();
    yaml_parser_set_encoding(&parsing.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parsing.parser, (const unsigned char *)text, size);
    int status = read_document(&parsing, root);
    yaml_parser_delete(&parsing.parser);
    return status;
}

const char *yaml_library(void)
{
    return yaml_get_version_string();
}
