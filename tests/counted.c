/*
 * Linked into coverage builds: a process that ends without exit() also writes which branches it has taken, as
 * ranks and the children of tests do. What SIGKILL ends cannot write, and is not counted.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void __gcov_dump(void); /* gcov.h, which only gcc has */

/* Some tests limit the size of files. A file of counts that was cut short could not be added to again, so a
 * process that must not raise the limit writes none. */
__attribute__((destructor)) static void prepare(void)
{
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        setrlimit(RLIMIT_FSIZE, &none) == 0)
        return;
    setenv("GCOV_PREFIX", "/dev/null", 1);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* that the files cannot be written is no news */
}

void _exit(int status)
{
    prepare();
    __gcov_dump();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

void abort(void)
{
    prepare();
    __gcov_dump();
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    _exit(128 + SIGABRT);
}
