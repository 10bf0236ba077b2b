#ifndef NORMSWEEP_DRIVER_COMMANDS_SCHEMA_FORMS_H
#define NORMSWEEP_DRIVER_COMMANDS_SCHEMA_FORMS_H

#include "driver/text/json_writer.h"
#include "worker/run/param.h"

/*
 * Schemas of values, each written as one JSON value. `name`: as for json_writer_open. Functions without it
 * write members into the schema that is open.
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
#define DEFINED_LISTS "-values" /* behind the name of a parameter: one value or several */

/* "type": "<type>", or a list of types that are separated by blanks */
void schema_types(struct json_writer *writer, const char *types);

/* "if": {"type": ...} */
void schema_if_type(struct json_writer *writer, const char *types);

/* An object without other members, open for its properties: close it with "}}". */
void schema_open_object(struct json_writer *writer, const char *name);

/* "name": ["word"], and {"required": ["word"]} */
void schema_needed(struct json_writer *writer, const char *name, const char *word);
void schema_required(struct json_writer *writer, const char *name, const char *word);

/* "propertyNames": {"enum": [...]}: no other members than these, which are separated by blanks; a message
 * names them. */
void schema_only(struct json_writer *writer, const char *names);

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

/* What editors propose as a value: the words and truth values of the schemas between these two calls. They do
 * not follow `if`; the last alternative, true, makes validators accept everything here. */
void schema_open_proposals(struct json_writer *writer);
void schema_close_proposals(struct json_writer *writer);

/* Proposals for one value of a parameter, if that has words or truth values. */
void schema_propose(struct json_writer *writer, const struct param *param);

/* One value of a parameter or several: a list, and for numbers the rules that make one. */
void schema_values(struct json_writer *writer, const char *name, const struct param *param);

/* Members: several values alone. `single` is the definition of one value. */
void schema_lists(struct json_writer *writer, const struct param *param, const char *single);

/* Members: a finite number; above 0 if `positive`. `types`: number, and what else it may be. */
void schema_number(struct json_writer *writer, const char *types, bool positive);

/* An integer within bounds, both included; the same as members. */
void schema_integer(struct json_writer *writer, const char *name, int64_t least, int64_t most);
void schema_between(struct json_writer *writer, int64_t least, int64_t most);

#endif
