/*
 * The linker calls __wrap_NAME instead of NAME, and NAME for __real_NAME. The Makefile takes the names from
 * the lines of this file that begin with FAILS, and from the definitions of __wrap_NAME.
 */
#include "tests/failing.h"
#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <netcdf.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

const struct failing_kind failing_kinds[] = {
    {"nc_*", EIO},
    {"nc_*", NC_EMAXVARS},
    {"malloc", ENOMEM},
    {"calloc", ENOMEM},
    {"realloc", ENOMEM},
    {"strdup", ENOMEM},
    {"asprintf", ENOMEM},
    {"open_memstream", ENOMEM},
    {"realpath", ENOMEM},
    {"memfd_create", ENOSYS},
    {"statvfs", EIO},
    {"fdopen", ENOMEM},
    {"readlink", EIO},
    {"fread", EIO},
    {"ferror", EIO},
    {"fseeko", EIO},
    {"fclose", EIO},
    {"open", EIO},
    {"close", EIO},
    {"fstat", EIO},
    {"stat", EIO},
    {"lstat", EIO},
    {"access", EACCES},
    {"fsync", EIO},
    {"fdatasync", EIO},
    {"rename*", EIO},
    {"unlink", EIO},
    {"pwrite", ENOSPC},
    {"pwrite", FAILING_HALF},
    {"pwrite", FAILING_NONE},
    {"pwrite", EINTR},
    {"read", EIO},
    {"read", EINTR},
    {"pread", EIO},
    {"getrandom", ENOSYS},
    {"mkdir", EIO},
    {"mmap", ENOMEM},
    {"opendir", EIO},
    {"openat", EIO},
    {"link", EIO},
    {"unlinkat", EIO},
    {"ftruncate", EIO},
    {"strndup", ENOMEM},
};

const int failing_kind_count = sizeof(failing_kinds) / sizeof(*failing_kinds);

enum { FAILURES_MOST = 8, PLACES_MOST = 4096 };

struct failure {
    const char *name;
    int calls; /* that succeed before */
    int cause;
    bool always, anew, happened;
    void (*act)(void *context); /* NULL: the call fails */
    void *context;
};

static _Thread_local struct failure failure[FAILURES_MOST];
static _Thread_local int failure_count;
static _Thread_local bool acting; /* calls of failing_before's functions succeed */
static _Thread_local const void *failed_at[PLACES_MOST]; /* where calls have failed */
static _Thread_local int place_count;
static _Thread_local bool has_failed; /* since failing_goes_on */

static void add_failure(struct failure added)
{
    CHECK(failure_count < FAILURES_MOST);
    if (failure_count < FAILURES_MOST)
        failure[failure_count++] = added;
}

void failing_next(const char *name, int cause)
{
    add_failure((struct failure){.name = name, .cause = cause});
}

void failing_after(int calls, const char *name, int cause)
{
    add_failure((struct failure){.name = name, .calls = calls, .cause = cause});
}

void failing_always(const char *name, int cause)
{
    add_failure((struct failure){.name = name, .cause = cause, .always = true});
}

void failing_anew(const char *name, int cause)
{
    add_failure((struct failure){.name = name, .cause = cause, .anew = true});
}

void failing_before(int calls, const char *name, void (*act)(void *context), void *context)
{
    add_failure((struct failure){.name = name, .calls = calls, .act = act, .context = context});
}

void failing_forget(void)
{
    place_count = 0;
}

bool failing_end(void)
{
    bool all = true;

    for (int i = 0; i < failure_count; i++)
        all = all && failure[i].happened;
    has_failed = has_failed || (all && failure_count > 0);
    failure_count = 0;
    return all;
}

bool failing_goes_on(const struct failing_kind **kind)
{
    if (!*kind || !has_failed) {
        *kind = *kind ? *kind + 1 : failing_kinds;
        failing_forget();
    }
    has_failed = false;
    return *kind < failing_kinds + failing_kind_count;
}

static bool is_named(const char *name, const char *pattern)
{
    size_t length = strlen(pattern);
    bool prefix = length > 0 && pattern[length - 1] == '*';

    return prefix ? strncmp(name, pattern, length - 1) == 0 : strcmp(name, pattern) == 0;
}

/* Notes the place of a call; false if it is noted already. */
static bool is_new(const void *caller)
{
    for (int i = 0; i < place_count; i++)
        if (failed_at[i] == caller)
            return false;
    CHECK(place_count < PLACES_MOST);
    if (place_count < PLACES_MOST)
        failed_at[place_count++] = caller;
    return true;
}

/* What this call is to fail with; 0: it does not fail. */
static int cause_of(const char *name, const void *caller)
{
    for (int i = 0; i < failure_count && !acting; i++) {
        struct failure *it = &failure[i];
        if (!is_named(name, it->name) || (it->happened && !it->always) || it->calls-- > 0)
            continue;
        if (it->anew && !is_new(caller))
            continue;
        it->happened = true;
        if (!it->act)
            return it->cause;
        acting = true;
        it->act(it->context);
        acting = false;
    }
    return 0;
}

/* The same, in errno. */
static bool fails(const char *name, const void *caller)
{
    int cause = cause_of(name, caller);

    if (cause)
        errno = cause;
    return cause != 0;
}

#define CALLER __builtin_return_address(0)

#define FAILS(name, type, value, parameters, ...)                                                            \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters                                                                            \
    {                                                                                                        \
        return fails(#name, CALLER) ? (value) : __real_##name(__VA_ARGS__);                                  \
    }

/* These return what they fail with. */
#define FAILS_WITH(name, parameters, ...)                                                                    \
    int __real_##name parameters;                                                                            \
    int __wrap_##name parameters;                                                                            \
    int __wrap_##name parameters                                                                             \
    {                                                                                                        \
        int cause = cause_of(#name, CALLER);                                                                 \
        return cause ? cause : __real_##name(__VA_ARGS__);                                                   \
    }

/* ---- libc and the system ---- */

FAILS(malloc, void *, NULL, (size_t size), size)
FAILS(calloc, void *, NULL, (size_t count, size_t size), count, size)
FAILS(realloc, void *, NULL, (void *block, size_t size), block, size)
FAILS(strdup, char *, NULL, (const char *text), text)
FAILS(strndup, char *, NULL, (const char *text, size_t size), text, size)
FAILS(realpath, char *, NULL, (const char *path, char *whole), path, whole)
FAILS(open_memstream, FILE *, NULL, (char **text, size_t *size), text, size)
FAILS(fdopen, FILE *, NULL, (int file, const char *mode), file, mode)
FAILS(opendir, DIR *, NULL, (const char *path), path)
FAILS(readdir, struct dirent *, NULL, (DIR * folder), folder)
FAILS(fread, size_t, 0, (void *bytes, size_t size, size_t count, FILE *file), bytes, size, count, file)
FAILS(ferror, int, 1, (FILE * file), file)
FAILS(fseeko, int, -1, (FILE * file, off_t at, int from), file, at, from)
FAILS(mmap, void *, MAP_FAILED, (void *place, size_t size, int access, int flags, int file, off_t at), place,
    size, access, flags, file, at)
FAILS(memfd_create, int, -1, (const char *name, unsigned flags), name, flags)
FAILS(getrandom, ssize_t, -1, (void *bytes, size_t size, unsigned flags), bytes, size, flags)
FAILS(read, ssize_t, -1, (int file, void *bytes, size_t size), file, bytes, size)
FAILS(pread, ssize_t, -1, (int file, void *bytes, size_t size, off_t at), file, bytes, size, at)
FAILS(fstat, int, -1, (int file, struct stat *status), file, status)
FAILS(stat, int, -1, (const char *path, struct stat *status), path, status)
FAILS(lstat, int, -1, (const char *path, struct stat *status), path, status)
FAILS(statvfs, int, -1, (const char *path, struct statvfs *disk), path, disk)
FAILS(access, int, -1, (const char *path, int mode), path, mode)
FAILS(readlink, ssize_t, -1, (const char *path, char *text, size_t size), path, text, size)
FAILS(unlink, int, -1, (const char *path), path)
FAILS(unlinkat, int, -1, (int folder, const char *path, int flags), folder, path, flags)
FAILS(rename, int, -1, (const char *from, const char *to), from, to)
FAILS(renameat2, int, -1, (int at, const char *from, int into, const char *to, unsigned flags), at, from,
    into, to, flags)
FAILS(mkdir, int, -1, (const char *path, mode_t mode), path, mode)
FAILS(ftruncate, int, -1, (int file, off_t size), file, size)
FAILS(fork, pid_t, -1, (void), )
FAILS(pipe, int, -1, (int *ends), ends)
FAILS(poll, int, -1, (struct pollfd * file, nfds_t count, int pause), file, count, pause)
FAILS(fsync, int, -1, (int file), file)
FAILS(fdatasync, int, -1, (int file), file)
FAILS_WITH(pthread_create,
    (pthread_t * thread, const pthread_attr_t *how, void *(*routine)(void *), void *context), thread, how,
    routine, context)

int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;

    if (fails("asprintf", CALLER))
        return -1;
    va_start(arguments, format);
    int length = vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list more;

    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails("open", CALLER) ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int at, const char *path, int flags, ...);
int __wrap_openat(int at, const char *path, int flags, ...);
int __wrap_openat(int at, const char *path, int flags, ...)
{
    return fails("openat", CALLER) ? -1 : __real_openat(at, path, flags);
}

/* Both close even if they fail. */
int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file)
{
    bool failed = fails("close", CALLER);
    int cause = errno, status = __real_close(file);

    errno = failed ? cause : errno;
    return failed ? -1 : status;
}

int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
    bool failed = fails("fclose", CALLER);
    int cause = errno, status = __real_fclose(file);

    errno = failed ? cause : errno;
    return failed ? EOF : status;
}

ssize_t __real_pwrite(int file, const void *bytes, size_t size, off_t at);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t at);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t at)
{
    int cause = cause_of("pwrite", CALLER);

    if (cause == FAILING_HALF || cause == FAILING_NONE)
        return cause == FAILING_HALF ? __real_pwrite(file, bytes, size / 2, at) : 0;
    errno = cause ? cause : errno;
    return cause ? -1 : __real_pwrite(file, bytes, size, at);
}

int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to)
{
    int cause = cause_of("link", CALLER);

    if (cause == FAILING_UNTOLD && __real_link(from, to) == 0)
        cause = EEXIST;
    errno = cause ? cause : errno;
    return cause ? -1 : __real_link(from, to);
}

/* ---- the clock ---- */

static _Atomic long ahead; /* seconds */

void failing_clock(long seconds)
{
    ahead = seconds;
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = __real_clock_gettime(clock, now);

    now->tv_sec += ahead;
    return status;
}

FAILS(nanosleep, int, -1, (const struct timespec *time, struct timespec *left), time, left)

/* ---- netCDF ---- */

#define FAILS_PUT_ATT(name, type)                                                                            \
    FAILS_WITH(name, (int file, int id, const char *label, nc_type kind, size_t count, const type *value),   \
        file, id, label, kind, count, value)
#define FAILS_PUT_VARA(name, type)                                                                           \
    FAILS_WITH(name, (int file, int id, const size_t *start, const size_t *count, const type *value), file,  \
        id, start, count, value)
#define FAILS_GET_VARA(name, type)                                                                           \
    FAILS_WITH(name, (int file, int id, const size_t *start, const size_t *count, type *value), file, id,    \
        start, count, value)

FAILS_WITH(nc__create, (const char *path, int mode, size_t first, size_t *buffer, int *file), path, mode,
    first, buffer, file)
FAILS_WITH(nc__enddef, (int file, size_t head, size_t align, size_t more, size_t records), file, head, align,
    more, records)
FAILS_WITH(nc_create, (const char *path, int mode, int *file), path, mode, file)
FAILS_WITH(nc_open, (const char *path, int mode, int *file), path, mode, file)
FAILS_WITH(nc_sync, (int file), file)
FAILS_WITH(nc_redef, (int file), file)
FAILS_WITH(nc_enddef, (int file), file)
FAILS_WITH(nc_set_fill, (int file, int fill, int *before), file, fill, before)
FAILS_WITH(nc_def_dim, (int file, const char *name, size_t length, int *id), file, name, length, id)
FAILS_WITH(nc_def_var, (int file, const char *name, nc_type type, int count, const int *dimension, int *id),
    file, name, type, count, dimension, id)
FAILS_WITH(nc_copy_att, (int from, int variable, const char *name, int to, int other), from, variable, name,
    to, other)
FAILS_PUT_ATT(nc_put_att, void)
FAILS_WITH(nc_put_att_text, (int file, int id, const char *name, size_t count, const char *value), file, id,
    name, count, value)
FAILS_PUT_ATT(nc_put_att_double, double)
FAILS_PUT_ATT(nc_put_att_longlong, long long)
FAILS_PUT_ATT(nc_put_att_schar, signed char)
FAILS_WITH(nc_put_var_int, (int file, int id, const int *value), file, id, value)
FAILS_WITH(nc_put_var_longlong, (int file, int id, const long long *value), file, id, value)
FAILS_WITH(nc_put_var_schar, (int file, int id, const signed char *value), file, id, value)
FAILS_WITH(nc_put_var_text, (int file, int id, const char *value), file, id, value)
FAILS_WITH(nc_put_var1_double, (int file, int id, const size_t *at, const double *value), file, id, at, value)
FAILS_WITH(nc_put_var1_longlong, (int file, int id, const size_t *index, const long long *value), file, id,
    index, value)
FAILS_PUT_VARA(nc_put_vara, void)
FAILS_PUT_VARA(nc_put_vara_double, double)
FAILS_PUT_VARA(nc_put_vara_text, char)
FAILS_WITH(nc_get_att, (int file, int id, const char *name, void *value), file, id, name, value)
FAILS_WITH(nc_get_att_double, (int file, int id, const char *name, double *value), file, id, name, value)
FAILS_WITH(nc_get_att_longlong, (int file, int id, const char *name, long long *value), file, id, name, value)
FAILS_WITH(nc_get_att_string, (int file, int id, const char *name, char **value), file, id, name, value)
FAILS_WITH(nc_get_att_text, (int file, int id, const char *name, char *value), file, id, name, value)
FAILS_WITH(nc_get_var_double, (int file, int id, double *value), file, id, value)
FAILS_WITH(nc_get_var_int, (int file, int id, int *value), file, id, value)
FAILS_WITH(nc_get_var_longlong, (int file, int id, long long *value), file, id, value)
FAILS_WITH(nc_get_var_schar, (int file, int id, signed char *value), file, id, value)
FAILS_GET_VARA(nc_get_vara, void)
FAILS_GET_VARA(nc_get_vara_double, double)
FAILS_GET_VARA(nc_get_vara_float, float)
FAILS_GET_VARA(nc_get_vara_text, char)
FAILS_WITH(nc_inq_att, (int file, int id, const char *name, nc_type *type, size_t *length), file, id, name,
    type, length)
FAILS_WITH(nc_inq_attname, (int file, int id, int number, char *name), file, id, number, name)
FAILS_WITH(nc_inq_dim, (int file, int id, char *name, size_t *length), file, id, name, length)
FAILS_WITH(nc_inq_dimid, (int file, const char *name, int *id), file, name, id)
FAILS_WITH(nc_inq_dimlen, (int file, int id, size_t *length), file, id, length)
FAILS_WITH(nc_inq_dimname, (int file, int id, char *name), file, id, name)
FAILS_WITH(nc_inq_natts, (int file, int *count), file, count)
FAILS_WITH(nc_inq_nvars, (int file, int *count), file, count)
FAILS_WITH(nc_inq_type, (int file, nc_type type, char *name, size_t *size), file, type, name, size)
FAILS_WITH(nc_inq_var,
    (int file, int id, char *name, nc_type *type, int *rank, int *dimension, int *attributes), file, id, name,
    type, rank, dimension, attributes)
FAILS_WITH(nc_inq_varid, (int file, const char *name, int *id), file, name, id)
FAILS_WITH(nc_inq_varname, (int file, int id, char *name), file, id, name)
FAILS_WITH(nc_inq_varnatts, (int file, int id, int *count), file, id, count)
FAILS_WITH(nc_inq_vartype, (int file, int id, nc_type *type), file, id, type)
