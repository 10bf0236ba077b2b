#ifndef NORMSWEEP_DRIVER_OUTPUT_H
#define NORMSWEEP_DRIVER_OUTPUT_H

/*
 * The path of an output made absolute, links followed, the last one's target and the output itself not
 * necessarily there: one name for the dataset, and for its lease, whatever link leads to it. The caller's to
 * free; NULL with errno set.
 */
char *output_resolve(const char *path);

#endif
