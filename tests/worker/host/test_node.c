/* One corpus a machine: processes that share it, and that die with it. */
#include "tests/scratch.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "worker/host/inside.h"

enum { LINES = 150000, LINK = 128 };

/* A text that is large enough to be shared, and the source that names it. */
struct shared {
    char path[SCRATCH_PATH];
    struct corpus_source source;
};

static void write_lines(const char *path, const char *line)
{
    FILE *file = fopen(path, "w");

    for (int i = 0; i < LINES; i++)
        fprintf(file, "%s%d\n", line, i % 100);
    fclose(file);
}

static void shared_init(struct shared *shared)
{
    scratch_file(shared->path);
    write_lines(shared->path, "one two three");
    shared->source = (struct corpus_source){.kind = CORPUS_TEXT, .train_path = shared->path};
}

#define IN_SHARED(id) TEST_IN(id, struct shared, shared, shared_init(shared), unlink(shared->path))

/* Why a corpus could not be loaded. */
static enum corpus_fault fault;
static struct error error;

/* The inode of the copy that a corpus is a view of; 0: its memory is its own. */
static ino_t copy_of(const struct corpus *corpus)
{
    struct stat status;

    return corpus->file >= 0 && fstat(corpus->file, &status) == 0 ? status.st_ino : 0;
}

/* Loads, checks against a corpus of this process's own, and returns the copy. */
static ino_t load(struct corpus *corpus, const struct corpus_source *source)
{
    struct corpus own;

    if (node_load_corpus(corpus, source, &fault, &error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        return 0;
    }
    CHECK(corpus_load(&own, source, &fault, &error) == 0 && own.file == -1);
    CHECK(own.vocabulary == corpus->vocabulary && own.end_of_line == corpus->end_of_line &&
          own.unknown == corpus->unknown);
    CHECK(memcmp(&own.digest, &corpus->digest, sizeof(own.digest)) == 0);
    CHECK(own.train.token_count == corpus->train.token_count);
    CHECK(memcmp(own.train.tokens, corpus->train.tokens,
              (size_t)own.train.token_count * sizeof(*own.train.tokens)) == 0);
    CHECK(own.train.line_count == corpus->train.line_count);
    CHECK(memcmp(own.train.line, corpus->train.line,
              (size_t)own.train.line_count * sizeof(*own.train.line)) == 0);
    CHECK(own.valid.token_count == corpus->valid.token_count);
    corpus_release(&own);
    return copy_of(corpus);
}

/* A process that loads, tells which copy it has, and holds it until it is killed. */
struct holder {
    pid_t pid;
    ino_t copy;
};

/* The process tells a pipe, or NULL, which copy it has. It begins when another pipe is closed; NULL: at once.
 */
static pid_t fork_holder(const struct corpus_source *source, const int tells[2], const int begins[2])
{
    struct corpus corpus;
    char byte;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (begins && (close(begins[1]) != 0 || read(begins[0], &byte, 1) != 0))
        _exit(1);
    if (node_load_corpus(&corpus, source, &fault, &error) != 0)
        _exit(1);
    ino_t copy = copy_of(&corpus);
    if (!tells || write(tells[1], &copy, sizeof(copy)) == (ssize_t)sizeof(copy))
        pause();
    _exit(1);
}

static struct holder hold(const struct corpus_source *source)
{
    struct holder holder = {0};
    int ends[2];

    CHECK(pipe(ends) == 0);
    holder.pid = fork_holder(source, ends, NULL);
    close(ends[1]);
    CHECK(read(ends[0], &holder.copy, sizeof(holder.copy)) == (ssize_t)sizeof(holder.copy));
    close(ends[0]);
    return holder;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* What a descriptor of a process leads to; "" for none. */
static const char *link_of(pid_t pid, const char *descriptor, char target[LINK])
{
    char path[64 + sizeof(((struct dirent *)NULL)->d_name)];

    snprintf(path, sizeof(path), "/proc/%ld/fd/%s", (long)pid, descriptor);
    ssize_t length = readlink(path, target, LINK - 1);
    target[length > 0 ? length : 0] = '\0';
    return target;
}

/* Has a process a copy, or what is to become one? */
static bool has_copy(pid_t pid)
{
    char folder[64], target[LINK];
    const struct dirent *entry;
    bool found = false;

    snprintf(folder, sizeof(folder), "/proc/%ld/fd", (long)pid);
    DIR *descriptors = opendir(folder);
    while (descriptors && (entry = readdir(descriptors)))
        found = found || strncmp(link_of(pid, entry->d_name, target), "/memfd:normsweep-", 17) == 0;
    if (descriptors)
        closedir(descriptors);
    return found;
}

IN_SHARED(node_shares_one_copy)
{
    struct corpus corpus, again;

    struct holder holder = hold(&shared->source);
    CHECK(holder.copy != 0);
    CHECK(load(&corpus, &shared->source) == holder.copy);
    CHECK(load(&again, &shared->source) == holder.copy);
    corpus_release(&again);
    end(holder.pid);
    CHECK(corpus.train.tokens[0] == 0 && corpus.train.line_count == LINES);
    corpus_release(&corpus);
    CHECK(!has_copy(getpid()));
}

IN_SHARED(node_copy_cannot_be_changed)
{
    struct corpus corpus;
    char path[64];

    CHECK(load(&corpus, &shared->source) != 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", corpus.file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    CHECK(file >= 0 && write(file, "x", 1) == -1 && ftruncate(file, 0) == -1);
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED);
    close(file);
    corpus_release(&corpus);
}

/* The one that has read it dies; one that came later hands it on. */
IN_SHARED(node_copy_outlives_its_reader)
{
    struct corpus corpus;

    struct holder reader = hold(&shared->source), second = hold(&shared->source);
    CHECK(reader.copy != 0 && second.copy == reader.copy);
    end(reader.pid);
    CHECK(load(&corpus, &shared->source) == reader.copy);
    corpus_release(&corpus);
    end(second.pid);
    CHECK(load(&corpus, &shared->source) != 0); /* nobody is left: read anew */
    corpus_release(&corpus);
}

/* Killed as soon as there is something of it to be seen, most likely while it writes. */
TEST(node_reader_is_killed)
{
    struct corpus_source source = {.kind = CORPUS_MARKOV, .vocabulary = 500, .tokens = 3000000, .seed = 7};
    struct corpus corpus;
    pid_t reader = fork_holder(&source, NULL, NULL);
    double deadline = clock_now() + 60;
    while (!has_copy(reader) && clock_now() < deadline)
        ;
    CHECK(has_copy(reader));
    end(reader);
    CHECK(load(&corpus, &source) != 0);
    corpus_release(&corpus);
}

/* All at once: one reads, the others get its copy. */
IN_SHARED(node_processes_start_together)
{
    enum { PROCESSES = 6 };
    ino_t copy[PROCESSES] = {0};
    pid_t pid[PROCESSES];
    int ends[2] = {-1, -1}, go[2] = {-1, -1};

    CHECK(pipe(ends) == 0 && pipe(go) == 0);
    for (int i = 0; i < PROCESSES; i++)
        pid[i] = fork_holder(&shared->source, ends, go);
    close(go[0]);
    close(go[1]);
    close(ends[1]);
    for (int i = 0; i < PROCESSES; i++)
        CHECK(read(ends[0], &copy[i], sizeof(copy[i])) == (ssize_t)sizeof(copy[i]) && copy[i] == copy[0]);
    CHECK(copy[0] != 0);
    close(ends[0]);
    for (int i = 0; i < PROCESSES; i++)
        end(pid[i]);
}

/* A corpus without rare words is another one than that with them. */
IN_SHARED(node_texts_of_different_min_counts)
{
    struct corpus all, frequent;

    ino_t first = load(&all, &shared->source);
    shared->source.min_count = LINES / 100 + 1; /* one of the last words has fewer */
    ino_t second = load(&frequent, &shared->source);
    CHECK(first != 0 && second != 0 && first != second);
    CHECK(all.vocabulary == 103 && frequent.vocabulary == 4 && frequent.unknown == 2);
    corpus_release(&all);
    corpus_release(&frequent);
}

IN_SHARED(node_text_has_changed)
{
    struct corpus corpus, changed;

    ino_t first = load(&corpus, &shared->source);
    write_lines(shared->path, "one two three four");
    ino_t second = load(&changed, &shared->source);
    CHECK(first != 0 && second != 0 && first != second);
    CHECK(memcmp(&corpus.digest, &changed.digest, sizeof(corpus.digest)) != 0);
    corpus_release(&corpus);
    corpus_release(&changed);
}

/* What bears the right name and is no copy: one that could still be changed; one that is sealed, and empty.
 */
IN_SHARED(node_impostors_are_passed_over)
{
    struct corpus corpus;
    char target[LINK], descriptor[16];

    CHECK(load(&corpus, &shared->source) != 0);
    snprintf(descriptor, sizeof(descriptor), "%d", corpus.file);
    link_of(getpid(), descriptor, target);
    corpus_release(&corpus);
    char *name = strchr(target, ':') + 1;
    name[strcspn(name, " ")] = '\0';
    int open_one = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int sealed = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(corpus_write(open_one, &shared->source, &fault, &error) == 0 && ftruncate(sealed, 1 << 20) == 0);
    CHECK(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0);
    struct stat first = {0}, second = {0};
    CHECK(fstat(open_one, &first) == 0 && fstat(sealed, &second) == 0);
    ino_t copy = load(&corpus, &shared->source);
    CHECK(copy != 0 && copy != first.st_ino && copy != second.st_ino);
    corpus_release(&corpus);
    close(open_one);
    close(sealed);
}

/* The first process checks the tokens of a file; the others map it without reading it. A file that has
 * changed is checked again. */
TEST(node_maps_files_of_tokens)
{
    enum { TOKENS = 600000, VOCABULARY = 1000 };
    static uint16_t tokens[TOKENS];
    char path[SCRATCH_PATH];
    struct corpus_source source = {
        .kind = CORPUS_TOKENS, .vocabulary = VOCABULARY, .train_path = path, .valid_path = path};
    struct corpus corpus, again;

    for (int i = 0; i < TOKENS; i++)
        tokens[i] = htole16((uint16_t)(i % VOCABULARY));
    scratch_file(path);
    put_bytes(path, tokens, sizeof(tokens));
    struct holder holder = hold(&source);
    CHECK(holder.copy != 0);
    CHECK(node_load_corpus(&corpus, &source, &fault, &error) == 0 && copy_of(&corpus) == holder.copy);
    CHECK(corpus_load(&again, &source, &fault, &error) == 0 && again.file == -1);
    CHECK(corpus.train.tokens == NULL && corpus.train.token_count == TOKENS &&
          corpus.valid.token_count == TOKENS);
    CHECK(memcmp(corpus.train.mapped, tokens, sizeof(tokens)) == 0);
    CHECK(memcmp(again.valid.mapped, tokens, sizeof(tokens)) == 0);
    CHECK(memcmp(&corpus.digest, &again.digest, sizeof(corpus.digest)) == 0);
    CHECK(corpus.vocabulary == VOCABULARY && corpus.block_size < 1 << 20);
    corpus_release(&again);
    corpus_release(&corpus);
    CHECK(corpus.train.mapped == NULL && corpus.train_file.bytes == NULL);
    tokens[7] = htole16(VOCABULARY);
    put_bytes(path, tokens, sizeof(tokens));
    CHECK(node_load_corpus(&corpus, &source, &fault, &error) == -1 && fault == CORPUS_FAULT_TRAIN);
    CHECK(strstr(error.text, ": token 1000 at byte 14 is not below vocabulary 1000") != NULL);
    source.vocabulary++;
    CHECK(node_load_corpus(&corpus, &source, &fault, &error) == 0 && copy_of(&corpus) != holder.copy);
    corpus_release(&corpus);
    end(holder.pid);
    unlink(path);
}

TEST(node_small_corpora_are_private)
{
    struct corpus_source source = {.kind = CORPUS_COUNTER, .tokens = NODE_SHARE_FROM - 1};
    struct corpus corpus;

    CHECK(load(&corpus, &source) == 0 && corpus.file == -1);
    corpus_release(&corpus);
    source.tokens++;
    CHECK(load(&corpus, &source) != 0);
    corpus_release(&corpus);
}

/* Where files, memfds among them, may not be long. */
static int load_narrowly(void *context)
{
    const struct shared *shared = context;
    struct corpus corpus;
    bool well = setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, 1 << 20}) == 0;

    return well && load(&corpus, &shared->source) == 0 && corpus.train.line_count == LINES ? 0 : 1;
}

IN_SHARED(node_falls_back_to_private_memory)
{
    CHECK(in_child(load_narrowly, shared) == 0);
}

IN_SHARED(node_refuses_texts)
{
    struct corpus corpus;

    FILE *file = fopen(shared->path, "a");
    fwrite("a\0b\n", 1, 4, file);
    fclose(file);
    CHECK(node_load_corpus(&corpus, &shared->source, &fault, &error) == -1);
    CHECK(fault == CORPUS_FAULT_TRAIN && error.status == ERROR_INPUT);
    CHECK(strstr(error.text, ":150001: a NUL byte: this is not a text") != NULL);
    shared->source.valid_path = "no/such.txt";
    CHECK(node_load_corpus(&corpus, &shared->source, &fault, &error) == -1);
    CHECK_TEXT(error.text, "no/such.txt: No such file or directory");
    CHECK(fault == CORPUS_FAULT_VALID && !has_copy(getpid()));
}
