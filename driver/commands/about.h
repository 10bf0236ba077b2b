#ifndef NORMSWEEP_DRIVER_COMMANDS_ABOUT_H
#define NORMSWEEP_DRIVER_COMMANDS_ABOUT_H

#include <stdio.h>

/* "normsweep 0.1.0 0123456789ab" */
void about_version(FILE *file);

/* That line, then one for each part of the build and each library that was found. Does not start MPI. */
void about(FILE *file);

#endif
