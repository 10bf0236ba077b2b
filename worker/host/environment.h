#ifndef NORMSWEEP_WORKER_HOST_ENVIRONMENT_H
#define NORMSWEEP_WORKER_HOST_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes the BLAS library start with one thread and with the kernels that suit the processor. The library
 * reads its variables when it is loaded, before main, so this function sets them and executes the program
 * again, once; with libraries other than OpenBLAS it does not. It also keeps MPI from looking for graphics
 * cards. Call it before MPI is started. It changes no variable that the user has set.
 */
void environment_prepare(char **argv);

/* Sets the threads of the following BLAS calls, overriding environment variables. */
void environment_threads(int64_t threads);

/* Does the library let environment_threads set them? */
bool environment_sets_threads(void);

/* The path of the loaded BLAS library, or of the program if it is linked in. Returns text. */
char *environment_blas_file(char *text, size_t size);

/* "OpenBLAS 0.3.21 ..." and "SkylakeX"; "unknown" for other libraries. Static memory. */
const char *environment_blas(void);
const char *environment_blas_kernel(void);

/* Writes this machine's name, truncated to size. Returns text. */
char *environment_host(char *text, size_t size);

#endif
