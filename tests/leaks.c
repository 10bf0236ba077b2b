/*
 * Linked into sanitizer builds: what sanitizers overlook, and how they look. Open MPI and the libraries it
 * loads keep memory until the process ends; LeakSanitizer itself has memory for a thread of OpenBLAS that is
 * still starting when a short command ends. Compiled in and not set by an environment variable, so that every
 * rank has it, in any folder, and no other program does.
 */
#include <mpi.h>
#include <sanitizer/lsan_interface.h>

int dlclose(void *handle);
/* NOLINTBEGIN(readability-redundant-declaration): not every compiler's header has them */
const char *__asan_default_options(void);
const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void);
/* NOLINTEND(readability-redundant-declaration) */

/* Plugins stay loaded: the frames of one that is gone have no name, or that of what lies there afterwards. */
int dlclose(void *handle)
{
    (void)handle;
    return 0;
}

/* Not everything it takes here has a name that tells whose it is. */
int MPI_Init(int *argc, char ***argv)
{
    __lsan_disable();
    int result = PMPI_Init(argc, argv);
    __lsan_enable();
    return result;
}

/* As without a sanitizer, memory that is not there is NULL, but it warns. Libraries are built without frame
 * pointers, so only the slow unwinder finds which of them keeps memory. */
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:fast_unwind_on_malloc=0";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

const char *__lsan_default_suppressions(void)
{
    return "leak:libmpi.so\n"
           "leak:libopen-pal.so\n"
           "leak:libopen-rte.so\n"
           "leak:libpmix.so\n"
           "leak:mca_\n"
           "leak:libhwloc.so\n"
           "leak:libevent\n"
           "leak:libfabric.so\n"
           "leak:libucp.so\n"
           "leak:libucs.so\n"
           "leak:GetThreadStackTopAndBottom\n"
           "leak:<unknown module>\n";
}
