/*
 * JSON is read with jansson. libyaml, which reads sweep files, does not accept all of JSON: it refuses
 * surrogate pairs, the only escapes of JSON for characters above U+FFFF, and keys of more than 1024
 * characters.
 */
#include "driver/weights/json.h"

json_t *json_read(const char *text, size_t size, struct place *fault, struct error *error)
{
    json_error_t said;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &said);

    if (root)
        return root;
    *fault = (struct place){said.line, said.column > 0 ? said.column : 1};
    if (said.text[0]) {
        error_set(error, ERROR_INPUT, "JSON: %s", said.text);
        return NULL;
    }
    *fault = PLACE_DEFAULT;
    error_set(error, ERROR_ENVIRONMENT, "no memory"); /* the only failure without a message of jansson */
    return NULL;
}

const char *json_library(void)
{
    return jansson_version_str();
}
