/*
 * Linked into sanitizer builds: what LeakSanitizer is to overlook. Open MPI and the libraries it loads keep
 * memory until the process ends and unload plugins, whose frames then have no name. Compiled in and not set
 * by an environment variable, so that every rank has it, in any folder, and no other program does.
 */
const char *__lsan_default_suppressions(void);

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
           "leak:<unknown module>\n";
}
