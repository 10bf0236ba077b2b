#ifndef NORMSWEEP_DRIVER_PICTURE_STATUS_JSON_H
#define NORMSWEEP_DRIVER_PICTURE_STATUS_JSON_H

#include "driver/picture/status.h"
#include "driver/text/json_writer.h"

/*
 * The state of a sweep for scripts. docs/status.schema.json describes the object; a change that existing
 * readers could trip over raises STATUS_JSON_VERSION.
 */
enum { STATUS_JSON_VERSION = 1 };

/* "path": the absolute path of a dataset, which need not exist; NULL: unknown. */
void status_json_path(struct json_writer *writer, const char *path);

/* The whole object and a line feed, written at once to stdout. */
int status_json_print(const struct status *status, struct error *error);

/* "counts": {"pending": 3, ...}: cells by outcome. */
void status_json_counts(struct json_writer *writer, const int64_t count[OUTCOME_COUNT]);

/* "session": an object, with the texts of a session of the dataset. `age`: seconds since its start. *cause
 * becomes an errno if a text could not be read. */
void status_json_session(
    struct json_writer *writer, const struct view *view, int64_t session, double age, int *cause);

#endif
