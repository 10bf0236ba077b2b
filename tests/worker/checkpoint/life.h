#ifndef NORMSWEEP_TESTS_WORKER_CHECKPOINT_LIFE_H
#define NORMSWEEP_TESTS_WORKER_CHECKPOINT_LIFE_H

#include "tests/scratch.h"
#include "tests/worker/small_run.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/train/train.h"

enum { LIFE_ROWS = 16, LIFE_VALUES = 2048, LIFE_WEIGHTS = 1 << 16, LIFE_SAID = 4096, LIFE_CALLS = 1024 };

/* A small run, in a folder of its own, that can be stopped, saved and resumed; and all that it gives. */
struct life {
    struct run run;
    struct corpus corpus;
    struct measure measure;
    struct arena arena;
    struct checkpoint_owner owner;
    char folder[SCRATCH_PATH];

    /* carry_on's answers, by the number of the call from 1; 0: never */
    int64_t stop_call, save_call;
    bool resumes; /* from what is in the folder */

    /* what the last life has given */
    int64_t calls, resumed_at /* -1: it began anew */;
    int64_t asked[LIFE_CALLS]; /* the step of each call, [calls] of them */
    int64_t row_count, row_step[LIFE_ROWS];
    double row[LIFE_ROWS][LIFE_VALUES];
    scalar weights[LIFE_WEIGHTS]; /* the final ones */
    struct result result;
    struct error error; /* of the last save or load; text "": none */
    double saved_seconds; /* of the run when it was last saved */
    char said[LIFE_SAID];
};

/* Seven steps, measured every 2 and validated every 3 in several batches. */
void life_init(struct life *life);
void life_release(struct life *life); /* removes the folder, too */

#define IN_LIFE(id) TEST_IN(id, struct life, life, life_init(life), life_release(life))

/* One life of the run: until it ends or is stopped. */
void life_train(struct life *life);

/* Do two runs, both at their end, agree bit for bit? */
bool life_equal(const struct life *a, const struct life *b);

/* "FOLDER/NAME" of the checkpoint at a step. */
char *life_path(const struct life *life, int64_t step, char text[160]);

#endif
