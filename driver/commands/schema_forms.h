#ifndef NORMSWEEP_DRIVER_COMMANDS_SCHEMA_FORMS_H
#define NORMSWEEP_DRIVER_COMMANDS_SCHEMA_FORMS_H

#include "driver/text/json_writer.h"
#include "worker/run/param.h"

/*
 * Schemas of values, each written as one JSON value. `name`: as for json_writer_open.
 */

#define SCHEMA_DEFINITIONS "#/definitions/"

/* Definitions that are not parameters. None has the name of one, or a
 * character that a reference cannot have.
 */
#define DEFINED_TEXT "any-text"
#define DEFINED_PATH "file-path"
#define DEFINED_TAG "one-tag"
#define DEFINED_STEP "measured-step"
#define DEFINED_OTHER "other-name"
#define DEFINED_NAME "axis-name"
#define DEFINED_LABEL "label-body"
#define DEFINED_NULL "taken-out"
#define DEFINED_LISTS "-values" /* behind the name of a parameter: one value or several */

/* "type": "<type>" */
void schema_type(struct json_writer *writer, const char *type);

/* An object without other members, open for its properties: close it with "}}". */
void schema_open_object(struct json_writer *writer, const char *name);

/* "name": ["word"], and {"required": ["word"]} */
void schema_needed(struct json_writer *writer, const char *name, const char *word);
void schema_required(struct json_writer *writer, const char *name, const char *word);

/* Closes what is open, such as "]}". */
void schema_close(struct json_writer *writer, const char *brackets);

/* A parameter as a member of another key, with its description; `suffix`: of its definition. */
void schema_described(struct json_writer *writer, const struct param *param, const char *suffix);

/* {"$ref": "#/definitions/<definition>"} */
void schema_reference(struct json_writer *writer, const char *name, const char *definition);

/* One value of a parameter. */
void schema_single(struct json_writer *writer, const char *name, const struct param *param);

/* The default of a parameter, as a JSON value. */
void schema_initial(struct json_writer *writer, const char *name, const struct param *param);

/* The items of an anyOf: a list of values, and for numbers the rules that make one. `single` is the
 * definition of one value. */
void schema_lists(struct json_writer *writer, const struct param *param, const char *single);

/* An integer within bounds, both included. */
void schema_integer(struct json_writer *writer, const char *name, int64_t least, int64_t most);

/* A finite number; above 0 if `positive`. */
void schema_number(struct json_writer *writer, const char *name, bool positive);

/* Any scalar, as a text of at least and at most so many characters; most 0: no limit. */
void schema_text(struct json_writer *writer, const char *name, int64_t least, int64_t most);

/* One of these words; ends with NULL. */
void schema_words(struct json_writer *writer, const char *name, const char *const *words);

#endif
