/*
 * How fast a training step is, on the program's own model code:
 *     speed [-t THREADS] [REQUEST]
 * Without a request on the command line, each line of standard input is one and is answered by one line, so
 * that another program can have its own work timed in turns with this one's (tests/speed.py). A request is
 *     step SHAPE SECONDS      training steps on random tokens, with the default optimiser
 *     forward SHAPE SECONDS   the loss alone, as validation takes it
 *     measure SHAPE SECONDS   training steps measured each; the time is that of the measuring
 *     hessian SHAPE SECONDS   products with the Hessian and gradients in turns; the ratio of their times
 *     optimiser SHAPE SECONDS training steps; the optimiser's share of their time
 *     sgemm SECONDS           products of 1024 x 1024 matrices
 *     shapes                  the names of shapes and what they stand for
 *     levels                  the vector levels, each with 1 if this processor runs it, else 0
 * for about so many seconds, once at least. SHAPE is a name or V,C,H,F,L,T,B, and may end in words with
 * commas before them: bfloat16 (precision); gelu; muon; rounded or stochastic (weights: bfloat16,
 * bfloat16_stochastic); llama: rmsnorm, rotary positions, gated silu, no biases, four heads to each of keys
 * and values. Lines written are pairs of a name and a value, the first of them about this process;
 * times are medians.
 */
#include "model/core/denormals.h"
#include "model/core/error.h"
#include "model/core/random.h"
#include "model/corpora/corpora.h"
#include "model/instruments/instruments.h"
#include "model/kernels/kernels.h"
#include "worker/host/host.h"
#include "worker/run/run.h"
#include "worker/train/train.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PRODUCT = 1024, /* rows and columns of sgemm's matrices */
    TEXT_STEPS = 64, /* training steps until the text comes again */
    SAMPLES_MOST = 1 << 16,
    LINE_SIZE = 256,
};

/* The shapes */

static const struct {
    const char *name, *numbers;
} shape_table[] = {
    {"tiny", "512,64,4,256,2,64,16"},
    {"small", "4096,128,4,512,4,64,16"},
    {"small-gelu", "4096,128,4,512,4,64,16,gelu"},
    {"mid", "10000,256,8,1024,6,128,16"},
    {"paper", "33278,768,12,512,12,35,16"},
    {"long", "33278,768,12,512,12,350,16"},
};

/* Ends the process after one line. */
__attribute__((noreturn, format(printf, 1, 2))) static void speed_fail(const char *format, ...)
{
    va_list arguments;

    fputs("speed: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

/* The numbers of a shape, and in *rest what follows them: a name may be followed by a word. */
static const char *shape_numbers(const char *shape, const char **rest)
{
    size_t name = strcspn(shape, ",");

    *rest = shape + name + (shape[name] == ',');
    for (size_t i = 0; i < sizeof(shape_table) / sizeof(*shape_table); i++)
        if (strlen(shape_table[i].name) == name && strncmp(shape_table[i].name, shape, name) == 0)
            return shape_table[i].numbers;
    *rest = NULL;
    return shape;
}

static void speed_print_shapes(void)
{
    for (size_t i = 0; i < sizeof(shape_table) / sizeof(*shape_table); i++)
        printf("%s%s %s", i ? " " : "", shape_table[i].name, shape_table[i].numbers);
    printf("\n");
}

static void speed_print_levels(void)
{
    const char *level;
    bool runs;

    for (int i = 0; (level = kernels_level(i, &runs)); i++)
        printf("%s%s %d", i ? " " : "", level, runs);
    printf("\n");
}

static int64_t parse_size(const char *shape, const char **at, const char *name)
{
    const struct param *param = param_find(name);
    struct error error;
    char *end;

    errno = 0;
    union param_value value = {.integer = strtoll(*at, &end, 10)};
    if (end == *at || errno != 0)
        speed_fail("shape '%s' is neither a known name nor V,C,H,F,L,T,B: no number for %s", shape, name);
    if (param_check(param, value, &error) != 0)
        speed_fail("shape '%s': %s", shape, error.text);
    *at = *end == ',' ? end + 1 : end;
    return value.integer;
}

static void take_word(struct run *run, const char *shape, const char *word)
{
    if (strcmp(word, "gelu") == 0) {
        run->activation = ACTIVATION_GELU;
    } else if (strcmp(word, "bfloat16") == 0) {
        run->precision = PRECISION_BFLOAT16;
    } else if (strcmp(word, "rounded") == 0) {
        run->weights = WEIGHTS_BFLOAT16;
    } else if (strcmp(word, "stochastic") == 0) {
        run->weights = WEIGHTS_BFLOAT16_STOCHASTIC;
    } else if (strcmp(word, "muon") == 0) {
        run->optimiser = OPTIMISER_MUON;
    } else if (strcmp(word, "llama") == 0) {
        run->norm = RMSNORM;
        run->positions = POSITIONS_ROTARY;
        run->activation = ACTIVATION_SILU;
        run->gated = true;
        run->bias = false;
        run->kv_heads = run->heads % 4 ? 1 : run->heads / 4;
    } else if (*word) {
        speed_fail("shape '%s': what is '%s' after its seven numbers?", shape, word);
    }
}

/* Any number of words, with commas between them. */
static void take_words(struct run *run, const char *shape, const char *words)
{
    char word[LINE_SIZE];

    while (*words) {
        size_t length = strcspn(words, ",");
        snprintf(word, sizeof(word), "%.*s", (int)length, words);
        take_word(run, shape, word);
        words += length + (words[length] == ',');
    }
}

/* The run of a shape. Every parameter but those of the shape stays at its default. */
static struct run speed_shape(const char *shape, int64_t threads)
{
    static const char *const names[] = {
        "vocabulary", "width", "heads", "feedforward", "layers", "context", "batch"};
    const char *rest, *at = shape_numbers(shape, &rest);
    const struct param *param;
    struct error error;
    struct run run;

    run_init(&run);
    run.steps = 1;
    run.threads = threads;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        param_set(
            param_find(names[i]), &run, (union param_value){.integer = parse_size(shape, &at, names[i])});
    take_words(&run, shape, at);
    take_words(&run, shape, rest ? rest : "");
    if (run_check(&run, &param, &error) != 0)
        speed_fail("shape '%s': %s", shape, error.text);
    return run;
}

/* One shape at a time, laid out in one arena. */
struct subject {
    int64_t threads; /* of every step; the products of BLAS have one each but in sgemm */
    char shape[LINE_SIZE]; /* as it was asked for; empty: none yet */
    bool tangents; /* of the model, for products with the Hessian */
    struct run run;
    struct text text;
    struct transformer model;
    struct optimiser optimiser;
    struct batches batches;
    struct batch batch;
    struct instruments instruments;
    scalar *weights, *gradient;
    scalar *product; /* with tangents; else NULL */
    int64_t step; /* taken so far */
    struct arena arena;
};

/* What is timed, once; the seconds that count. */
typedef double timed_function(struct subject *subject);

/* The subject */

static void subject_layout(struct subject *subject)
{
    const struct run *run = &subject->run;
    struct architecture architecture = run_architecture(run, run->vocabulary);
    struct optimiser_options options = run_optimiser(run);
    struct arena *arena = &subject->arena;

    transformer_layout(
        &subject->model, &architecture, run->batch * run->context, run->threads, subject->tangents, arena);
    optimiser_layout(&subject->optimiser, &options, &subject->model.layout, run->threads, false, arena);
    const struct reading reading = {.context = run->context, .seed = run->seed};
    batches_layout(&subject->batches, &subject->text, &reading, run->batch, arena);
    batch_layout(&subject->batch, (struct batch_rows){run->batch * run->context, 0}, arena);
    instruments_layout(&subject->instruments, &subject->model.layout, &architecture, false, arena);
    subject->weights = arena_take(arena, (size_t)subject->model.layout.size, sizeof(scalar));
    subject->gradient = arena_take(arena, (size_t)subject->model.layout.size, sizeof(scalar));
    if (subject->tangents)
        subject->product = arena_take(arena, (size_t)subject->model.layout.size, sizeof(scalar));
    subject->text.tokens = arena_take(arena, (size_t)subject->text.token_count, sizeof(int32_t));
}

/* Training step number subject->step + 1. Returns the seconds it took; *gradient: until its gradient was
 * known. */
static double take_step_parts(struct subject *subject, double *gradient)
{
    struct schedule schedule = run_schedule(&subject->run, 1);
    double begin = clock_now();
    int64_t number = ++subject->step;

    batches_fill(&subject->batches, number, &subject->batch);
    double loss = transformer_gradient(&subject->model, subject->weights, &subject->batch, subject->gradient);
    *gradient = clock_now() - begin;
    double clip = optimiser_clip(&subject->optimiser, subject->gradient);
    optimiser_step(
        &subject->optimiser, subject->weights, subject->gradient, clip, number, schedule_rate(&schedule, 1));
    if (!isfinite(loss))
        speed_fail("shape '%s': the loss of step %" PRId64 " is not finite", subject->shape, number);
    return clock_now() - begin;
}

static double take_step(struct subject *subject)
{
    double gradient;

    return take_step_parts(subject, &gradient);
}

/* The share of a step's time that is not its gradient's. */
static double take_optimiser(struct subject *subject)
{
    double gradient, whole = take_step_parts(subject, &gradient);

    return 1 - gradient / whole;
}

/*
 * The same, measured as train() does, but for the gradient, which is still that of the step before: to what
 * is timed here that is the same. The seconds of the measuring alone.
 */
static double take_measured_step(struct subject *subject)
{
    struct state_measures state;
    struct step_measures measures;
    double begin = clock_now();

    measure_state(&subject->instruments, subject->weights, &state);
    measure_gradient(&subject->instruments, &subject->optimiser, subject->weights, subject->gradient, 1,
        subject->step + 1, 1e-3, &measures);
    double seconds = clock_now() - begin;
    take_step(subject);
    begin = clock_now();
    measure_step(&subject->instruments, subject->weights, &measures);
    return seconds + clock_now() - begin;
}

static double take_forward(struct subject *subject)
{
    double begin = clock_now();

    batches_fill(&subject->batches, subject->step + 1, &subject->batch);
    if (!isfinite(transformer_loss(&subject->model, subject->weights, &subject->batch, NULL)))
        speed_fail("shape '%s': the loss is not finite", subject->shape);
    return clock_now() - begin;
}

/* The time of a product with the Hessian, along the gradient, in units of that of the gradient before it. */
static double take_hessian(struct subject *subject)
{
    double begin = clock_now(), slope;

    transformer_gradient(&subject->model, subject->weights, &subject->batch, subject->gradient);
    double middle = clock_now();
    transformer_hessian_product(
        &subject->model, subject->weights, &subject->batch, subject->gradient, subject->product, &slope);
    double end = clock_now();
    if (!isfinite(slope))
        speed_fail("shape '%s': the slope of the loss is not finite", subject->shape);
    return (end - middle) / (middle - begin);
}

/* Ready for a shape: nothing happens if it is the one already held. The first step touches all memory and is
 * not timed. */
static void subject_prepare(struct subject *subject, const char *shape, bool tangents)
{
    if (strcmp(subject->shape, shape) == 0 && subject->tangents == tangents)
        return;
    struct run run = speed_shape(shape, subject->threads);
    if (subject->shape[0])
        arena_release(&subject->arena);
    *subject = (struct subject){.threads = subject->threads,
        .tangents = tangents,
        .run = run,
        .text.token_count = TEXT_STEPS * run.batch * run.context + 1};
    snprintf(subject->shape, sizeof(subject->shape), "%s", shape);
    subject_layout(subject);
    if (arena_init(&subject->arena, subject->arena.used) != 0)
        speed_fail("shape '%s': no memory, it needs %.1f MiB", shape, (double)subject->arena.used / 0x1p20);
    subject_layout(subject);
    for (int64_t i = 0; i < subject->text.token_count; i++)
        subject->text.tokens[i] =
            (int32_t)random_below(0, RANDOM_TEST, (uint64_t)i, (uint64_t)run.vocabulary);
    weights_init(subject->weights, &subject->model.layout, &subject->model.architecture, run.seed);
    take_step(subject);
    if (tangents)
        take_hessian(subject);
}

/* The product that all is measured against. */
static double take_product(struct subject *subject)
{
    static float a[PRODUCT * PRODUCT], b[PRODUCT * PRODUCT], c[PRODUCT * PRODUCT];

    (void)subject;
    if (a[0] == 0)
        for (int i = 0; i < PRODUCT * PRODUCT; i++)
            a[i] = b[i] = 1 + (float)(i % 7);
    double begin = clock_now();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, PRODUCT, PRODUCT, PRODUCT, 1, a, PRODUCT, b,
        PRODUCT, 0, c, PRODUCT);
    return clock_now() - begin;
}

/* Requests */

static int compare_seconds(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Repeats for so many seconds. The median; *count: how often. */
static double time_median(timed_function *function, struct subject *subject, double seconds, int *count)
{
    static double sample[SAMPLES_MOST];
    double end = clock_now() + seconds;
    int n = 0;

    do
        sample[n++] = function(subject);
    while (clock_now() < end && n < SAMPLES_MOST);
    qsort(sample, (size_t)n, sizeof(*sample), compare_seconds);
    *count = n;
    return (sample[(n - 1) / 2] + sample[n / 2]) / 2;
}

/* On a shape: what one line of a request asks for. */
struct timing {
    const char *name;
    timed_function *function;
    const char *label; /* of the median */
    int digits; /* of it */
    bool tangents;
    double share; /* of a training step's arithmetic; 0: that is not told */
};

static const struct timing timing_table[] = {
    {"step", take_step, "seconds", 9, false, 1},
    {"forward", take_forward, "seconds", 9, false, 1.0 / 3},
    {"measure", take_measured_step, "seconds", 9, false, 0},
    {"hessian", take_hessian, "ratio", 5, true, 0},
    {"optimiser", take_optimiser, "share", 5, false, 0},
};

static const struct timing *timing_find(const char *name)
{
    for (size_t i = 0; i < sizeof(timing_table) / sizeof(*timing_table); i++)
        if (strcmp(timing_table[i].name, name) == 0)
            return &timing_table[i];
    speed_fail("no request '%s': step, forward, measure, hessian, optimiser, sgemm, shapes, levels", name);
}

static void answer_timing(struct subject *subject, const char *name, const char *shape, double seconds)
{
    const struct timing *timing = timing_find(name);
    int count;

    subject_prepare(subject, shape, timing->tangents);
    double median = time_median(timing->function, subject, seconds, &count);
    printf("%s %.*g count %d parameters %" PRId64, timing->label, timing->digits, median, count,
        architecture_parameters(&subject->model.architecture));
    if (timing->share > 0)
        printf(" tokens/s %.6g GFLOP/s %.5g", (double)subject->batch.rows / median,
            1e-9 * timing->share * train_step_arithmetic(&subject->run, subject->run.vocabulary) / median);
    else if (timing->function == take_measured_step)
        printf(" every %d", MEASURE_EVERY_DEFAULT);
    printf("\n");
}

static void answer_product(int64_t threads, double seconds)
{
    int count;

    environment_threads(threads);
    take_product(NULL);
    double median = time_median(take_product, NULL, seconds, &count);
    environment_threads(1);
    printf("seconds %.9g count %d GFLOP/s %.5g\n", median, count,
        1e-9 * 2 * PRODUCT * PRODUCT * PRODUCT / median);
}

static double parse_seconds(const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds >= 0))
        speed_fail("'%s' is not a number of seconds", text);
    return seconds;
}

static void answer(struct subject *subject, int words, char **word)
{
    if (words == 1 && strcmp(word[0], "shapes") == 0)
        speed_print_shapes();
    else if (words == 1 && strcmp(word[0], "levels") == 0)
        speed_print_levels();
    else if (words == 2 && strcmp(word[0], "sgemm") == 0)
        answer_product(subject->threads, parse_seconds(word[1]));
    else if (words == 3)
        answer_timing(subject, word[0], word[1], parse_seconds(word[2]));
    else
        speed_fail(
            "a request is step, forward, measure, hessian or optimiser with SHAPE and SECONDS, sgemm with "
            "SECONDS, shapes, or levels");
    if (fflush(stdout) != 0)
        speed_fail("cannot write");
}

/* Until the input ends. */
static void serve(struct subject *subject)
{
    char line[LINE_SIZE], *word[4];

    while (fgets(line, sizeof(line), stdin)) {
        int words = 0;
        for (char *at = line, *rest; words < 4 && (word[words] = strtok_r(at, " \n", &rest)); at = NULL)
            words++;
        answer(subject, words, word);
    }
}

static int64_t parse_threads(const char *text)
{
    const struct param *param = param_find("threads");
    struct error error;
    char *end;
    union param_value value = {.integer = strtoll(text, &end, 10)};

    if (end == text || *end)
        speed_fail("-t: '%s' is not a number of threads", text);
    if (param_check(param, value, &error) != 0)
        speed_fail("-t: %s", error.text);
    return value.integer;
}

int main(int argc, char **argv)
{
    static struct subject subject = {.threads = 1};

    environment_prepare(argv);
    for (int option; (option = getopt(argc, argv, "+t:")) != -1;) {
        if (option != 't')
            return 1;
        subject.threads = parse_threads(optarg);
    }
    environment_threads(1);
    denormals_flush(true); /* as train() does */
    printf("BLAS_kernel %s vector_level %s threads %" PRId64 " processors %d\n", environment_blas_kernel(),
        kernels_level_in_use(), subject.threads, processors_count());
    fflush(stdout);
    if (optind < argc)
        answer(&subject, argc - optind, argv + optind);
    else
        serve(&subject);
    if (subject.shape[0])
        arena_release(&subject.arena);
    return 0;
}
