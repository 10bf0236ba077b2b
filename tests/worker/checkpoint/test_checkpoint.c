/* Files of checkpoints: what is damaged is noticed, what cannot be written leaves nothing. */
#include "tests/test.h"
#include "tests/worker/checkpoint/life.h"
#include "worker/checkpoint/inside.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "model/core/random.h"

/* ---- a run with two checkpoints, whose bytes are known ---- */

enum { OLD_STEP = 3, NEW_STEP = 5, OLD = 0, NEW = 1 };

struct copy {
    char path[160];
    char *bytes;
    size_t size;
};

struct pair {
    struct life life, undisturbed;
    struct copy copy[2];
};

/* The calls of carry_on at which a step begins. */
static int64_t call_of(const struct life *life, int64_t step)
{
    int64_t call = 0;

    while (call < life->calls && life->asked[call] != step)
        call++;
    return call + 1;
}

static void pair_init(struct pair *pair)
{
    struct life *life = &pair->life;

    life_init(&pair->undisturbed);
    life_train(&pair->undisturbed);
    life_init(life);
    life->save_call = call_of(&pair->undisturbed, OLD_STEP);
    life->stop_call = call_of(&pair->undisturbed, NEW_STEP);
    life_train(life);
    CHECK(life->result.outcome == OUTCOME_PENDING && life->error.text[0] == '\0');
    life_path(life, OLD_STEP, pair->copy[OLD].path);
    life_path(life, NEW_STEP, pair->copy[NEW].path);
    for (int i = 0; i < 2; i++)
        pair->copy[i].bytes = get_bytes(pair->copy[i].path, &pair->copy[i].size);
    life->save_call = life->stop_call = 0;
    life->resumes = true;
}

static void pair_release(struct pair *pair)
{
    free(pair->copy[OLD].bytes);
    free(pair->copy[NEW].bytes);
    life_release(&pair->life);
    life_release(&pair->undisturbed);
}

#define IN_PAIR(id) TEST_IN(id, struct pair, pair, pair_init(pair), pair_release(pair))

static void pair_restore(const struct pair *pair)
{
    for (int i = 0; i < 2; i++)
        put_bytes(pair->copy[i].path, pair->copy[i].bytes, pair->copy[i].size);
}

/* Resumes and ends as the undisturbed run, from a step, with something to say. */
static void check_resumes(struct pair *pair, int64_t step, const char *what, const char *said)
{
    life_train(&pair->life);
    if (pair->life.resumed_at != step || !strstr(pair->life.said, said) ||
        !life_equal(&pair->life, &pair->undisturbed))
        test_fail(__FILE__, __LINE__, "%s: resumed at %lld, said: %s", what, (long long)pair->life.resumed_at,
            pair->life.said);
}

/* Damages a file in a way that `number` says, and describes it. */
static void damage(const struct copy *copy, uint64_t seed, uint64_t number, char what[80])
{
    uint64_t draw = random_below(seed, RANDOM_TEST, 2 * number, copy->size);

    if (number % 4 == 0) {
        snprintf(
            what, 80, "seed %llu: cut to %llu bytes", (unsigned long long)seed, (unsigned long long)draw);
        CHECK(truncate(copy->path, (off_t)draw) == 0);
        return;
    }
    size_t at = number % 4 == 1 ? draw % 512 : draw; /* a fair share in the begin, where the seal is */
    unsigned bit = (unsigned)random_below(seed, RANDOM_TEST, 2 * number + 1, 8);
    char byte = (char)(copy->bytes[at] ^ 1U << bit);
    int file = open(copy->path, O_WRONLY | O_CLOEXEC);
    snprintf(what, 80, "seed %llu: byte %zu, bit %u", (unsigned long long)seed, at, bit);
    CHECK(file >= 0 && pwrite(file, &byte, 1, (off_t)at) == 1);
    close(file);
}

IN_PAIR(checkpoint_damage_is_noticed)
{
    uint64_t seed = (uint64_t)time(NULL);
    char what[80];

    check_resumes(pair, NEW_STEP, "whole", "");
    for (uint64_t number = 0; number < 400; number++) {
        pair_restore(pair);
        damage(&pair->copy[NEW], seed, number, what);
        check_resumes(pair, OLD_STEP, what, ": damaged (checksum); an earlier checkpoint is used\n");
        CHECK(!file_exists(pair->copy[NEW].path) && file_exists(pair->copy[OLD].path));
    }
    pair_restore(pair);
    damage(&pair->copy[NEW], seed, 1000, what);
    damage(&pair->copy[OLD], seed, 1001, what);
    check_resumes(pair, -1, "both", ": damaged (checksum); the run starts anew\n");
    CHECK(!file_exists(pair->copy[NEW].path) && !file_exists(pair->copy[OLD].path));
}

/* Each bit of the first kilobyte, and every way to cut the file there. */
IN_PAIR(checkpoint_damage_of_the_header)
{
    const struct copy *copy = &pair->copy[NEW];
    int unnoticed = 0;

    CHECK(seal_check(copy->path, NULL) == 0);
    int file = open(copy->path, O_WRONLY | O_CLOEXEC);
    for (off_t bit = 0; bit < 8 * 1024; bit++) {
        char byte = (char)(copy->bytes[bit / 8] ^ 1U << bit % 8);
        CHECK(pwrite(file, &byte, 1, bit / 8) == 1);
        unnoticed += seal_check(copy->path, NULL) != SEAL_BROKEN;
        CHECK(pwrite(file, &copy->bytes[bit / 8], 1, bit / 8) == 1);
    }
    CHECK(seal_check(copy->path, NULL) == 0);
    for (off_t size = 1024; size >= 0; size--) {
        CHECK(ftruncate(file, size) == 0);
        unnoticed += seal_check(copy->path, NULL) != SEAL_BROKEN;
    }
    CHECK(unnoticed == 0);
    close(file);
}

/* ---- of something else ---- */

/* Puts other text of the same length in place of an attribute's, and seals the file again. */
static void forge(const struct copy *copy, const char *attribute, bool seal)
{
    char *bytes = malloc(copy->size);

    memcpy(bytes, copy->bytes, copy->size);
    char *at = memmem(bytes, copy->size, attribute, strlen(attribute));
    CHECK(at != NULL);
    if (!at)
        abort();
    at += (strlen(attribute) + 3) / 4 * 4 + 4 + 8; /* type and length lie between */
    *at = *at == 'x' ? 'y' : 'x';
    put_bytes(copy->path, bytes, copy->size);
    free(bytes);
    CHECK(!seal || seal_put(copy->path, NULL) == 0);
}

IN_PAIR(checkpoint_of_another_kernel_is_left_alone)
{
    static const struct {
        const char *attribute, *said;
    } cases[] = {
        {"blas_kernel", ": made with BLAS kernel "},
        {"vector_level", ": made with vector level "},
        {"scalar", ": made with scalar "},
        {"digest", ": of another run; "},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        pair_restore(pair);
        forge(&pair->copy[NEW], cases[i].attribute, true);
        check_resumes(pair, OLD_STEP, cases[i].attribute, "; an earlier checkpoint is used\n");
        CHECK(strstr(pair->life.said, cases[i].said) && file_exists(pair->copy[NEW].path));
        forge(&pair->copy[OLD], cases[i].attribute, true);
        check_resumes(pair, -1, cases[i].attribute, "; the run starts anew\n");
        CHECK(strchr(pair->life.said, '\n')[1] == '\0'); /* said once */
        CHECK(file_exists(pair->copy[NEW].path) && file_exists(pair->copy[OLD].path));
    }
    pair_restore(pair);
    forge(&pair->copy[NEW], "blas_kernel", false);
    check_resumes(pair, OLD_STEP, "not sealed", "damaged");
}

/* Another run's, of whatever age, are no concern. */
IN_PAIR(checkpoint_belongs_to_its_run)
{
    struct digest own;

    own = pair->life.owner.digest;
    pair->life.owner.digest.low++;
    check_resumes(pair, -1, "another digest", "");
    CHECK(pair->life.said[0] == '\0');
    pair->life.owner.digest = own;
    check_resumes(pair, NEW_STEP, "its own", "");
}

/* ---- names ---- */

TEST(checkpoint_names_sort_by_age)
{
    static const struct checkpoint_name ages[] = {
        {.session = 0, .ticket = 1, .step = 900000},
        {.session = 0, .ticket = 2, .step = 1},
        {.session = 0, .ticket = 2, .step = 99},
        {.session = 0, .ticket = 2, .step = 100},
        {.session = 0, .ticket = 10, .step = 0},
        {.session = 1, .ticket = 1, .step = 5},
        {.session = 12, .ticket = 1, .step = 4},
        {.session = 63, .ticket = 4000000000, .step = 100000000000},
    };
    char last[CHECKPOINT_NAME_SIZE] = "", text[CHECKPOINT_NAME_SIZE];

    for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++) {
        struct checkpoint_name name = ages[i], read = {.step = -1};
        name.digest = (struct digest){1, 2};
        checkpoint_format(&name, text);
        CHECK(strcmp(text, last) > 0);
        CHECK(checkpoint_parse(text, &read) && read.digest.high == 1 && read.digest.low == 2);
        CHECK(read.session == name.session && read.ticket == name.ticket && read.step == name.step);
        memcpy(last, text, sizeof(text));
    }
}

TEST(checkpoint_names_are_told_from_others)
{
    static const char *const others[] = {"", ".", "a.nc", "worker-000001-2.log",
        "0123456789abcdef0123456789abcdef.weights.nc",
        "0123456789abcdef0123456789abcdef-000001-000000000001-000000000001.nc.part",
        "0123456789abcdef0123456789abcdef-000001-000000000001-000000000001.nc.",
        "0123456789abcdef0123456789abcdef-000001-000000000001-00000000001.nc",
        "0123456789abcdef0123456789abcdef-0000001-000000000001-000000000001.nc",
        "0123456789ABCDEF0123456789abcdef-000001-000000000001-000000000001.nc",
        "0x23456789abcdef0123456789abcdef-000001-000000000001-000000000001.nc",
        " 123456789abcdef0123456789abcdef-000001-000000000001-000000000001.nc",
        "0123456789abcdef0123456789abcdef-+00001-000000000001-000000000001.nc",
        "0123456789abcdef0123456789abcdef--00001-000000000001-000000000001.nc",
        "0123456789abcdef0123456789abcdef-9223372036854775807-000000000001-000000000001.nc"};
    struct checkpoint_name name;

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (checkpoint_parse(others[i], &name))
            test_fail(__FILE__, __LINE__, "%s is no checkpoint", others[i]);
}

/* ---- the folder ---- */

static int count_checkpoints(const struct life *life)
{
    struct checkpoint_files files;
    struct error error;
    int count = 0;

    CHECK(checkpoint_files_list(&files, life->folder, NULL, &error) == 0);
    for (int64_t i = 0; i < files.count; i++)
        count += !files.file[i].part && files.file[i].name.step > 0;
    checkpoint_files_release(&files);
    return count;
}

IN_PAIR(checkpoint_set_knows_who_has_some)
{
    struct checkpoint_set set;
    struct error error;
    char path[160];

    const struct digest own = pair->life.owner.digest;
    for (uint64_t i = 40; i > 0; i--) {
        pair->life.owner.digest = (struct digest){own.high + i % 3, own.low + i};
        pair->life.owner.session = (int64_t)i % 7;
        put_bytes(life_path(&pair->life, 1, path), pair->copy[OLD].bytes, 10);
    }
    CHECK(checkpoint_set_init(&set, pair->life.folder, &error) == 0 && set.count == 41);
    CHECK(set.session == 6);
    CHECK(checkpoint_set_has(&set, &own));
    for (uint64_t i = 1; i <= 40; i++)
        for (uint64_t j = 0; j < 3; j++) {
            const struct digest digest = {own.high + j, own.low + i};
            CHECK(checkpoint_set_has(&set, &digest) == (i % 3 == j));
        }
    checkpoint_set_release(&set);
    CHECK(checkpoint_set_init(&set, "no such folder", &error) == 0 && set.count == 0 && set.session == -1);
    CHECK(!checkpoint_set_has(&set, &own));
    CHECK(checkpoint_set_init(&set, path, &error) == ENOTDIR && error.status == ERROR_ENVIRONMENT);
}

IN_PAIR(checkpoint_keeps_the_two_newest)
{
    struct life *life = &pair->life;
    char path[160], part[170];

    life->owner.digest.low++;
    life_path(life, 1, path);
    put_bytes(path, pair->copy[OLD].bytes, 10); /* another run's */
    life->owner.digest.low--;
    snprintf(part, sizeof(part), "%s.part", pair->copy[OLD].path);
    put_bytes(part, pair->copy[OLD].bytes, 10); /* what a kill has left */
    life->owner.ticket++;
    life->stop_call = 2; /* resumed at step 5: now at 6, in its validation */
    life_train(life);
    CHECK(life->resumed_at == NEW_STEP && life->error.text[0] == '\0' && !file_exists(part));
    CHECK(count_checkpoints(life) == 3 && count_files(life->folder, "") == 3);
    CHECK(file_exists(pair->copy[NEW].path) && !file_exists(pair->copy[OLD].path) && file_exists(path));

    /* One that was given up and comes back leaves the newer ones, and what is being written, alone. */
    snprintf(part, sizeof(part), "%s.part", life_path(life, 7, path));
    put_bytes(part, pair->copy[OLD].bytes, 10);
    life->owner.ticket--;
    life->resumes = false;
    life->stop_call = call_of(&pair->undisturbed, OLD_STEP);
    life_train(life);
    CHECK(life->error.text[0] == '\0' && file_exists(part) && file_exists(pair->copy[NEW].path));
    CHECK(!file_exists(pair->copy[OLD].path) && count_checkpoints(life) == 3);
}

IN_PAIR(checkpoint_remove_leaves_the_rest)
{
    struct life *life = &pair->life;
    struct error error;
    char other[160], weights[160];

    life->owner.digest.low++;
    put_bytes(life_path(life, 1, other), pair->copy[OLD].bytes, 10);
    life->owner.digest.low--;
    snprintf(weights, sizeof(weights), "%s/0123456789abcdef0000000000000007.weights.nc", life->folder);
    put_bytes(weights, pair->copy[OLD].bytes, 10);
    CHECK(checkpoint_remove(life->folder, &life->owner.digest, &error) == 0);
    CHECK(count_files(life->folder, "") == 2 && file_exists(other) && file_exists(weights));
    CHECK(checkpoint_remove("no such folder", &life->owner.digest, &error) == 0);
    CHECK(checkpoint_remove(other, &life->owner.digest, &error) == -1);
    CHECK(error.status == ERROR_ENVIRONMENT && strstr(error.text, ": Not a directory"));
}

/* ---- no room ---- */

/* In a process that may write files of a few bytes alone: does saving fail as it should? */
struct narrow {
    struct life *life;
    rlim_t most;
};

static int save_narrowly(void *context)
{
    const struct narrow *narrow = context;
    struct life *life = narrow->life;

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){narrow->most, narrow->most});
    life->stop_call = 2;
    life_train(life);
    bool said = strstr(life->error.text, ".nc: File too large") && !strstr(life->error.text, ".part");
    return life->error.status == ERROR_ENVIRONMENT && said ? 0 : 1;
}

IN_PAIR(checkpoint_without_room_leaves_nothing)
{
    rlim_t size = pair->copy[NEW].size;
    const rlim_t most[] = {0, 1, 100, 4096, size / 3, size / 2, size - 4096, size - 1};

    for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
        struct narrow narrow = {&pair->life, most[i]};
        if (in_child(save_narrowly, &narrow) != 0)
            test_fail(__FILE__, __LINE__, "with room for %llu bytes", (unsigned long long)most[i]);
        CHECK(count_files(pair->life.folder, "") == 2);
    }
    check_resumes(pair, NEW_STEP, "after all", "");
}

IN_PAIR(checkpoint_without_a_folder)
{
    pair->life.owner.folder = "/no/such/place";
    pair->life.stop_call = 2;
    life_train(&pair->life);
    CHECK(pair->life.resumed_at == -1 && pair->life.error.status == ERROR_ENVIRONMENT);
    CHECK(strncmp(pair->life.error.text, "/no/such/place/0123", 19) == 0);
    CHECK(strstr(pair->life.error.text, ".nc: No such file or directory"));
    pair->life.owner.folder = pair->copy[OLD].path;
    life_train(&pair->life);
    CHECK(pair->life.error.status == ERROR_ENVIRONMENT && strstr(pair->life.error.text, ": Not a directory"));
}
