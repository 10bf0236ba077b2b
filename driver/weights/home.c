/*
 * What a home needs is a table. A key that is not in it fits every home: it does not change what a network
 * computes, or exported.c can express it.
 */
#include "driver/weights/home.h"

#include "driver/weights/gpt2.h"
#include "driver/weights/llama.h"

#include <stdio.h>

enum { TEXT_MOST = 128 };

const struct home_row home_table[HOME_COUNT] = {
#define X(NAME, family, class) {&(family), class},
    HOMES(X)
#undef X
};

#define BIT(word) (1u << (word))

/* The words of a key that each home takes, as bits; false is 0 and true is 1. */
static const struct requirement {
    const char *key;
    unsigned words[HOME_COUNT];
} requirements[] = {
    {"network", {BIT(NETWORK_DECODER), BIT(NETWORK_DECODER)}},
    {"norm_placement", {BIT(NORM_PRE), BIT(NORM_PRE)}},
    {"qk_norm", {BIT(false), BIT(false)}},
    {"attention_mask", {BIT(MASK_CAUSAL), BIT(MASK_CAUSAL)}},
    {"positions",
        {BIT(POSITIONS_LEARNED) | BIT(POSITIONS_SINUSOIDAL) | BIT(POSITIONS_NONE), BIT(POSITIONS_ROTARY)}},
    {"norm", {BIT(LAYERNORM), BIT(RMSNORM)}},
    {"gated", {BIT(false), BIT(true)}},
};

enum { REQUIREMENT_COUNT = sizeof(requirements) / sizeof(*requirements) };

static bool fits(const struct run *run, int requirement, enum home home)
{
    union param_value value = param_get(param_find(requirements[requirement].key), run);

    return requirements[requirement].words[home] >> value.integer & 1;
}

/* The first requirement of a home that the run does not meet, or REQUIREMENT_COUNT. */
static int first_unmet(const struct run *run, enum home home)
{
    int i = 0;

    while (i < REQUIREMENT_COUNT && fits(run, i, home))
        i++;
    return i;
}

/* The first one that it meets for no home, or REQUIREMENT_COUNT. */
static int unmet_everywhere(const struct run *run)
{
    for (int i = 0; i < REQUIREMENT_COUNT; i++) {
        bool met = false;
        for (enum home home = 0; home < HOME_COUNT; home++)
            met = met || fits(run, i, home);
        if (!met)
            return i;
    }
    return REQUIREMENT_COUNT;
}

/* "learned or sinusoidal or none" */
static const char *words_of(int requirement, enum home home, char text[TEXT_MOST])
{
    const struct param *param = param_find(requirements[requirement].key);
    size_t used = 0;
    char word[32];

    text[0] = '\0';
    for (int64_t i = 0; i <= (int64_t)param->max && used < TEXT_MOST; i++)
        if (requirements[requirement].words[home] >> i & 1)
            used += (size_t)snprintf(text + used, TEXT_MOST - used, "%s%s", used ? " or " : "",
                param_format(param, (union param_value){.integer = i}, word, sizeof(word)));
    return text;
}

/* "norm_placement: post fits neither gpt2 nor llama, which need pre" */
static int refuse_key(const struct run *run, int requirement, struct error *error)
{
    const struct requirement *row = &requirements[requirement];
    const struct param *param = param_find(row->key);
    char value[32], first[TEXT_MOST], second[TEXT_MOST];

    param_format(param, param_get(param, run), value, sizeof(value));
    words_of(requirement, HOME_GPT2, first);
    words_of(requirement, HOME_LLAMA, second);
    if (row->words[HOME_GPT2] == row->words[HOME_LLAMA])
        return error_set(error, ERROR_INPUT, "%s: %s fits neither %s nor %s, which need %s", row->key, value,
            home_table[HOME_GPT2].family->model_type, home_table[HOME_LLAMA].family->model_type, first);
    return error_set(error, ERROR_INPUT, "%s: %s fits neither %s, which needs %s, nor %s, which needs %s",
        row->key, value, home_table[HOME_GPT2].family->model_type, first,
        home_table[HOME_LLAMA].family->model_type, second);
}

/* "gpt2 needs norm: layernorm, not rmsnorm" */
static const char *need_of(const struct run *run, enum home home, char text[2 * TEXT_MOST])
{
    int unmet = first_unmet(run, home);
    const struct param *param = param_find(requirements[unmet].key);
    char value[32], words[TEXT_MOST];

    snprintf(text, (size_t)2 * TEXT_MOST, "%s needs %s: %s, not %s", home_table[home].family->model_type,
        param->name, words_of(unmet, home, words),
        param_format(param, param_get(param, run), value, sizeof(value)));
    return text;
}

int home_find(const struct run *run, enum home *home, struct error *error)
{
    char first[2 * TEXT_MOST], second[2 * TEXT_MOST];
    int everywhere = unmet_everywhere(run);

    for (*home = 0; *home < HOME_COUNT; ++*home)
        if (first_unmet(run, *home) == REQUIREMENT_COUNT)
            return 0;
    if (everywhere < REQUIREMENT_COUNT)
        return refuse_key(run, everywhere, error);
    return error_set(
        error, ERROR_INPUT, "%s; %s", need_of(run, HOME_GPT2, first), need_of(run, HOME_LLAMA, second));
}

struct architecture home_architecture(enum home home, const struct architecture *run)
{
    struct architecture its = *run;

    its.residual_scale = 1;
    its.score_scale = SCORE_SQRT;
    its.output_scale = 0;
    its.biases &= ~(unsigned)BIAS_OUTPUT;
    its.kv_heads = home == HOME_GPT2 ? run->heads : architecture_kv_heads(run);
    its.head_width = architecture_depth(run);
    its.norm_epsilon = architecture_norm_epsilon(run);
    if (home == HOME_GPT2) {
        its.positions = POSITIONS_LEARNED;
        its.biases = BIAS_LAYERS;
    } else {
        its.rotary_base = architecture_rotary_base(run);
    }
    return its;
}
