/* The output of `normsweep --version`, which bug reports and published numbers should quote. */
#include "driver/commands/inside.h"
#include "driver/dataset/read/read.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "model/kernels/kernels.h"
#include "worker/host/host.h"
#include "worker/wire/wire.h"

#include <string.h>

enum { FILE_SIZE = 4096 };

void about_version(FILE *file)
{
    fprintf(file, "normsweep %s%s%s\n", version_number, version_commit[0] ? " " : "", version_commit);
}

/* "MPI       Open MPI v4.1.4, ..."; only the first line of the text, which names the library. */
static void print_row(FILE *file, const char *name, const char *text)
{
    fprintf(file, "%-10s%.*s\n", name, (int)strcspn(text, "\r\n"), text);
}

void about(FILE *file)
{
    char path[FILE_SIZE];
    bool runs;

    about_version(file);
    print_row(file, "compiler", version_compiler);
    print_row(file, "", version_flags);
    fprintf(file, "%-10s%s in use, of", "vectors", kernels_level_in_use());
    for (int i = 0; kernels_level(i, &runs); i++)
        fprintf(
            file, "%s %s%s", i ? "," : "", kernels_level(i, &runs), runs ? "" : " (not on this processor)");
    fprintf(file, "\n");
    print_row(file, "MPI", wire_library());
    environment_library_file("cblas_sgemm", path, sizeof(path));
    if (environment_sets_threads()) {
        fprintf(file, "%-10s%s\n", "BLAS", environment_blas());
        fprintf(file, "%-10skernel %s, 1 thread; %s\n", "", environment_blas_kernel(), path);
    } else {
        fprintf(file, "%-10snot OpenBLAS, may start threads of its own; %s\n", "BLAS", path);
    }
    fprintf(file, "%-10s%.*s\n", "netCDF", (int)strcspn(view_library(), " "), view_library()); /* no date */
    print_row(file, "libyaml", yaml_library());
}
