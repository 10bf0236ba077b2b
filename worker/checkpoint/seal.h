#ifndef NORMSWEEP_WORKER_CHECKPOINT_SEAL_H
#define NORMSWEEP_WORKER_CHECKPOINT_SEAL_H

#include "model/core/breath.h"

#define SEAL_NAME "checksum" /* the global attribute, the file's first */
#define SEAL_BLANK "----------------" /* its text before sealing, as long as the seal */

enum { SEAL_BROKEN = -1 };

/*
 * The seal of a netCDF file is the checksum of all its bytes, with the attribute's text taken as zeros. Both
 * functions return 0, SEAL_BROKEN (cut, altered or never sealed) or an errno. They read raw bytes, so that
 * the netCDF library never opens a damaged file. `breath` may be NULL.
 */
int seal_put(const char *path, const struct breath *breath);
int seal_check(const char *path, const struct breath *breath);

/* Has the file room for a seal where these functions put it, whatever stands there? Returns 0 if it has,
 * SEAL_BROKEN if not, or an errno. */
int seal_look(const char *path);

#endif
