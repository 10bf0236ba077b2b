#ifndef NORMSWEEP_DRIVER_SWEEP_CELL_JSON_H
#define NORMSWEEP_DRIVER_SWEEP_CELL_JSON_H

#include "driver/sweep/sweep.h"
#include "driver/text/json_writer.h"

/* Writes "cell": 3, "axes": {"learning_rate": 0.1, "model": "small"} into an open object: the number of a
 * cell of a grid with these axes, and the value of each axis there. */
void cell_json(struct json_writer *writer, int64_t axis_count, const struct axis *axis, int64_t cell);

#endif
