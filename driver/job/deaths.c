#include "driver/job/deaths.h"

#include "driver/dataset/write.h"
#include "driver/job/events.h"
#include "driver/output/folder.h"
#include "driver/sweep/label.h"
#include "driver/text/lines.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct result deaths_result(const struct job *job, int64_t cell, const char *last_words)
{
    struct result result = {.outcome = OUTCOME_FAILED, .diverged_step = -1, .norm_growth = NAN};
    char name[DIGEST_TEXT];
    struct digest digest;

    job_digest(job, cell, &digest);
    digest_format(&digest, name);
    snprintf(result.reason, sizeof(result.reason),
        "its worker died %d times without a checkpoint in between%s%.40s; see %.90s/%s.log", DEATHS_MOST,
        last_words[0] ? ", " : "", last_words, job->folder, name);
    return result;
}

static bool is_run(const struct job *job, int64_t cell, const char *name)
{
    char own[DIGEST_TEXT];
    struct digest digest;

    if (cell < 0 || cell >= job->sweep->cells || dataset_outcomes(job->dataset)[cell] != OUTCOME_PENDING)
        return false;
    job_digest(job, cell, &digest);
    digest_format(&digest, own);
    return strcmp(own, name) == 0;
}

/* The pending cell of a run; -1: none. Its number is another one if the grid has grown since. */
static int64_t find_cell(const struct job *job, const struct log_death *told)
{
    if (is_run(job, told->cell, told->run))
        return told->cell;
    for (int64_t cell = 0; cell < job->sweep->cells; cell++)
        if (is_run(job, cell, told->run))
            return cell;
    return -1;
}

struct counting {
    struct job *job;
    struct error *error;
    int status;
};

static struct unseen_death *keep_death(struct job *job, const struct log_death *told, int64_t cell)
{
    size_t size = ((size_t)job->unseen_count + 1) * sizeof(*job->unseen);
    struct unseen_death *more = realloc(job->unseen, size);

    if (!more)
        return NULL;
    job->unseen = more;
    job->unseen[job->unseen_count] = (struct unseen_death){*told, cell, false};
    return &job->unseen[job->unseen_count++];
}

static int count_death(struct counting *counting, struct unseen_death *death)
{
    struct job *job = counting->job;
    int deaths = dataset_deaths(job->dataset)[death->cell] + 1;
    char label[LABEL_SIZE];

    lines_print(stderr, 0, "%s: an earlier start lost worker %lld on %s, %s, in %s", job->sweep->output,
        (long long)death->told.worker, death->told.host, death->told.last,
        label_cell(job->sweep, death->cell, label));
    if (dataset_put_earlier_deaths(
            job->dataset, death->cell, deaths, death->told.session, death->told.host, counting->error) != 0)
        return -1;
    death->failed = deaths == DEATHS_MOST;
    if (!death->failed)
        return 0;
    struct result failed = deaths_result(job, death->cell, death->told.last);
    return dataset_fail_earlier(job->dataset, death->cell, &failed, counting->error);
}

/* Logs of starts before the last one are out of date: its runs have gone on since. */
static bool is_of_last_start(const struct job *job, const struct log_death *told)
{
    return told->session >= dataset_session(job->dataset) - 1;
}

/* MPI libraries abort a process whose neighbour has crashed: beside another crash SIGABRT blames no run. */
static bool is_at_fault(const struct log_death *told)
{
    return told->signal != SIGABRT || told->alone;
}

/* An attempt at a run counts once, however many logs tell of it. */
static bool is_counted(const struct job *job, int64_t cell)
{
    for (int64_t i = 0; i < job->unseen_count; i++)
        if (job->unseen[i].cell == cell)
            return true;
    return false;
}

static bool take_death(void *context, const struct log_death *told)
{
    struct counting *counting = context;
    struct job *job = counting->job;
    bool counts = counting->status == 0 && is_of_last_start(job, told) && is_at_fault(told);
    int64_t cell = counts ? find_cell(job, told) : -1;

    if (cell < 0)
        return false;
    if (is_counted(job, cell))
        return true;
    struct unseen_death *death = keep_death(job, told, cell);
    if (!death)
        counting->status = error_set(counting->error, ERROR_ENVIRONMENT, "%s: no memory", job->sweep->output);
    else
        counting->status = count_death(counting, death);
    return true;
}

int deaths_count(struct job *job, struct error *error)
{
    struct counting counting = {job, error, 0};

    if (dataset_session(job->dataset) == 0) /* the logs are of a dataset that was removed */
        return 0;
    log_each_death(job->folder, take_death, &counting);
    if (counting.status != 0 || job->unseen_count == 0)
        return counting.status;
    if (dataset_commit(job->dataset, error) != 0)
        return -1;
    lease_tell_kept(job->lease); /* each death brings its run nearer to an end, so starts are not in vain */
    return 0;
}

static bool take_any(void *context, const struct log_death *told)
{
    (void)context, (void)told;
    return true;
}

void deaths_forgive(const char *output)
{
    char *folder = folder_of(output);

    if (folder)
        log_each_death(folder, take_any, NULL);
    free(folder);
}

void deaths_tell(struct job *job)
{
    for (int64_t i = 0; i < job->unseen_count; i++) {
        const struct unseen_death *death = &job->unseen[i];
        int worker = (int)death->told.worker - 1;
        events_worker_lost(
            job, worker, death->told.host, (int)death->told.rank, death->cell, death->told.last);
        if (!death->failed)
            continue;
        struct result failed = deaths_result(job, death->cell, death->told.last);
        events_run_ended(job, worker, death->cell, &failed);
    }
    journal_commit(job->journal, true);
}
