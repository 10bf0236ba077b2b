/*
 * normsweep check: reads a sweep file and its texts as `run` would, and says that both are valid, or what is
 * not. normsweep plan: prints the time, memory and disk space that a sweep will need, for people or, with
 * --values, for scripts. driver/plan computes them: estimate_make() the times from samples, needs_of() the
 * rest. An output that exists is read with the plan of a start, so that runs which have ended are not
 * counted; if `run` would refuse it, that is said and the plan is one of a new sweep.
 */
#include "driver/plan/plan.h"
#include "driver/commands/inside.h"
#include "model/core/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "sweep.yaml: valid: 20 learning_rate x 20 weight_decay, 400 cells, 3 skipped; 2 % of the validation tokens
 * are <unk>"; and the name that the dataset has for each file of weights, "sweep.yaml: initial_weights
 * 3fa0c3a8d3138b3a: first.nc" */
int command_check(const struct arguments *arguments, struct error *error)
{
    struct start start = {.arguments = arguments};
    const struct sweep *sweep = &start.sweep;
    int status = start_load(&start, error);

    if (status == 0)
        status = start_load_corpus(&start, error);
    if (status == 0) {
        if (arguments_has(arguments, OPTION_VALUES)) {
            printf("cells=%" PRId64 "\n", sweep->cells);
            printf("runs=%" PRId64 "\n", sweep->cells - sweep->skipped);
            quote_put_output(sweep->output);
        } else {
            lines_put(stdout, sweep->path);
            fputs(": valid: ", stdout);
            for (int64_t i = 0; i < sweep->axis_count; i++)
                printf("%s%" PRId64 " %s", i ? " x " : "", sweep->axis[i].length, sweep->axis[i].name);
            printf("%s%" PRId64 " cell%s", sweep->axis_count ? ", " : "", sweep->cells,
                sweep->cells == 1 ? "" : "s");
            if (sweep->skipped)
                printf(", %" PRId64 " skipped", sweep->skipped);
            sweep_print_unknown(&start.corpus, stdout);
            putchar('\n');
            for (int64_t i = 0; i < sweep->starts.count; i++)
                lines_print(stdout, 0, "%s: initial_weights %016" PRIx64 ": %s", sweep->path,
                    sweep->starts.file[i].name, sweep->starts.file[i].path);
        }
        fflush(stdout);
        remarks_print(sweep, stderr);
    }
    start_release(&start);
    return status;
}

/* ---- plan ---- */

/* About as long as a user waits before wondering whether the program works. NORMSWEEP_PLAN_SECONDS shortens
 * it, for tests, which do not judge the times. */
#define SAMPLE_SECONDS 12

#define BUSY_NAMED 0.1 /* share of the samples' time that other programs had */

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
    bool hours = seconds >= 7200, minutes = seconds >= 120;
    double units = seconds / (hours ? 3600 : minutes ? 60 : 1);

    snprintf(text, 32, units < 10 ? "%.2g %s" : "%.0f %s", units,
        hours     ? "hours"
        : minutes ? "minutes"
                  : "s");
    return text;
}

/* "1.5 to 1.8 minutes", "110 s to 2.4 minutes", "12 s" */
static const char *format_times(struct span seconds, char text[64])
{
    char low[32], high[32];

    format_time(seconds.low, low);
    format_time(seconds.high, high);
    bool same = strcmp(low, high) == 0, alike = strcmp(strchr(low, ' '), strchr(high, ' ')) == 0;
    int length = same ? 0 : alike ? (int)strcspn(low, " ") : (int)strlen(low);
    snprintf(text, 64, "%.*s%s%s", length, low, same ? "" : " to ", high);
    return text;
}

static void print_grid(const struct sweep *sweep, const struct estimate *estimate)
{
    const struct refine_seeds *seeds = &sweep->refine.seeds;

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
    if (estimate->searched && seeds->most > 0)
        printf(", %lld to %lld seeds of a cell", (long long)seeds->least, (long long)seeds->most);
    if (estimate->others)
        printf(" of %" PRId64 ", chosen by --only", estimate->runs + estimate->others);
    if (estimate->skipped)
        printf(", %lld cells skipped", (long long)estimate->skipped);
    if (estimate->ended)
        printf("; %lld of %lld have ended; %lld to train", (long long)estimate->ended,
            (long long)estimate->runs, (long long)(estimate->runs - estimate->ended));
    putchar('\n');
}

static void print_span(const char *name, struct span span, int digits, const char *unit)
{
    printf("%-12s", name);
    if (span.low < span.high)
        printf("%.*g to ", digits, span.low);
    printf("%.*g%s\n", digits, span.high, unit);
}

#define COORDINATOR_NAMED 1048576 /* bytes; less need not be named */

/* All workers are assumed to be on this machine, although the plan may be for several. */
static void print_memory(
    const struct sweep *sweep, const struct corpus *corpus, int workers, const struct needs *needs)
{
    double there = (double)limits()->memory, coordinator = job_memory(sweep->cells);
    char text[32];

    printf("%-12s%s", "memory", format_bytes(needs->rank.low, text));
    if (needs->rank.low < needs->rank.high)
        printf(" to %s", format_bytes(needs->rank.high, text));
    if (coordinator >= COORDINATOR_NAMED)
        printf(" per rank, %s more for the coordinator", format_bytes(coordinator, text));
    else
        printf(" per rank");
    if (corpus->train.mapped)
        printf("; the corpus stays in its files, %s",
            format_bytes((double)corpus->train_file.size + (double)corpus->valid_file.size, text));
    else
        printf(", and %s for the corpus%s", format_bytes(needs->corpus, text),
            corpus->file >= 0 ? ", once per machine" : "");
    if (needs->memory > there) {
        printf("; %d workers may need %s", workers, format_bytes(needs->memory, text));
        printf(", this machine has %s", format_bytes(there, text));
    }
    putchar('\n');
}

static void print_sizes(const struct sweep *sweep, const struct corpus *corpus,
    const struct estimate *estimate, const struct needs *needs)
{
    const struct text *train = &corpus->train, *valid = &corpus->valid;
    /* Corpora that consist of sequences are counted in them, others in tokens. */
    bool streams = corpus_kind_table[sweep->base.corpus].uses & USES_SEQUENCES;
    const char *unit = streams ? "tokens" : train->source ? "pairs" : "sums";
    long long left_out = train->left_out + valid->left_out;
    char text[32];

    printf("%-12s%lld words; %lld training %s, %lld for validation", "corpus", (long long)corpus->vocabulary,
        (long long)(streams ? train->token_count : train->line_count), unit,
        (long long)(streams ? valid->token_count : valid->line_count));
    if (left_out)
        printf("; %lld pair%s with an empty side left out", left_out, left_out == 1 ? "" : "s");
    sweep_print_unknown(corpus, stdout);
    putchar('\n');
    print_span("parameters", needs->parameters, 10, "");
    print_span("steps", needs->steps, 10, " per run");
    if (estimate->shared > 0)
        printf("%-12s%lld of %lld steps: runs carry on from others that have taken the same ones\n", "shared",
            (long long)estimate->shared, (long long)estimate->steps);
    print_memory(sweep, corpus, estimate->workers, needs);
    lines_print(stdout, 0, "%-12sup to %s in %s.d while it runs", "checkpoints",
        format_bytes(needs->checkpoints, text), sweep->output);
    if (sweep->base.save_weights == SAVE_STATE || estimate->shared > 0)
        lines_print(stdout, 0, "%-12sup to %s in %s.d%s", "states", format_bytes(needs->states, text),
            sweep->output, sweep->base.save_weights == SAVE_STATE ? "" : " while it runs");
    if (sweep->base.save_weights)
        lines_print(
            stdout, 0, "%-12sup to %s in %s.d", "weights", format_bytes(needs->weights, text), sweep->output);
    double bytes = dataset_size(sweep, corpus);
    printf("%-12s%s, ", "dataset", isnan(bytes) ? "of unknown size" : format_bytes(bytes, text));
    lines_put(stdout, sweep->output);
    char *folder = output_folder(sweep->output);
    int cause = folder ? output_folder_fault(folder) : 0;
    if (cause) { /* `run` would refuse it on this machine; the sweep may be for another */
        fputs("; the folder ", stdout);
        lines_put(stdout, folder);
        printf(" cannot be written here: %s", strerror(cause));
    }
    putchar('\n');
    free(folder);
}

static void print_times(const struct estimate *estimate, struct span step)
{
    char note[160], text[64];

    snprintf(note, sizeof(note), " ms, %lld of %lld kinds of run measured, %d at once",
        (long long)estimate->timed, (long long)estimate->group_count, estimate->at_once);
    print_span("step", step, 4, note);
    for (enum cost_part part = 0; part < PART_COUNT; part++)
        if (part <= PART_VALIDATE || estimate->part[part] > 0)
            printf("%s%s %.1f %%", part ? ", " : "parts       ", cost_part_names[part],
                100 * estimate->part[part]);
    putchar('\n');
    printf("%-12s%s on %d worker%s", "time", format_times(estimate->whole, text), estimate->workers,
        estimate->workers == 1 ? "" : "s");
    struct span core = {
        estimate->core_seconds * estimate->factor.low, estimate->core_seconds * estimate->factor.high};
    printf(", %s of one core%s\n", format_times(core, text),
        estimate->at_once < estimate->workers ? "; assumes a processor for each worker" : "");
    if (estimate->busy >= BUSY_NAMED)
        printf("%-12sother programs or a limit took %.0f %% of the cores; if that goes on: %s\n", "busy",
            100 * estimate->busy, format_time(estimate->makespan, text));
}

/* Values for scripts. core_seconds and longest_seconds let a script plan with another number of workers. */
static void print_values(
    const struct sweep *sweep, const struct estimate *estimate, const struct needs *needs)
{
    printf("cells=%lld\n", (long long)sweep->cells);
    printf("runs=%lld\n", (long long)estimate->runs);
    printf("workers=%d\n", estimate->workers);
    printf("seconds=%.3f\n", estimate->makespan);
    printf("core_seconds=%.3f\n", estimate->core_seconds);
    printf("longest_seconds=%.3f\n", needs->longest);
    printf("least_seconds=%.3f\n", estimate->whole.low);
    printf("most_seconds=%.3f\n", estimate->whole.high);
    printf("busy=%.3f\n", estimate->busy);
    printf("checkpoint_seconds=%.3f\n", 60 * sweep->checkpoint_minutes);
    printf("memory_bytes=%.0f\n", needs->rank.high);
    printf("coordinator_bytes=%.0f\n", job_memory(sweep->cells));
    quote_put_output(sweep->output);
}

/* The runs [cells] that need not be trained again, and whether steps grows; NULL: there is no dataset. All
 * count as ended if a search has no more to train. `left`: what it has, or -1. Warns if `run` would refuse
 * the dataset that exists. */
static bool *find_ended(
    const struct sweep *sweep, const struct corpus *corpus, struct grown_steps *grown, double *left)
{
    struct start_plan start;
    struct forecast forecast;
    struct error refusal;
    mode_t kind;

    *left = -1;
    *grown = (struct grown_steps){0};
    if (output_kind(sweep->output, &kind) != 0 || !kind) /* nothing that could be read */
        return NULL;
    if (start_plan_make(&start, sweep->output, sweep, corpus, &(struct dataset_options){0}, &refusal) != 0) {
        fprintf(stderr, "%s\n", refusal.text);
        return NULL;
    }
    if (sweep->refine.kind != REFINE_NONE && forecast_make(&forecast, sweep, corpus, &start, &refusal) == 0)
        *left = (double)forecast_pending(&forecast) + forecast.later;
    bool *ended = memory_zero((size_t)sweep->cells, sizeof(*ended));
    for (int64_t cell = 0; cell < sweep->cells; cell++) {
        signed char before = start.before[cell];
        ended[cell] = *left == 0 || (before >= OUTCOME_DONE && before != OUTCOME_SKIPPED);
    }
    *grown = start.grown;
    start_plan_release(&start);
    return ended;
}

static void print_plan(const struct sweep *sweep, const struct corpus *corpus,
    const struct estimate *estimate, const struct needs *needs, const struct grown_steps *grown)
{
    print_grid(sweep, estimate);
    if (grown->old_steps) {
        char *old = set_aside_name(sweep->output, grown->old_steps);
        lines_print(stdout, 0,
            "%-12sfrom %lld steps: %lld of %lld runs carry on; the dataset of the shorter sweep becomes %s",
            "grows", (long long)grown->old_steps, (long long)grown->kept, (long long)grown->runs,
            old ? old : "");
        free(old);
    }
    if (estimate->runs != estimate->ended) {
        print_sizes(sweep, corpus, estimate, needs);
        print_times(estimate, needs->step_milliseconds);
    }
}

/* Values are of the whole sweep: a script subtracts what has ended. -j 0 also trains in one process. */
int command_plan(const struct arguments *arguments, struct error *error)
{
    struct start start = {.arguments = arguments};
    const struct sweep *sweep = &start.sweep;
    bool values = arguments_has(arguments, OPTION_VALUES);
    struct terminal terminal = terminal_find(stderr);
    struct estimate estimate;
    struct grown_steps grown;
    struct waiting waiting;
    double left;
    int status = start_load(&start, error);

    if (status == 0) {
        remarks_print(sweep, stderr);
        status = start_load_corpus(&start, error);
    }
    if (status == 0) {
        int workers = arguments->jobs < 0   ? threads_workers(sweep)
                      : arguments->jobs > 0 ? arguments->jobs
                                            : 1;
        const char *asked = getenv("NORMSWEEP_PLAN_SECONDS");
        double seconds = asked ? strtod(asked, NULL) : SAMPLE_SECONDS;
        if (!(seconds > 0 && seconds < SAMPLE_SECONDS))
            seconds = SAMPLE_SECONDS;
        bool *ended = find_ended(sweep, &start.corpus, &grown, &left);
        waiting_begin(&waiting, stderr, &terminal);
        status = estimate_make(&estimate, sweep, &start.corpus, values ? NULL : ended, values ? -1 : left,
            workers, seconds, &waiting, error);
        waiting_end(&waiting);
        free(ended);
    }
    if (status == 0) {
        struct needs needs = needs_of(&estimate, sweep, &start.corpus);
        if (values)
            print_values(sweep, &estimate, &needs);
        else
            print_plan(sweep, &start.corpus, &estimate, &needs, &grown);
        estimate_release(&estimate);
    }
    start_release(&start);
    return status;
}
