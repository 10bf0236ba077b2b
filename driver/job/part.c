/*
 * A sweep that is divided into parts, each trained by a `run --part I/N` of its own, into a dataset of its
 * own that is laid out for the whole sweep. The runs are dealt out like cards, in the order in which a
 * coordinator would hand them out: so parts take about equally long, and each of them begins with a coarse
 * grid. Runs that share steps come into one part. The order follows from the sweep file and the corpus alone.
 * The dataset records a digest of the sweep and of this order, by which parts of another division are
 * recognised: a sweep that has grown deals its runs out anew.
 */
#include "driver/job/job.h"
#include "driver/schedule/schedule.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"

#include <stdlib.h>

static int in_order(const void *a, const void *b)
{
    return pending_run_compare(a, b);
}

void job_divide(struct sweep *sweep, const struct corpus *corpus)
{
    struct pending_run *run = memory_new((size_t)sweep->cells, sizeof(*run));
    char text[DIGEST_TEXT];
    struct digest digest;
    struct trunks *trunks = trunks_new(sweep, corpus);
    int64_t count = 0, step;
    struct walk walk;

    walk_init(&walk, sweep);
    for (; walk_next(&walk); count++)
        run[count] = (struct pending_run){.cell = walk.cell,
            .cost = train_cost(&walk.run, corpus, &sweep->measure),
            .turn = sweep_turn(sweep, walk.cell)};
    qsort(run, (size_t)count, sizeof(*run), in_order);
    sweep_digest(sweep, corpus, &digest);
    sweep->part_of = memory_zero((size_t)sweep->cells, sizeof(*sweep->part_of));
    for (int64_t i = 0, dealt = 0; i < count; i++) {
        int64_t cell = run[i].cell, first = cell;
        for (int64_t other; (other = trunks_before(trunks, first, &step)) >= 0;)
            first = other;
        if (!sweep->part_of[first])
            sweep->part_of[first] = (int)(dealt++ % sweep->parts) + 1;
        sweep->part_of[cell] = sweep->part_of[first];
        digest_add(&digest, &run[i].cell, sizeof(run[i].cell));
    }
    digest_format(&digest, text);
    sweep->part_text = memory_format("%d/%d %s", sweep->part, sweep->parts, text);
    trunks_free(trunks);
    free(run);
}
