/*
 * What the files share that read a sweep file: messages with the position in a file, "sweep.yaml:12:18: ...",
 * paths, and where keys are given. Settings of the command line have no line; for them the message begins
 * with --set.
 */
#include "driver/sweep/inside.h"
#include "driver/text/text.h"

#include <string.h>

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
