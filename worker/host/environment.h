#ifndef NORMSWEEP_WORKER_HOST_ENVIRONMENT_H
#define NORMSWEEP_WORKER_HOST_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sees to it that the BLAS library starts with one thread and with the kernels that suit the processor. It
 * reads its variables when it is loaded, before main, so a process that wants others sets them and executes
 * itself again, once. To be called before MPI is started; does nothing where the user has set a variable, and
 * with libraries other than OpenBLAS.
 */
void environment_prepare(char **argv);

/* Threads of the products that follow; whatever variables of the environment say. */
void environment_threads(int64_t threads);

/* Can it? Not with every library. */
bool environment_sets_threads(void);

/* The file of the BLAS library that was loaded: its path, or the program's own where it is linked in. Returns
 * text. */
char *environment_blas_file(char *text, size_t size);

/* "OpenBLAS 0.3.21 ..." and "SkylakeX"; "unknown" for other libraries. In static memory. */
const char *environment_blas(void);
const char *environment_blas_kernel(void);

/* This machine's name, cut to size; text. */
char *environment_host(char *text, size_t size);

#endif
