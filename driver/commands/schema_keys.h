#ifndef NORMSWEEP_DRIVER_COMMANDS_SCHEMA_KEYS_H
#define NORMSWEEP_DRIVER_COMMANDS_SCHEMA_KEYS_H

#include "driver/tables/key.h"
#include "driver/text/json_writer.h"

/* What a key that is not a parameter takes: members of its schema, which is open. */
void schema_key(struct json_writer *writer, enum key key);

/* The definitions of texts, paths and tags. */
void schema_define_texts(struct json_writer *writer);

#endif
