#ifndef NORMSWEEP_WORKER_CHECKPOINT_SEAL_H
#define NORMSWEEP_WORKER_CHECKPOINT_SEAL_H

#include "model/core/breath.h"

#define SEAL_NAME "checksum" /* the global attribute, the file's first */
#define SEAL_BLANK "----------------" /* its text before the file is sealed, as long as after */

enum { SEAL_BROKEN = -1 };

/*
 * A netCDF file's seal is the checksum of all its bytes, with the attribute's text taken as zeros. Both
 * return 0, SEAL_BROKEN (cut, altered or never sealed) or an errno. They read raw bytes: a damaged file is
 * known before the netCDF library sees it. `breath` may be NULL.
 */
int seal_put(const char *path, const struct breath *breath);
int seal_check(const char *path, const struct breath *breath);

#endif
