/* When checkpoints are made, and what becomes of them. */
#include "tests/test.h"
#include "tests/worker/checkpoint/life.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "worker/checkpoint/keeper.h"
#include "worker/checkpoint/seal.h"

TEST(keeper_says_when)
{
    const struct digest digest = {1, 2};
    struct keeper keeper = {.folder = "no such folder", .interval = 10};
    double begin;

    keeper_begin(&keeper, &digest, 3, false);
    begin = keeper.saved_at;
    CHECK(!keeper_has_saved(&keeper));
    CHECK(!keeper_due(&keeper, begin + 9) && keeper_due(&keeper, begin + 11));
    CHECK(keeper_verdict(&keeper, 1, false, begin + 9) == VERDICT_CARRY_ON);
    CHECK(keeper_verdict(&keeper, 1, false, begin + 11) == VERDICT_SAVE);
    CHECK(keeper_verdict(&keeper, 1, true, begin) == VERDICT_SAVE_AND_STOP);
    CHECK(keeper_verdict(&keeper, 0, true, begin + 11) == VERDICT_STOP); /* nothing done, nothing to save */
    CHECK(keeper_verdict(&keeper, 0, false, begin + 11) == VERDICT_CARRY_ON);
    keeper.saved_step = 4;
    CHECK(keeper_has_saved(&keeper));
    CHECK(keeper_verdict(&keeper, 4, true, begin) == VERDICT_STOP);
    CHECK(keeper_verdict(&keeper, 4, false, begin + 11) == VERDICT_CARRY_ON);
    CHECK(keeper_verdict(&keeper, 5, true, begin) == VERDICT_SAVE_AND_STOP);
    snprintf(keeper.failed.text, sizeof(keeper.failed.text), "no space");
    CHECK(keeper_verdict(&keeper, 6, false, begin) == VERDICT_STOP);
    keeper_begin(&keeper, &digest, 4, true);
    CHECK(keeper_has_saved(&keeper) && keeper.saved_step == -1 && keeper.failed.text[0]);
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
TEST(keeper_keeps_a_run)
{
    static struct life life, undisturbed;
    struct keeper keeper = {.folder = life.folder, .session = 3, .interval = 1};
    struct observer observer = {
        .context = &keeper, .carry_on = keep_all, .save = save_kept, .finish = finish_kept};
    char stray[160], path[160];

    life_init(&undisturbed);
    life_train(&undisturbed);
    life_init(&life);
    life.stop_call = 3;
    life_train(&life);
    life_path(&life, 1, stray);
    CHECK(access(stray, F_OK) == 0);
    life.run.save_weights = true;
    keeper_begin(&keeper, &life.owner.digest, 1, false);
    train(&life.run, &life.corpus, &life.measure, &observer, &life.arena, &life.result);
    CHECK(life.result.outcome == OUTCOME_PENDING && keeper.saved_step == 6 && !keeper.failed.text[0]);
    save_late(&life, &keeper, &observer);
    life.owner.session = 3;
    life.owner.ticket = 1;
    CHECK(access(stray, F_OK) != 0 && access(life_path(&life, 6, path), F_OK) == 0);
    CHECK(access(life_path(&life, 5, path), F_OK) == 0 && access(life_path(&life, 4, path), F_OK) != 0);
    keeper_begin(&keeper, &life.owner.digest, 2, true);
    observer.resume = resume_kept;
    observer.carry_on = NULL;
    train(&life.run, &life.corpus, &life.measure, &observer, &life.arena, &life.result);
    CHECK(life.result.outcome == OUTCOME_DONE && keeper.saved_step == 6 && !keeper.failed.text[0]);
    CHECK(memcmp(&life.result.norm_growth, &undisturbed.result.norm_growth, sizeof(double)) == 0);
    snprintf(path, sizeof(path), "%s/0123456789abcdef0000000000000007.weights.nc", life.folder);
    CHECK(access(path, F_OK) == 0 && seal_check(path, NULL) == 0);
    life_release(&life);
    life_release(&undisturbed);
}

/* Weights that cannot be saved are the machine's failure, not the run's. */
TEST(keeper_keeps_the_first_error)
{
    static struct life life;
    struct keeper keeper = {.folder = "/no/such/place", .interval = 1};
    struct observer observer = {.context = &keeper, .finish = finish_kept};

    life_init(&life);
    life.run.save_weights = true;
    keeper_begin(&keeper, &life.owner.digest, 1, false);
    train(&life.run, &life.corpus, &life.measure, &observer, &life.arena, &life.result);
    CHECK(life.result.outcome == OUTCOME_DONE && keeper.failed.status == ERROR_ENVIRONMENT);
    CHECK_TEXT(keeper.failed.text,
        "/no/such/place/0123456789abcdef0000000000000007.weights.nc: No such file or directory");
    life_release(&life);
}
