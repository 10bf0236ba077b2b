/* When checkpoints are made, and what becomes of them. */
#include "tests/failing.h"
#include "tests/test.h"
#include "tests/worker/checkpoint/life.h"

#include "worker/checkpoint/inside.h"

TEST(keeper_says_when)
{
    const struct digest digest = {1, 2};
    struct keeper keeper = {.folder = "no such folder", .interval = 10};
    double begin;

    keeper_begin(&keeper, &digest, 3, false);
    begin = keeper.saved_at;
    CHECK(keeper_verdict(&keeper, 1, false, begin + 9) == VERDICT_CARRY_ON);
    CHECK(keeper_verdict(&keeper, 1, false, begin + 11) == VERDICT_SAVE);
    CHECK(keeper_verdict(&keeper, 1, true, begin) == VERDICT_SAVE_AND_STOP);
    CHECK(keeper_verdict(&keeper, 0, true, begin + 11) == VERDICT_STOP); /* nothing done, nothing to save */
    CHECK(keeper_verdict(&keeper, 0, false, begin + 11) == VERDICT_CARRY_ON);
    keeper.saved_step = 4;
    CHECK(keeper_verdict(&keeper, 4, true, begin) == VERDICT_STOP);
    CHECK(keeper_verdict(&keeper, 4, false, begin + 11) == VERDICT_CARRY_ON);
    CHECK(keeper_verdict(&keeper, 5, true, begin) == VERDICT_SAVE_AND_STOP);
    snprintf(keeper.failed.text, sizeof(keeper.failed.text), "no space");
    CHECK(keeper_verdict(&keeper, 6, false, begin) == VERDICT_STOP);
    keeper_begin(&keeper, &digest, 4, true);
    CHECK(keeper.resume && keeper.saved_step == -1 && keeper.failed.text[0]);
}

static enum verdict keep_all(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    (void)last_step, (void)tokens;
    return keeper_verdict(context, step, step == 6, 1e30);
}

static bool resume_kept(void *context, struct snapshot *snapshot)
{
    return keeper_resume(context, snapshot);
}

static void save_kept(void *context, const struct snapshot *snapshot)
{
    keeper_save(context, snapshot);
}

static void finish_kept(void *context, const struct snapshot *snapshot)
{
    keeper_finish(context, snapshot);
}

/* A worker that was given up and wakes saves under its own, older name: it takes nothing from who has the
 * run. */
static void save_late(struct life *life, struct keeper *keeper, const struct observer *observer)
{
    const struct keeper current = *keeper;

    keeper->session--;
    keeper_begin(keeper, &life->owner.digest, 9, false);
    train(&life->run, &life->corpus, &life->measure, observer, &life->arena, &life->result);
    CHECK(life->result.outcome == OUTCOME_PENDING && !keeper->failed.text[0]);
    *keeper = current;
}

/* Whose checkpoints are older than a run's own two have had their day, whether or not the keeper knew of
 * them. */
IN_LIFE(keeper_keeps_a_run)
{
    static struct life undisturbed;
    struct keeper keeper = {.folder = life->folder, .session = 3, .interval = 1};
    struct observer observer = {
        .context = &keeper, .carry_on = keep_all, .save = save_kept, .finish = finish_kept};
    char stray[160], path[160];

    life_init(&undisturbed);
    life_train(&undisturbed);
    life->stop_call = 3;
    life_train(life);
    life_path(life, 1, stray);
    CHECK(file_exists(stray));
    life->run.save_weights = true;
    keeper_begin(&keeper, &life->owner.digest, 1, false);
    train(&life->run, &life->corpus, &life->measure, &observer, &life->arena, &life->result);
    CHECK(life->result.outcome == OUTCOME_PENDING && keeper.saved_step == 6 && !keeper.failed.text[0]);
    save_late(life, &keeper, &observer);
    life->owner.session = 3;
    life->owner.ticket = 1;
    CHECK(!file_exists(stray) && file_exists(life_path(life, 6, path)));
    CHECK(file_exists(life_path(life, 5, path)) && !file_exists(life_path(life, 4, path)));
    keeper_begin(&keeper, &life->owner.digest, 2, true);
    observer.resume = resume_kept;
    observer.carry_on = NULL;
    train(&life->run, &life->corpus, &life->measure, &observer, &life->arena, &life->result);
    CHECK(life->result.outcome == OUTCOME_DONE && keeper.saved_step == 6 && !keeper.failed.text[0]);
    CHECK(memcmp(&life->result.norm_growth, &undisturbed.result.norm_growth, sizeof(double)) == 0);
    snprintf(path, sizeof(path), "%s/0123456789abcdef0000000000000007.weights.nc", life->folder);
    CHECK(file_exists(path) && seal_check(path, NULL) == 0);
    life_release(&undisturbed);
}

/* Weights that cannot be saved are the machine's failure, not the run's. */
IN_LIFE(keeper_keeps_the_first_error)
{
    struct keeper keeper = {.folder = "/no/such/place", .interval = 1};
    struct observer observer = {.context = &keeper, .finish = finish_kept};

    life->run.save_weights = true;
    keeper_begin(&keeper, &life->owner.digest, 1, false);
    train(&life->run, &life->corpus, &life->measure, &observer, &life->arena, &life->result);
    CHECK(life->result.outcome == OUTCOME_DONE && keeper.failed.status == ERROR_ENVIRONMENT);
    CHECK_TEXT(keeper.failed.text,
        "/no/such/place/0123456789abcdef0000000000000007.weights.nc: No such file or directory");
}

/* ---- states for longer runs ---- */

/* A keeper, and where its run was resumed; -1: it began anew. */
struct shared {
    struct keeper *keeper;
    int64_t resumed_at;
};

static bool resume_shared(void *context, struct snapshot *snapshot)
{
    struct shared *shared = context;
    bool resumed = keeper_resume(shared->keeper, snapshot);

    shared->resumed_at = resumed ? snapshot->step : -1;
    return resumed;
}

static void keep_shared(void *context, const struct snapshot *snapshot)
{
    keeper_keep(((struct shared *)context)->keeper, snapshot);
}

static void fail_with_line(void *context, const char *line)
{
    (void)context;
    test_fail(__FILE__, __LINE__, "%s", line);
}

/* Trains the life's run of so many steps; returns where it was resumed, or -1. */
static int64_t train_shared(struct life *life, int64_t steps)
{
    struct keeper keeper = {.folder = life->folder, .interval = 1e9, .say = fail_with_line};
    const struct digest own = {0xabc, (uint64_t)steps}, trunk = {0xdef, 1};
    struct shared shared = {&keeper, -1};
    const struct observer observer = {.context = &shared, .resume = resume_shared, .keep = keep_shared};

    life->run.steps = steps;
    keeper_begin(&keeper, &own, 1, false);
    keeper_share(&keeper, &trunk);
    CHECK(keeper.resume);
    train(&life->run, &life->corpus, &life->measure, &observer, &life->arena, &life->result);
    CHECK(life->result.outcome == OUTCOME_DONE && !keeper.failed.text[0]);
    return shared.resumed_at;
}

static void remove_states(void *context)
{
    const struct life *life = context;
    const struct digest trunk = {0xdef, 1};
    struct error error;
    char folder[SCRATCH_PATH + 16];

    snprintf(folder, sizeof(folder), "%s/" KEEPER_STATES, life->folder);
    CHECK(checkpoint_remove(folder, &trunk, &error) == 0);
}

static void remove_states_and_folder(struct life *life)
{
    char folder[SCRATCH_PATH + 16];

    remove_states(life);
    snprintf(folder, sizeof(folder), "%s/" KEEPER_STATES, life->folder);
    CHECK(rmdir(folder) == 0);
}

IN_LIFE(keeper_shares_states_of_shorter_runs)
{
    static struct life whole;

    life_init(&whole);
    life->run.save_weights = SAVE_STATE;
    whole.run.steps = 14;
    life_train(&whole);
    CHECK(train_shared(life, 7) == -1);
    CHECK(train_shared(life, 5) == -1); /* a state of step 7 is not one of a run of 5 */
    CHECK(train_shared(life, 14) == 7);
    CHECK(memcmp(&life->result.norm_growth, &whole.result.norm_growth, sizeof(double)) == 0);
    CHECK(life->result.tokens == whole.result.tokens && life->result.measured == whole.result.measured);
    CHECK(train_shared(life, 14) == 14); /* its own, as if it were tried again */
    remove_states_and_folder(life);
    life_release(&whole);
}

/* A run of 14 steps on the same trunk, in the same folder, from its start to its end. */
static void train_longer_sibling(void *context)
{
    struct life *life = context;

    CHECK(train_shared(life, 14) == -1); /* the state of step 7 is not whole yet */
}

/* An unfinished save of a state; returns its path. */
static const char *begin_part(const struct life *life, int64_t step, uint64_t ticket, char path[200])
{
    const struct checkpoint_name name = {{0xdef, 1}, step, ticket, step};
    char text[CHECKPOINT_NAME_SIZE];

    snprintf(path, 200, "%s/" KEEPER_STATES "/%s" PART_SUFFIX, life->folder, checkpoint_format(&name, text));
    put_text(path, "");
    return path;
}

/* A worker saves the state of step 7 while another one trains the run of 14 steps, and saves its state. */
IN_LIFE(keeper_leaves_states_of_other_runs_alone)
{
    static struct life sibling;
    char own[sizeof(life->folder)], other[200], earlier[200];

    life_init(&sibling);
    memcpy(own, sibling.folder, sizeof(own));
    memcpy(sibling.folder, life->folder, sizeof(own));
    life->run.save_weights = sibling.run.save_weights = SAVE_STATE;
    failing_before(0, "rename", train_longer_sibling, &sibling);
    CHECK(train_shared(life, 7) == -1);
    CHECK(failing_end() && sibling.result.outcome == OUTCOME_DONE);
    CHECK(train_shared(&sibling, 8) == 7 && train_shared(&sibling, 15) == 14);
    begin_part(life, 12, 9, other);
    begin_part(life, 16, 0, earlier); /* of a worker that had the run before */
    CHECK(train_shared(life, 16) == 15);
    CHECK(file_exists(other) && !file_exists(earlier));
    remove_states_and_folder(life);
    memcpy(sibling.folder, own, sizeof(own));
    life_release(&sibling);
}

/* A state that another worker has replaced by newer ones since the folder was read is not worth a line. */
IN_LIFE(keeper_says_nothing_of_a_state_that_has_gone)
{
    life->run.save_weights = SAVE_STATE;
    CHECK(train_shared(life, 7) == -1);
    failing_before(0, "open", remove_states, life); /* as soon as a state is opened */
    CHECK(train_shared(life, 14) == -1);
    CHECK(failing_end());
    remove_states_and_folder(life);
}

/* Of wsd the state is of the step before the rate falls: 0.8 * 7 = 5.6. */
IN_LIFE(keeper_shares_the_stable_part)
{
    static struct life whole;

    life_init(&whole);
    life->run.save_weights = SAVE_STATE;
    life->run.schedule = whole.run.schedule = SCHEDULE_WSD;
    whole.run.steps = 14;
    life_train(&whole);
    CHECK(train_shared(life, 7) == -1);
    CHECK(train_shared(life, 14) == 5);
    CHECK(memcmp(&life->result.norm_growth, &whole.result.norm_growth, sizeof(double)) == 0);
    remove_states_and_folder(life);
    life->run.schedule = SCHEDULE_LINEAR; /* falls from step 1 on: there is nothing to keep */
    CHECK(train_shared(life, 7) == -1);
    CHECK(train_shared(life, 14) == -1);
    life_release(&whole);
}
