/* The output of `normsweep --version`, which bug reports and published numbers should quote. */
#include "driver/commands/inside.h"
#include "model/kernels/kernels.h"
#include "worker/wire/wire.h"

#include <string.h>

enum { FILE_SIZE = 4096 };

void about_version(void)
{
    printf("normsweep %s%s%s\n", version_number, version_commit[0] ? " " : "", version_commit);
}

/* "MPI       Open MPI v4.1.4, ..."; only the first line of the text, which names the library. */
static void print_row(const char *name, const char *text)
{
    printf("%-10s%.*s\n", name, (int)strcspn(text, "\r\n"), text);
}

void about(void)
{
    char path[FILE_SIZE];
    bool runs;

    about_version();
    print_row("compiler", version_compiler);
    print_row("", version_flags);
    printf("%-10s%s in use, of", "vectors", kernels_level_in_use());
    for (int i = 0; kernels_level(i, &runs); i++)
        printf("%s %s%s", i ? "," : "", kernels_level(i, &runs), runs ? "" : " (not on this processor)");
    printf("\n");
    print_row("MPI", wire_library());
    environment_library_file("cblas_sgemm", path, sizeof(path));
    if (environment_sets_threads()) {
        printf("%-10s%s\n", "BLAS", environment_blas());
        printf("%-10skernel %s, 1 thread; %s\n", "", environment_blas_kernel(), path);
    } else {
        printf("%-10snot OpenBLAS, may start threads of its own; %s\n", "BLAS", path);
    }
    printf("%-10s%.*s\n", "netCDF", (int)strcspn(view_library(), " "), view_library()); /* no date */
    print_row("libyaml", yaml_library());
}
