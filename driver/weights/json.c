/*
 * JSON is read with jansson. libyaml, which reads sweep files, does not accept all of JSON: it refuses
 * surrogate pairs, the only escapes of JSON for characters above U+FFFF, and keys of more than 1024
 * characters.
 */
#include "driver/weights/json.h"

#include "driver/output/mapped_file.h"
#include "driver/text/utf8.h"

enum { FILE_MOST = 16 << 20 }; /* bytes; an index of a hundred thousand tensors has fewer */

json_t *json_read(const char *text, size_t size, struct place *fault, struct error *error)
{
    json_error_t said;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &said);

    if (root)
        return root;
    *fault = (struct place){.line = said.line, .column = said.column > 0 ? said.column : 1};
    if (said.text[0]) {
        error_set(error, ERROR_INPUT, "JSON: %s", said.text);
        return NULL;
    }
    *fault = PLACE_DEFAULT;
    error_set(error, ERROR_ENVIRONMENT, "no memory"); /* the only failure without a message of jansson */
    return NULL;
}

static json_t *read_mapped(const char *path, const struct mapped_file *file, struct error *error)
{
    const char *text = file->bytes ? (const char *)file->bytes : "";
    size_t size = file->size;
    struct place fault = PLACE_DEFAULT;

    if (size > FILE_MOST) {
        error_set(error, ERROR_INPUT, "%s: larger than %d bytes", path, FILE_MOST);
        return NULL;
    }
    json_t *root = utf8_begin(&text, &size, error) == 0 ? json_read(text, size, &fault, error) : NULL;
    if (!root)
        place_prefix(error, path, fault);
    return root;
}

json_t *json_read_file(const char *path, struct error *error)
{
    struct mapped_file file;

    if (mapped_file_open(&file, path, error) < 0)
        return NULL;
    json_t *root = read_mapped(path, &file, error);
    mapped_file_close(&file);
    return root;
}

const char *json_library(void)
{
    return jansson_version_str();
}
