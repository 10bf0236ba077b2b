/* normsweep plan: estimates the time, memory and disk space of a sweep. */
#include "driver/plan/plan.h"
#include "driver/commands/inside.h"
#include "driver/dataset/extend/extend.h"
#include "driver/output/output.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"
#include "model/core/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* About as long as a user waits before wondering whether the program works. */
#define SAMPLE_SECONDS 12

/* For tests, which do not judge the times: NORMSWEEP_PLAN_SECONDS shortens the sampling. */
static double sample_seconds(void)
{
    const char *asked = getenv("NORMSWEEP_PLAN_SECONDS");
    double seconds = asked ? strtod(asked, NULL) : SAMPLE_SECONDS;

    return seconds > 0 && seconds < SAMPLE_SECONDS ? seconds : SAMPLE_SECONDS;
}

/* "12.3 MiB" */
static const char *format_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;

    while (bytes >= 1024 && unit < 5) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, 32, "%.4g %s", bytes, units[unit]);
    return text;
}

/* "1.5 minutes" */
static const char *format_time(double seconds, char text[32])
{
    if (seconds < 120)
        snprintf(text, 32, "%.3g s", seconds);
    else if (seconds < 7200)
        snprintf(text, 32, "%.3g minutes", seconds / 60);
    else
        snprintf(text, 32, "%.4g hours", seconds / 3600);
    return text;
}

static void print_grid(const struct sweep *sweep, const struct estimate *estimate)
{
    printf("%-12s", "axes");
    for (int64_t i = 0; i < sweep->axis_count; i++)
        printf("%s%s %lld", i ? " x " : "", sweep->axis[i].name, (long long)sweep->axis[i].length);
    puts(sweep->axis_count ? "" : "none");
    if (sweep->refine.kind != REFINE_NONE && estimate->runs == estimate->ended) {
        printf("%-12s0 to train: the search has ended\n", "runs");
        return;
    }
    printf("%-12s%s%lld", "runs", estimate->searched ? "about " : "", (long long)estimate->runs);
    if (estimate->searched)
        printf(" of %lld, chosen by refine", (long long)estimate->searched);
    if (estimate->skipped)
        printf(", %lld cells skipped", (long long)estimate->skipped);
    if (estimate->ended)
        printf("; %lld of %lld have ended; %lld to train", (long long)estimate->ended,
            (long long)estimate->runs, (long long)(estimate->runs - estimate->ended));
    putchar('\n');
}

static void print_span(const char *name, double low, double high, const char *unit)
{
    if (low < high)
        printf("%-12s%.10g to %.10g%s\n", name, low, high, unit);
    else
        printf("%-12s%.10g%s\n", name, high, unit);
}

struct span {
    double low, high;
};

static struct span span_of(const struct estimate *estimate,
    double (*value)(const struct cost_group *, const void *), const void *context)
{
    struct span span = {INFINITY, -INFINITY};

    for (int64_t i = 0; i < estimate->group_count; i++) {
        double x = value(&estimate->group[i], context);
        span.low = x < span.low ? x : span.low;
        span.high = x > span.high ? x : span.high;
    }
    return span;
}

static double parameters_of(const struct cost_group *group, const void *context)
{
    const struct corpus *corpus = context;
    struct architecture architecture = run_architecture(&group->run, corpus->vocabulary);

    return (double)architecture_parameters(&architecture);
}

static double steps_of(const struct cost_group *group, const void *context)
{
    (void)context;
    return (double)group->last_step;
}

static double memory_of(const struct cost_group *group, const void *context)
{
    (void)context;
    return (double)group->memory;
}

static double step_milliseconds_of(const struct cost_group *group, const void *context)
{
    (void)context;
    return 1e3 * group->seconds[PART_STEP];
}

struct planned {
    const struct sweep *sweep;
    const struct corpus *corpus;
};

/* Without mapped files, whose pages the system may drop. */
static double text_bytes(const struct text *text)
{
    double tokens = text->tokens ? (double)text->token_count : 0;
    double lines = (double)text->line_count * (text->source ? 2 : 1);

    return tokens * sizeof(*text->tokens) + lines * sizeof(*text->line);
}

static double corpus_bytes(const struct corpus *corpus)
{
    return text_bytes(&corpus->train) + text_bytes(&corpus->valid);
}

/* All workers are assumed to be on this machine, although the plan may be for several. */
static void print_memory(const struct corpus *corpus, const struct estimate *estimate)
{
    struct span memory = span_of(estimate, memory_of, NULL);
    double all = estimate->workers * memory.high + corpus_bytes(corpus), there = (double)limits()->memory;
    char text[32];

    printf("%-12s%s", "memory", format_bytes(memory.low, text));
    if (memory.low < memory.high)
        printf(" to %s", format_bytes(memory.high, text));
    if (corpus->train.mapped)
        printf(" per rank; the corpus stays in its files, %s",
            format_bytes((double)corpus->train_file.size + (double)corpus->valid_file.size, text));
    else
        printf(" per rank, and %s for the corpus%s", format_bytes(corpus_bytes(corpus), text),
            corpus->file >= 0 ? ", once per machine" : "");
    if (all > there) {
        printf("; %d workers may need %s", estimate->workers, format_bytes(all, text));
        printf(", this machine has %s", format_bytes(there, text));
    }
    putchar('\n');
}

/* An upper bound: weights, two moments, the weights of the last measurement, and the rows. */
static double checkpoint_bytes_of(const struct cost_group *group, const void *context)
{
    const struct planned *planned = context;
    double rows = (double)measure_rows(&planned->sweep->measure, group->last_step, NULL);

    return 4 * parameters_of(group, planned->corpus) * sizeof(scalar) +
           rows * (double)metric_form(&group->run, &planned->sweep->measure).row_size * sizeof(double);
}

/* Each run under way has two checkpoints, and a third while it is being written. */
static void print_checkpoints(
    const struct sweep *sweep, const struct corpus *corpus, const struct estimate *estimate)
{
    struct planned planned = {sweep, corpus};
    double each = span_of(estimate, checkpoint_bytes_of, &planned).high;
    char text[32];

    lines_print(stdout, 0, "%-12sup to %s in %s.d while it runs", "checkpoints",
        format_bytes(3 * each * estimate->workers, text), sweep->output);
    if (sweep->base.save_weights == SAVE_STATE) /* two are kept of each run that has grown more than once */
        lines_print(stdout, 0, "%-12sup to %s in %s.d", "states",
            format_bytes(2 * each * (double)estimate->runs, text), sweep->output);
}

/* What `run` would refuse on this machine; the sweep may be for another. */
static void print_folder_fault(const char *output)
{
    char *folder = output_folder(output);
    int cause = folder ? output_folder_fault(folder) : 0;

    if (cause) {
        fputs("; the folder ", stdout);
        lines_put(stdout, folder);
        printf(" cannot be written here: %s", strerror(cause));
    }
    putchar('\n');
    free(folder);
}

/* Corpora that consist of sequences are counted in them, others in tokens. */
static void print_corpus(const struct sweep *sweep, const struct corpus *corpus)
{
    const struct text *train = &corpus->train, *valid = &corpus->valid;
    bool streams = corpus_kind_table[sweep->base.corpus].uses & USES_SEQUENCES;
    const char *unit = streams ? "tokens" : train->source ? "pairs" : "sums";
    long long left_out = train->left_out + valid->left_out;

    printf("%-12s%lld words; %lld training %s, %lld for validation", "corpus", (long long)corpus->vocabulary,
        (long long)(streams ? train->token_count : train->line_count), unit,
        (long long)(streams ? valid->token_count : valid->line_count));
    if (left_out)
        printf("; %lld pair%s with an empty side left out", left_out, left_out == 1 ? "" : "s");
    sweep_print_unknown(corpus, stdout);
    putchar('\n');
}

static void print_sizes(
    const struct sweep *sweep, const struct corpus *corpus, const struct estimate *estimate)
{
    struct span parameters = span_of(estimate, parameters_of, corpus);
    struct span steps = span_of(estimate, steps_of, NULL);
    char text[32];

    print_corpus(sweep, corpus);
    print_span("parameters", parameters.low, parameters.high, "");
    print_span("steps", steps.low, steps.high, " per run");
    print_memory(corpus, estimate);
    print_checkpoints(sweep, corpus, estimate);
    if (sweep->base.save_weights)
        lines_print(stdout, 0, "%-12sup to %s in %s.d", "weights",
            format_bytes((double)estimate->runs * parameters.high * sizeof(scalar), text), sweep->output);
    double bytes = dataset_size(sweep, corpus);
    printf("%-12s%s, ", "dataset", isnan(bytes) ? "of unknown size" : format_bytes(bytes, text));
    lines_put(stdout, sweep->output);
    print_folder_fault(sweep->output);
}

static void print_times(const struct estimate *estimate)
{
    struct span step = span_of(estimate, step_milliseconds_of, NULL);
    char note[160], text[32];

    snprintf(note, sizeof(note), " ms, %lld of %lld kinds of run measured, %d at once",
        (long long)estimate->timed, (long long)estimate->group_count, estimate->at_once);
    if (step.low < step.high)
        printf("%-12s%.4g to %.4g%s\n", "step", step.low, step.high, note);
    else
        printf("%-12s%.4g%s\n", "step", step.high, note);
    for (enum cost_part part = 0; part < PART_COUNT; part++)
        if (part <= PART_VALIDATE || estimate->part[part] > 0)
            printf("%s%s %.1f %%", part ? ", " : "parts       ", cost_part_names[part],
                100 * estimate->part[part]);
    putchar('\n');
    printf("%-12s%s on %d worker%s", "time", format_time(estimate->makespan, text), estimate->workers,
        estimate->workers == 1 ? "" : "s");
    printf(", %s of one core%s\n", format_time(estimate->core_seconds, text),
        estimate->at_once < estimate->workers ? "; assumes a processor for each worker" : "");
}

struct length {
    const struct measure *measure;
    bool validated;
};

static double run_seconds_of(const struct cost_group *group, const void *context)
{
    const struct length *length = context;

    return cost_group_seconds(group, length->measure, length->validated);
}

/* Values for scripts. core_seconds and longest_seconds let a script plan with another number of workers. */
static void print_values(
    const struct sweep *sweep, const struct corpus *corpus, const struct estimate *estimate)
{
    struct length length = {&sweep->measure, corpus->valid.token_count > 0};

    printf("cells=%lld\n", (long long)sweep->cells);
    printf("runs=%lld\n", (long long)estimate->runs);
    printf("workers=%d\n", estimate->workers);
    printf("seconds=%.3f\n", estimate->makespan);
    printf("core_seconds=%.3f\n", estimate->core_seconds);
    printf("longest_seconds=%.3f\n", span_of(estimate, run_seconds_of, &length).high);
    printf("checkpoint_seconds=%.3f\n", 60 * sweep->checkpoint_minutes);
    printf("memory_bytes=%.0f\n", span_of(estimate, memory_of, NULL).high);
    quote_put_output(sweep->output);
}

static void print_longer(const struct sweep *sweep, const struct longer *longer)
{
    char *old = longer_old(sweep->output, longer->shorter);

    lines_print(stdout, 0,
        "%-12sfrom %lld steps: %lld of %lld runs carry on; the dataset of the shorter sweep becomes %s",
        "grows", (long long)longer->shorter, (long long)longer->kept, (long long)longer->runs,
        old ? old : "");
    free(old);
}

static void print_plan(const struct sweep *sweep, const struct corpus *corpus, const struct longer *longer,
    const struct estimate *estimate)
{
    print_grid(sweep, estimate);
    if (longer->shorter)
        print_longer(sweep, longer);
    if (estimate->runs == estimate->ended)
        return;
    print_sizes(sweep, corpus, estimate);
    print_times(estimate);
}

/* The runs [cells] that need not be trained again, and whether steps grows; NULL: there is no dataset. All
 * count as ended if a search has left out every cell that did not end. Warns if `run` would refuse the
 * dataset that exists. */
static bool *find_ended(const struct sweep *sweep, const struct corpus *corpus, struct longer *longer)
{
    struct start_plan start;
    struct error refusal;
    bool searched = sweep->refine.kind != REFINE_NONE;
    mode_t kind;

    *longer = (struct longer){0};
    if (output_exists(sweep->output, &kind) <= 0) /* nothing that could be read */
        return NULL;
    if (start_plan_make(&start, sweep->output, sweep, corpus, &(struct dataset_options){0}, &refusal) != 0) {
        fprintf(stderr, "%s\n", refusal.text);
        return NULL;
    }
    bool *ended = calloc((size_t)sweep->cells + 1, sizeof(*ended));
    for (int64_t cell = 0; ended && cell < sweep->cells; cell++) {
        signed char before = start.before[cell];
        ended[cell] = before >= OUTCOME_DONE && before != OUTCOME_SKIPPED;
        searched = searched && (ended[cell] || before == OUTCOME_SKIPPED);
    }
    for (int64_t cell = 0; ended && searched && cell < sweep->cells; cell++)
        ended[cell] = true;
    *longer = start.longer;
    start_plan_release(&start);
    return ended;
}

/* Values are of the whole sweep: a script subtracts what has ended. */
static int plan(const struct sweep *sweep, int workers, bool values, struct error *error)
{
    struct corpus corpus;
    struct estimate estimate;
    struct longer longer;
    struct terminal terminal = terminal_find(stderr);
    struct waiting waiting;

    if (sweep_load_corpus(sweep, &corpus, error) != 0)
        return -1;
    bool *ended = find_ended(sweep, &corpus, &longer);
    waiting_begin(&waiting, stderr, &terminal);
    int status = estimate_make(
        &estimate, sweep, &corpus, values ? NULL : ended, workers, sample_seconds(), &waiting, error);
    waiting_end(&waiting);
    free(ended);
    if (status == 0) {
        if (values)
            print_values(sweep, &corpus, &estimate);
        else
            print_plan(sweep, &corpus, &longer, &estimate);
        estimate_release(&estimate);
    }
    corpus_release(&corpus);
    return status;
}

int command_plan(int argc, char **argv)
{
    struct arguments arguments;
    struct sweep sweep;
    struct error error;
    int status;

    if (command_arguments(&arguments, argc, argv, &status) != 0)
        return status;
    int failed = arguments_load_sweep(&arguments, &sweep, &error);
    if (failed == 0) {
        remarks_print(&sweep, stderr);
        failed = plan(
            &sweep, arguments_workers(&arguments, &sweep), arguments_has(&arguments, OPTION_VALUES), &error);
        sweep_release(&sweep);
    }
    arguments_release(&arguments);
    return command_flush(failed ? command_fail(&error) : 0);
}
