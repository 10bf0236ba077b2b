/*
 * Preloaded into the program by tests/injected.py: counts the calls of one family and lets one of them fail,
 * or one and all that follow. A family is what INJECT names: calls on files below INJECT_FOLDER; allocations
 * that the program makes, itself or through a function of libc; or those of the libraries that it calls.
 * Counts are in a file that is mapped by all processes that come of the program, so that the test can read
 * them however the program ends. Under AddressSanitizer, these allocators call the sanitizer's.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES_AT_START = 1 << 16, NAME_SIZE = 24, FRAMES = 32, STACKS = 1 << 16 };

/* What the test reads; all but the counts are its orders. */
struct state {
    int64_t at; /* the number of the call that fails; from 0 */
    int64_t lasting; /* so do all that follow */
    int64_t cause; /* errno; 0: the program is sent `signal` before the call */
    int64_t signal;
    int64_t calls, failed;
    int64_t place; /* in the program, from which the call came that failed first */
    int64_t crashed; /* in a library that the program calls, or beneath it */
    char name[NAME_SIZE]; /* of its function */
    uint64_t stack[STACKS]; /* of each call: a digest of the places that it came through */
};

static struct state *state;
static const char *family, *folder;
static bool armed;
static _Thread_local int inside; /* a function of libc that counts as one call */

/* Objects whose calls count: the program, libc, and the libraries that the program calls. HDF5 and OpenSSL,
 * which netCDF initialises but never uses for a classic file, are not among them. */
enum { PROGRAM, LIBC, LIBRARIES };
static const char *const object_names[] = {
    "", "/libc.so", "/libnetcdf.so", "/libyaml-", "/libopenblas", "/libgomp.so"};
enum { OBJECTS = sizeof(object_names) / sizeof(*object_names) };
static struct object {
    uintptr_t begin, end, base;
} objects[OBJECTS];

#define NEXT_OF(name)                                                                                        \
    static __typeof__(&(name)) next;                                                                         \
    if (!next)                                                                                               \
    next = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name)
#define CALLER ((uintptr_t)__builtin_return_address(0))

static bool within(uintptr_t place, uintptr_t begin, uintptr_t end)
{
    return place >= begin && place < end;
}

/* The object that a place lies in; OBJECTS: another one. */
static int object_of(uintptr_t place)
{
    int i = 0;

    while (i < OBJECTS && !within(place, objects[i].begin, objects[i].end))
        i++;
    return i;
}

/* The innermost place in the program; 0: none. *digest is of all in the program and in the libraries it
 * calls. */
static int64_t places_in_program(uint64_t *digest)
{
    void *frame[FRAMES];
    int64_t innermost = 0;

    inside++;
    int count = backtrace(frame, FRAMES);
    inside--;
    *digest = 0;
    for (int i = 0; i < count; i++) {
        int object = object_of((uintptr_t)frame[i]);
        if (object == OBJECTS || object == LIBC)
            continue;
        uint64_t place = (uint64_t)((uintptr_t)frame[i] - objects[object].base);
        if (object == PROGRAM && innermost == 0)
            innermost = (int64_t)place;
        *digest = (*digest ^ (place + (uint64_t)object)) * 0x100000001b3;
    }
    return innermost;
}

/* Does this call of the family fail? Sets errno if so. */
static bool fails(const char *name)
{
    int64_t number = __atomic_fetch_add(&state->calls, 1, __ATOMIC_SEQ_CST);
    uint64_t digest;
    int64_t place = places_in_program(&digest);

    if (number < STACKS)
        state->stack[number] = digest;
    if (number < state->at || (number > state->at && !state->lasting))
        return false;
    if (__atomic_fetch_add(&state->failed, 1, __ATOMIC_SEQ_CST) == 0) {
        state->place = place;
        strncpy(state->name, name, NAME_SIZE - 1);
    }
    if (state->cause == 0) {
        kill(getpid(), (int)state->signal);
        return false;
    }
    errno = (int)state->cause;
    return true;
}

static bool is_family(const char *name)
{
    return armed && strcmp(family, name) == 0;
}

/* ---- memory ---- */

/* For functions that allocate. */
static bool memory_fails(const char *name, uintptr_t caller)
{
    int object = object_of(caller);

    if (inside || object == OBJECTS || !is_family(object < LIBRARIES ? "memory" : "library"))
        return false;
    uint64_t digest;
    return places_in_program(&digest) &&
           fails(name); /* else it is for a thread that the program did not start */
}

/* What is allocated while dlsym looks for malloc itself. */
static char early[BYTES_AT_START];
static size_t early_used;

static void *early_take(size_t size)
{
    size_t at = early_used;

    early_used += (size + 15) & ~(size_t)15;
    return early_used <= sizeof(early) ? early + at : NULL;
}

static bool is_early(const void *block)
{
    return within((uintptr_t)block, (uintptr_t)early, (uintptr_t)(early + sizeof(early)));
}

static volatile bool looking; /* dlsym calls malloc and free, which the compiler does not expect of it */

#define NEXT_EARLY(name, instead)                                                                            \
    static __typeof__(&(name)) next;                                                                         \
    if (!next) {                                                                                             \
        if (looking)                                                                                         \
            return instead;                                                                                  \
        looking = true;                                                                                      \
        next = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name);                                                 \
        looking = false;                                                                                     \
    }

void *malloc(size_t size)
{
    NEXT_EARLY(malloc, early_take(size))
    return memory_fails("malloc", CALLER) ? NULL : next(size);
}

void *calloc(size_t count, size_t size)
{
    NEXT_EARLY(calloc, early_take(count * size))
    return memory_fails("calloc", CALLER) ? NULL : next(count, size);
}

void *realloc(void *block, size_t size)
{
    NEXT_EARLY(realloc, NULL)
    return memory_fails("realloc", CALLER) ? NULL : next(block, size);
}

void free(void *block)
{
    NEXT_EARLY(free, )
    if (!is_early(block))
        next(block);
}

/* Functions of libc that allocate count as one call each. */
#define ALLOCATES(type, name, parameters, failed, ...)                                                       \
    type name parameters                                                                                     \
    {                                                                                                        \
        NEXT_OF(name);                                                                                       \
        if (memory_fails(#name, CALLER))                                                                     \
            return failed;                                                                                   \
        inside++;                                                                                            \
        type result = next(__VA_ARGS__);                                                                     \
        inside--;                                                                                            \
        return result;                                                                                       \
    }
ALLOCATES(char *, strdup, (const char *text), NULL, text)
ALLOCATES(char *, strndup, (const char *text, size_t size), NULL, text, size)
ALLOCATES(char *, realpath, (const char *path, char *resolved), NULL, path, resolved)
ALLOCATES(int, vasprintf, (char **text, const char *format, va_list arguments), -1, text, format, arguments)
ALLOCATES(FILE *, open_memstream, (char **text, size_t *size), NULL, text, size)
ALLOCATES(FILE *, fdopen, (int file, const char *mode), NULL, file, mode)
ALLOCATES(int, pthread_create,
    (pthread_t * thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *context), EAGAIN,
    thread, attributes, routine, context)
ALLOCATES(void *, mmap, (void *place, size_t length, int protection, int flags, int file, off_t offset),
    MAP_FAILED, place, length, protection, flags, file, offset)

int asprintf(char **text, const char *format, ...)
{
    va_list arguments;

    if (memory_fails("asprintf", CALLER))
        return -1;
    inside++;
    va_start(arguments, format);
    int length = vasprintf(text, format, arguments);
    va_end(arguments);
    inside--;
    return length;
}

/* ---- files ---- */

/* Paths that do not go up are relative to the folder, in which the program runs. */
static bool is_below(const char *path)
{
    if (path[0] != '/')
        return strncmp(path, "..", 2) != 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

static bool path_fails(const char *which, const char *name, const char *path)
{
    return is_family(which) && path && is_below(path) && fails(name);
}

static bool file_fails(const char *which, const char *name, int file)
{
    char link[64], path[PATH_MAX];

    if (!is_family(which))
        return false;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    return path[0] == '/' && is_below(path) && fails(name);
}

#define OF_FILE(family_, type, name, parameters, ...)                                                        \
    type name parameters                                                                                     \
    {                                                                                                        \
        NEXT_OF(name);                                                                                       \
        return file_fails(family_, #name, file) ? -1 : next(__VA_ARGS__);                                    \
    }
OF_FILE("write", ssize_t, write, (int file, const void *bytes, size_t size), file, bytes, size)
OF_FILE("write", ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at), file, bytes, size, at)
OF_FILE(
    "write", ssize_t, pwrite64, (int file, const void *bytes, size_t size, off_t at), file, bytes, size, at)
OF_FILE("write", int, ftruncate, (int file, off_t size), file, size)
OF_FILE("write", int, ftruncate64, (int file, off_t size), file, size)
OF_FILE("read", ssize_t, read, (int file, void *bytes, size_t size), file, bytes, size)
OF_FILE("read", ssize_t, pread, (int file, void *bytes, size_t size, off_t at), file, bytes, size, at)
OF_FILE("read", ssize_t, pread64, (int file, void *bytes, size_t size, off_t at), file, bytes, size, at)
OF_FILE("sync", int, fsync, (int file), file)
OF_FILE("sync", int, fdatasync, (int file), file)

/* Reads of streams happen inside libc, when the buffer is empty. */
size_t fread(void *bytes, size_t size, size_t count, FILE *file)
{
    enum { ERROR_SEEN = 0x20 }; /* glibc's bit behind ferror */
    NEXT_OF(fread);
    if (file->_IO_read_ptr == file->_IO_read_end && file_fails("read", "fread", fileno(file))) {
        file->_flags |= ERROR_SEEN;
        return 0;
    }
    return next(bytes, size, count, file);
}

/* A descriptor is closed even if this fails. */
int close(int file)
{
    NEXT_OF(close);
    bool failed = file_fails("close", "close", file);
    int cause = errno, status = next(file);

    if (!failed)
        return status;
    errno = cause;
    return -1;
}

#define OF_PATH(family_, name, parameters, path, ...)                                                        \
    int name parameters                                                                                      \
    {                                                                                                        \
        NEXT_OF(name);                                                                                       \
        return path_fails(family_, #name, path) ? -1 : next(__VA_ARGS__);                                    \
    }
OF_PATH("rename", rename, (const char *from, const char *to), to, from, to)
OF_PATH("rename", renameat2, (int at, const char *from, int into, const char *to, unsigned flags), to, at,
    from, into, to, flags)
OF_PATH("rename", link, (const char *from, const char *to), to, from, to)
OF_PATH("remove", unlink, (const char *path), path, path)
OF_PATH("remove", rmdir, (const char *path), path, path)
OF_PATH("open", mkdir, (const char *path, mode_t mode), path, path, mode)

int unlinkat(int at, const char *path, int flags)
{
    NEXT_OF(unlinkat);
    return file_fails("remove", "unlinkat", at) ? -1 : next(at, path, flags);
}

#define OPENS(name)                                                                                          \
    int name(const char *path, int flags, ...)                                                               \
    {                                                                                                        \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        mode_t mode = va_arg(more, mode_t);                                                                  \
        va_end(more);                                                                                        \
        NEXT_OF(name);                                                                                       \
        return path_fails("open", #name, path) ? -1 : next(path, flags, mode);                               \
    }
OPENS(open)
OPENS(open64)

int openat(int at, const char *path, int flags, ...)
{
    va_list more;

    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    NEXT_OF(openat);
    return file_fails("open", "openat", at) ? -1 : next(at, path, flags, mode);
}

/* These allocate, and open a file. */
#define OPENS_AND_ALLOCATES(type, name, parameters, ...)                                                     \
    type name parameters                                                                                     \
    {                                                                                                        \
        NEXT_OF(name);                                                                                       \
        if (memory_fails(#name, CALLER) || path_fails("open", #name, path))                                  \
            return NULL;                                                                                     \
        inside++;                                                                                            \
        type result = next(__VA_ARGS__);                                                                     \
        inside--;                                                                                            \
        return result;                                                                                       \
    }
OPENS_AND_ALLOCATES(DIR *, opendir, (const char *path), path)
OPENS_AND_ALLOCATES(FILE *, fopen, (const char *path, const char *mode), path, mode)

/* ---- start ---- */

static int find_object(struct dl_phdr_info *found, size_t size, void *first)
{
    bool *program = first;
    struct object object = {.begin = UINTPTR_MAX, .base = found->dlpi_addr};
    int which = *program ? PROGRAM : LIBC;

    (void)size;
    for (int i = 0; i < found->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &found->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t from = found->dlpi_addr + part->p_vaddr;
        object.begin = from < object.begin ? from : object.begin;
        object.end = from + part->p_memsz > object.end ? from + part->p_memsz : object.end;
    }
    while (!*program && which < OBJECTS && !strstr(found->dlpi_name, object_names[which]))
        which++;
    if (which < OBJECTS)
        objects[which] = object;
    *program = false;
    return 0;
}

static int (*main_of_program)(int, char **, char **);

/* Notes whether the crash is the program's: the innermost frame outside libc. */
static void on_crash(int signal)
{
    void *frame[FRAMES];
    int count = backtrace(frame, FRAMES), object = LIBC;

    for (int i = 2; i < count && object == LIBC; i++) /* from the frame that the signal interrupted */
        object = object_of((uintptr_t)frame[i]);
    state->crashed = object >= LIBRARIES;
    raise(signal); /* SA_RESETHAND: now it ends the process */
}

/* AddressSanitizer has handlers of its own, and more to say. */
static void watch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};

    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        sigaction(signals[i], &action, NULL);
}

/* What happens before, in constructors of libraries, is not the program's. */
static int main_armed(int argc, char **argv, char **environment)
{
    armed = state != NULL;
    if (armed)
        watch_crashes();
    int status = main_of_program(argc, argv, environment);
    armed = false;
    return status;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
    void (*fini)(void), void (*rtld_fini)(void), void *stack)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
        void *) = (__typeof__(next))dlsym(RTLD_NEXT, "__libc_start_main");
    const char *path = getenv("INJECT_STATE");
    bool program = true;
    void *frame[2];

    family = getenv("INJECT");
    folder = getenv("INJECT_FOLDER");
    int file = path && family && folder ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *mapped = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        state = mapped == MAP_FAILED ? NULL : mapped;
        close(file);
    }
    dl_iterate_phdr(find_object, &program);
    backtrace(frame, 2); /* loads what it needs */
    main_of_program = main;
    return next(main_armed, argc, argv, init, fini, rtld_fini, stack);
}
