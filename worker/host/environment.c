/*
 * Variables of the environment that libraries read when they are loaded: threads and core type of OpenBLAS,
 * hwloc's search for graphics cards. Some have to be set before the program starts, so it starts itself
 * again, once.
 */
#include "worker/host/inside.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Functions that only OpenBLAS has; its own header declares them, but not weak. */
/* NOLINTBEGIN(readability-redundant-declaration) */
extern char *openblas_get_corename(void) __attribute__((weak));
extern char *openblas_get_config(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));
/* NOLINTEND(readability-redundant-declaration) */

#define CORE_VARIABLE "OPENBLAS_CORETYPE"
#define THREADS_VARIABLE "OPENBLAS_NUM_THREADS"
/* Holds the core type that this program chose; "" for the library's own choice. */
#define GUARD_VARIABLE "NORMSWEEP_BLAS"
#define CORE_WIDE "SKYLAKEX"

/* hwloc, inside mpirun and MPI_Init, would look for graphics cards: it asks the X servers 0 to 9 of this
 * machine, and waits for as long as whatever listens at the ports 6000 to 6009 does not answer. */
#define HWLOC_VARIABLE "HWLOC_COMPONENTS"
#define HWLOC_WITHOUT_GRAPHICS "-gl,-opencl"

enum { PROGRAM_SIZE = 4096 };

static bool has_avx512(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

/* Executes the program by its path, which becomes the process's name; if it was replaced, it has no path. */
static void execute_again(char **argv)
{
    char program[PROGRAM_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

    signals_hold();
    if (length > 0) {
        program[length] = '\0';
        execv(program, argv);
    }
    execv("/proc/self/exe", argv);
    signals_let_go();
}

void environment_prepare(char **argv)
{
    const char *chosen = getenv(GUARD_VARIABLE);
    bool again = false;

    setenv(HWLOC_VARIABLE, HWLOC_WITHOUT_GRAPHICS, 0);
    if (!openblas_get_corename)
        return;
    if (chosen) {
        /* by another process of this program, perhaps on a machine with another processor */
        if (strcmp(chosen, CORE_WIDE) != 0 || has_avx512())
            return;
        unsetenv(CORE_VARIABLE);
        setenv(GUARD_VARIABLE, "", 1);
        execute_again(argv);
        return;
    }
    setenv(GUARD_VARIABLE, "", 1);
    if (!getenv(THREADS_VARIABLE))
        again = setenv(THREADS_VARIABLE, "1", 1) == 0;
    const char *kernel = environment_blas_kernel();
    bool narrow = strcmp(kernel, "Haswell") == 0 || strcmp(kernel, "Zen") == 0;
    if (!getenv(CORE_VARIABLE) && narrow && has_avx512()) /* a library older than the processor */
        again = setenv(CORE_VARIABLE, CORE_WIDE, 1) == 0 && setenv(GUARD_VARIABLE, CORE_WIDE, 1) == 0;
    if (again)
        execute_again(argv);
}

void environment_threads(int64_t threads)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads((int)threads);
}

bool environment_sets_threads(void)
{
    return openblas_set_num_threads != NULL;
}

char *environment_library_file(const char *name, char *text, size_t size)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    Dl_info info;

    if (function && dladdr(function, &info) != 0 && info.dli_fname)
        snprintf(text, size, "%s", info.dli_fname);
    else
        snprintf(text, size, "linked into the program");
    return text;
}

const char *environment_blas(void)
{
    return openblas_get_config ? openblas_get_config() : "unknown";
}

const char *environment_blas_kernel(void)
{
    return openblas_get_corename ? openblas_get_corename() : "unknown";
}

char *environment_host(char *text, size_t size)
{
    if (gethostname(text, size) != 0)
        snprintf(text, size, "unknown");
    text[size - 1] = '\0';
    return text;
}
