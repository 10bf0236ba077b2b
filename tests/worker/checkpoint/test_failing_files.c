/* Each call fails once while a checkpoint is saved or loaded: it is one error, and earlier checkpoints stay.
 */
#include "tests/failing.h"
#include "tests/test.h"
#include "tests/worker/checkpoint/life.h"

#include "worker/checkpoint/inside.h"

/* What an attempt does while a call fails, and what came of it. */
struct attempt {
    struct life life; /* first, so that an observer's context is both */
    const struct failing_kind *kind; /* NULL: nothing fails */
    int calls; /* from 1 on: so many succeed before; 0: a call from a new place fails */
    bool failed;
    int status;
    char mark[MARK_SIZE]; /* of the coordinator; "": there is none */
};

#define IN_ATTEMPT(id)                                                                                       \
    TEST_IN(id, struct attempt, attempt, life_init(&attempt->life), life_release(&attempt->life))

/* ---- the observer ---- */

static void begin(const struct attempt *attempt)
{
    if (attempt->kind && attempt->calls > 0)
        failing_after(attempt->calls, attempt->kind->calls, attempt->kind->cause);
    else if (attempt->kind)
        failing_anew(attempt->kind->calls, attempt->kind->cause);
}

static void end(struct attempt *attempt, int status)
{
    attempt->failed = failing_end() && attempt->kind;
    attempt->status = status;
}

static enum verdict stop_late(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    (void)context, (void)last_step, (void)tokens;
    return step == 5 ? VERDICT_SAVE_AND_STOP : step == 1 || step == 2 ? VERDICT_SAVE : VERDICT_CARRY_ON;
}

/* Only the last of the three saves may fail. */
static void save(void *context, const struct snapshot *snapshot)
{
    struct attempt *attempt = context;
    struct life *life = &attempt->life;

    if (snapshot->step < 5) {
        CHECK(checkpoint_save(&life->owner, snapshot, &life->error) == 0);
        return;
    }
    begin(attempt);
    end(attempt, checkpoint_save(&life->owner, snapshot, &life->error));
}

static void save_weights(void *context, const struct snapshot *snapshot)
{
    struct attempt *attempt = context;

    begin(attempt);
    end(attempt, checkpoint_save_weights(&attempt->life.owner, snapshot, &attempt->life.error));
}

static bool load(void *context, struct snapshot *snapshot)
{
    struct attempt *attempt = context;
    struct life *life = &attempt->life;

    begin(attempt);
    end(attempt, checkpoint_load(&life->owner, snapshot, NULL, NULL, &life->error));
    life->resumed_at = attempt->status > 0 ? snapshot->step : -1;
    return attempt->status > 0;
}

enum part {
    BEGIN, /* until step 5, with three checkpoints on the way */
    RESUME, /* from a checkpoint to the end */
    WHOLE, /* to the end, where weights are saved */
};

static void live(struct attempt *attempt, enum part part)
{
    struct observer observer = {.context = attempt,
        .carry_on = part == BEGIN ? stop_late : NULL,
        .resume = part == RESUME ? load : NULL,
        .save = save,
        .finish = part == WHOLE ? save_weights : NULL};
    struct life *life = &attempt->life;

    attempt->failed = false;
    life->error.text[0] = '\0';
    train(&life->run, &life->corpus, &life->measure, &observer, &life->arena, &life->result);
}

/* ---- the folder ---- */

static void clear(const char *folder)
{
    remove_files(folder, ".nc");
    remove_files(folder, ".part");
}

static bool is_said(const struct attempt *attempt)
{
    const struct life *life = &attempt->life;

    return strncmp(life->error.text, life->folder, strlen(life->folder)) == 0 &&
           strstr(life->error.text, ": ") && life->error.status == ERROR_ENVIRONMENT;
}

static void check_said(const struct attempt *attempt)
{
    if (attempt->status < 0 && !is_said(attempt))
        test_fail(__FILE__, __LINE__, "%s: '%s'", attempt->kind->calls, attempt->life.error.text);
}

/* ---- saving ---- */

/* The newest checkpoint that can be loaded: the one that was saved, or the one before. */
static void check_loads(struct attempt *attempt, bool saved)
{
    const struct failing_kind *kind = attempt->kind;

    attempt->kind = NULL;
    live(attempt, RESUME);
    if (attempt->life.resumed_at != (saved ? 5 : 2))
        test_fail(
            __FILE__, __LINE__, "%s: resumed at %lld", kind->calls, (long long)attempt->life.resumed_at);
    CHECK(attempt->life.result.outcome == OUTCOME_DONE);
}

static void try_saving(struct attempt *attempt, const struct failing_kind *kind)
{
    clear(attempt->life.folder);
    attempt->kind = kind;
    live(attempt, BEGIN);
    bool saved = attempt->status == 0, removing = strncmp(kind->calls, "unlink", 6) == 0;
    check_said(attempt);
    if (!removing && count_files(attempt->life.folder, ".part") > 0)
        test_fail(__FILE__, __LINE__, "%s: a part is left", kind->calls);
    /* It may have its name although the folder could not be synced. */
    if (saved || count_files(attempt->life.folder, "-000000000005.nc") == 0)
        check_loads(attempt, saved);
}

IN_ATTEMPT(checkpoint_calls_fail_while_it_is_saved)
{
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);)
        try_saving(attempt, kind);
}

static void leave_mark(struct attempt *attempt)
{
    struct life *life = &attempt->life;

    CHECK(mark_leave(life->folder, 1, attempt->mark, &life->error) == 0);
    life->owner.mark = attempt->mark;
}

IN_ATTEMPT(checkpoint_calls_fail_while_it_is_saved_under_a_mark)
{
    leave_mark(attempt);
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);)
        try_saving(attempt, kind);
}

IN_ATTEMPT(checkpoint_calls_fail_while_weights_are_saved)
{
    const char *folder = attempt->life.folder;

    while (failing_goes_on(&attempt->kind)) {
        clear(folder);
        live(attempt, WHOLE);
        check_said(attempt);
        CHECK(attempt->status != 0 || count_files(folder, ".weights.nc") == 1);
        CHECK(count_files(folder, ".part") == 0 || strcmp(attempt->kind->calls, "unlink") == 0);
    }
}

/* Weights lie there from another worker, or a file system has no links. */
IN_ATTEMPT(checkpoint_weights_are_put_in_place_once)
{
    static const int causes[] = {EPERM, EOPNOTSUPP, ENOSYS};
    const char *folder = attempt->life.folder;

    for (size_t i = 0; i < 2 * sizeof(causes) / sizeof(*causes); i++) {
        clear(folder);
        failing_next("link", causes[i / 2]);
        if (i % 2)
            failing_next("rename", EIO);
        live(attempt, WHOLE);
        CHECK(attempt->status == (i % 2 ? -1 : 0) && count_files(folder, ".weights.nc") == (i % 2 ? 0 : 1));
        CHECK(count_files(folder, ".part") == 0);
    }
    failing_next("link", EIO);
    live(attempt, WHOLE);
    CHECK(attempt->status == -1 && is_said(attempt));
    for (int i = 0; i < 2; i++) {
        live(attempt, WHOLE);
        CHECK(attempt->status == 0 && count_files(folder, ".weights.nc") == 1 &&
              count_files(folder, ".part") == 0);
    }
}

/* The last look at the coordinator's mark, after the file has got its name, finds none: nothing is left. */
IN_ATTEMPT(checkpoint_of_an_outlived_sweep_is_not_left)
{
    struct life *life = &attempt->life;
    int calls = 1, left = -1;

    leave_mark(attempt);
    for (attempt->failed = true; attempt->failed; calls++) {
        clear(life->folder);
        attempt->kind = &(const struct failing_kind){"open", ENOENT};
        attempt->calls = calls;
        live(attempt, BEGIN);
        CHECK(attempt->status == (attempt->failed ? -1 : 0) && count_files(life->folder, ".part") == 0);
        left = attempt->failed ? count_files(life->folder, "000005.nc") : left;
    }
    CHECK(calls > 5 && left == 0);
}

static void remove_mark(void *context)
{
    const struct attempt *attempt = context;

    mark_remove(attempt->life.folder, attempt->mark);
}

/* The sweep ends just after the weights have got their name: another worker may have finished this run
 * meanwhile, and have kept no others. */
IN_ATTEMPT(checkpoint_weights_that_have_their_name_stay)
{
    leave_mark(attempt);
    failing_before(0, "unlink", remove_mark, attempt);
    live(attempt, WHOLE);
    CHECK(mark_look(attempt->life.folder, attempt->mark) == ENOENT);
    CHECK(attempt->status == 0 && count_files(attempt->life.folder, ".weights.nc") == 1);
    CHECK(count_files(attempt->life.folder, ".part") == 0);
}

/* ---- loading ---- */

/* What cannot be read is not used, and not removed. */
IN_ATTEMPT(checkpoint_calls_fail_while_it_is_loaded)
{
    struct life *life = &attempt->life;

    live(attempt, BEGIN);
    CHECK(count_files(life->folder, ".nc") == 2);
    while (failing_goes_on(&attempt->kind)) {
        live(attempt, RESUME);
        check_said(attempt);
        CHECK(attempt->status < 0 || life->resumed_at == 5 || life->resumed_at == 2);
        CHECK(count_files(life->folder, ".nc") == 2);
    }
}

/* Where no file can be read, the run starts anew. */
IN_ATTEMPT(checkpoint_files_that_cannot_be_read_are_kept)
{
    struct life *life = &attempt->life;

    live(attempt, BEGIN);
    failing_always("read", EIO);
    live(attempt, RESUME);
    CHECK(attempt->status == 0 && life->resumed_at == -1);
    CHECK(count_files(life->folder, ".nc") == 2);
    live(attempt, RESUME);
    CHECK(life->resumed_at == 5);
}

/* ---- large ones ---- */

static void count_breath(void *context)
{
    ++*(int *)context;
}

/* Contents of more than BREATH_BYTES are synced on their way. */
IN_ATTEMPT(checkpoint_that_is_large_is_synced_on_its_way)
{
    struct life *life = &attempt->life;
    int breaths = 0;
    const struct breath breath = {count_breath, &breaths};
    static const struct failing_kind kinds[] = {{"nc_sync", EIO}, {"fsync", EIO}, {"nc_put_vara", EIO}};

    life->run.width = 256;
    life->run.feedforward = 1024;
    life->owner.breath = &breath;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++, failing_forget()) {
        attempt->kind = &kinds[i];
        live(attempt, BEGIN);
        CHECK(attempt->failed && attempt->status == -1 && is_said(attempt));
        CHECK(count_files(life->folder, ".part") == 0 && count_files(life->folder, "000005.nc") == 0);
    }
    attempt->kind = NULL;
    live(attempt, BEGIN);
    CHECK(attempt->status == 0 && breaths > 0);
    live(attempt, RESUME);
    CHECK(life->resumed_at == 5);
}

/* ---- the folder's other functions ---- */

/* All of them, one after the other; -1 with the error set. */
static int use_folder(const char *folder, const struct digest *digest, struct error *error)
{
    struct checkpoint_set set = {0};
    char mark[MARK_SIZE] = "";
    int status = mark_leave(folder, 3, mark, error);

    if (status == 0) {
        mark_renew(folder, mark);
        mark_look(folder, mark);
    }
    mark_remove(folder, mark);
    if (status == 0 && checkpoint_set_init(&set, folder, error) != 0)
        status = -1;
    if (status == 0) {
        CHECK(set.count == 1 && set.session == 2 && checkpoint_set_has(&set, digest));
        checkpoint_set_release(&set);
        status = checkpoint_remove(folder, digest, error);
    }
    if (status == 0)
        status = checkpoint_clear(folder, false, error);
    return status;
}

IN_ATTEMPT(checkpoint_calls_fail_in_its_folder)
{
    struct life *life = &attempt->life;

    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        if (count_files(life->folder, ".nc") == 0)
            live(attempt, BEGIN);
        life->error.text[0] = '\0';
        failing_anew(kind->calls, kind->cause);
        int status = use_folder(life->folder, &life->owner.digest, &life->error);
        bool failed = failing_end();
        if (status != 0 && !is_said(attempt))
            test_fail(__FILE__, __LINE__, "%s: '%s'", kind->calls, life->error.text);
        CHECK(status == 0 || failed);
    }
}

/* A folder whose name leaves no room for a file's. */
TEST(mark_in_a_folder_with_a_long_name)
{
    char folder[5000], mark[MARK_SIZE] = "a.mark";
    struct error error = {.text = ""};

    memset(folder, '/', sizeof(folder));
    memcpy(folder + 4090, "usr", 4);
    CHECK(mark_look(folder, mark) == ENAMETOOLONG);
    mark_renew(folder, mark);
    mark_remove(folder, mark);
    CHECK(mark_leave(folder, 1, mark, &error) == -1 && error.status == ERROR_ENVIRONMENT);
    CHECK(mark[0] == '\0');
    mark_remove(folder, mark);
}
