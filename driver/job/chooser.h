#ifndef NORMSWEEP_DRIVER_JOB_CHOOSER_H
#define NORMSWEEP_DRIVER_JOB_CHOOSER_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset/dataset.h"

/*
 * Chooses which pending cells of a dataset are trained: all of them, or those that the search of a sweep with
 * `refine` needs. What the search leaves out is skipped in the dataset.
 */
struct chooser;

/* For an open dataset of this sweep; both are borrowed. NULL: no memory. */
struct chooser *chooser_new(const struct sweep *sweep, struct dataset *dataset);
void chooser_free(struct chooser *chooser); /* takes NULL */

/* The result of a cell has been handed to the dataset. */
void chooser_take(struct chooser *chooser, int64_t cell, enum outcome outcome);

/* Takes the next cell that is to be trained, pending in the dataset; -1: none, for now. An error of the
 * dataset is kept: see chooser_check. */
int64_t chooser_next(struct chooser *chooser);

/* 0; or -1 with the first error that the dataset had. */
int chooser_check(const struct chooser *chooser, struct error *error);

/* Roughly how many more cells chooser_next will give. */
double chooser_left(const struct chooser *chooser);

#endif
