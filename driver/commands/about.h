#ifndef NORMSWEEP_DRIVER_COMMANDS_ABOUT_H
#define NORMSWEEP_DRIVER_COMMANDS_ABOUT_H

#include <stdio.h>

/* "normsweep 0.1.0 0123456789ab" */
void about_version(FILE *file);

/* That line, then what the program was built with and which libraries it has found: a line each. Starts no
 * MPI. */
void about(FILE *file);

#endif
