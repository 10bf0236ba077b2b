#include "tests/speed_shape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/error.h"
#include "model/kernels/levels.h"
#include "worker/run/param.h"

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

void speed_fail(const char *format, ...)
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

void speed_print_shapes(void)
{
    for (size_t i = 0; i < sizeof(shape_table) / sizeof(*shape_table); i++)
        printf("%s%s %s", i ? " " : "", shape_table[i].name, shape_table[i].numbers);
    printf("\n");
}

void speed_print_levels(void)
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

struct run speed_shape(const char *shape, int64_t threads)
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
