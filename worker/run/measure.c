/*
 * What is measured and when: at which steps a run has rows, and the options of measuring, which derive from
 * one table.
 */
#include "worker/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct measure_option_row measure_option_table[MEASURE_OPTION_COUNT] = {
#define X(field, key, member, group, initial, least, most, ...)                                              \
    [MEASURE_OPTION_##field] = {                                                                             \
        #key, member, offsetof(struct measure, field), GROUP_##group, initial, least, most, {__VA_ARGS__}},
    MEASURE_OPTIONS(X)
#undef X
};

static int64_t measure_get(const struct measure *measure, enum measure_option option)
{
    int64_t value;

    memcpy(&value, (const char *)measure + measure_option_table[option].offset, sizeof(value));
    return value;
}

void measure_set(struct measure *measure, enum measure_option option, int64_t value)
{
    memcpy((char *)measure + measure_option_table[option].offset, &value, sizeof(value));
}

static bool has_key(enum measure_option option, const char *key)
{
    return strcmp(measure_option_table[option].key, key) == 0;
}

enum measure_option measure_option_first(const char *key)
{
    enum measure_option option = 0;

    while (option < MEASURE_OPTION_COUNT && !has_key(option, key))
        option++;
    return option;
}

enum measure_option measure_option_end(enum measure_option first)
{
    enum measure_option end = first;

    while (end < MEASURE_OPTION_COUNT && has_key(end, measure_option_table[first].key))
        end++;
    return end;
}

char *measure_option_text(const struct measure *measure, enum measure_option first)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool mapping = measure_option_table[first].member != NULL;

    if (!out)
        return NULL;
    for (enum measure_option i = first; i < measure_option_end(first); i++) {
        if (mapping)
            fprintf(out, "%s%s: ", i == first ? "{" : ", ", measure_option_table[i].member);
        const struct measure_word *word = measure_option_table[i].word;
        int64_t value = measure_get(measure, i);
        while (word->text && word->value != value)
            word++;
        if (word->text)
            fputs(word->text, out);
        else
            fprintf(out, "%lld", (long long)value);
    }
    fputs(mapping ? "}" : "", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void measure_init(struct measure *measure)
{
    *measure = (struct measure){.every = MEASURE_EVERY_DEFAULT};
    memcpy(measure->group, metric_group_initial, sizeof(measure->group));
    for (enum measure_option i = 0; i < MEASURE_OPTION_COUNT; i++)
        measure_set(measure, i, measure_option_table[i].initial);
}

void measure_release(struct measure *measure)
{
    free(measure->steps);
    *measure = (struct measure){0};
}

int64_t step_place(const int64_t *step, int64_t count, int64_t wanted)
{
    int64_t low = 0, high = count;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (step[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of listed steps in 1 .. last_step - 1. */
static int64_t listed_between(const struct measure *measure, int64_t last_step)
{
    return step_place(measure->steps, measure->step_count, last_step) -
           step_place(measure->steps, measure->step_count, 1);
}

bool measure_at(const struct measure *measure, int64_t step, int64_t last_step)
{
    if (step == 0 || step == last_step)
        return true;
    if (measure->every)
        return step % measure->every == 0;
    int64_t place = step_place(measure->steps, measure->step_count, step);
    return place < measure->step_count && measure->steps[place] == step;
}

bool validate_at(const struct measure *measure, int64_t step, int64_t last_step)
{
    if (step == last_step)
        return true;
    return measure->validate_every != VALIDATE_END && step % measure->validate_every == 0;
}

/* Is a measured step one of those that `every` of a group means? */
static bool is_chosen(int64_t every, int64_t step, int64_t last_step)
{
    return step == 0 || (every != EVERY_START && (step == last_step || (every && step % every == 0)));
}

static int64_t spectra_every(const struct measure *measure, const struct run *run)
{
    if (measure->spectra_every != EVERY_AUTO)
        return measure->spectra_every;
    return run->width <= SPECTRA_WIDTH ? 1 : EVERY_ENDS;
}

bool hessian_at(const struct measure *measure, int64_t step, int64_t last_step)
{
    return measure->group[GROUP_HESSIAN] && is_chosen(measure->hessian_every, step, last_step);
}

bool spectra_at(const struct measure *measure, const struct run *run, int64_t step, int64_t last_step)
{
    return measure->group[GROUP_SPECTRA] && is_chosen(spectra_every(measure, run), step, last_step);
}

/* The first multiple of `every` above `step`, or last_step if that comes first; every = 0: last_step. */
static int64_t next_multiple(int64_t every, int64_t step, int64_t last_step)
{
    int64_t left = every ? every - step % every : last_step;

    return left < last_step - step ? step + left : last_step;
}

/* The step of the next row after `step`; *place moves along the listed steps. */
static int64_t next_row(const struct measure *measure, int64_t *place, int64_t step, int64_t last_step)
{
    int64_t next = next_multiple(measure->every, step, last_step);
    int64_t validated = next_multiple(measure->validate_every, step, last_step);

    while (*place < measure->step_count && measure->steps[*place] <= step)
        (*place)++;
    if (*place < measure->step_count && measure->steps[*place] < next)
        next = measure->steps[*place];
    return validated < next ? validated : next;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The number of multiples of `every` in 1 .. last_step - 1; 0 for every = 0. */
static int64_t multiples(int64_t every, int64_t last_step)
{
    return every ? (last_step - 1) / every : 0;
}

/* The number of common multiples of `a` and `b`, likewise. */
static int64_t common_multiples(int64_t a, int64_t b, int64_t last_step)
{
    int64_t both;

    if (!a || !b || __builtin_mul_overflow(a / greatest_common_divisor(a, b), b, &both))
        return 0;
    return multiples(both, last_step);
}

/* The number of listed steps in 1 .. last_step - 1 that are not multiples of `every` or `validate_every`. */
static int64_t listed_alone(const struct measure *measure, int64_t last_step)
{
    int64_t every = measure->every, validate = measure->validate_every, count = 0;

    if (!every && !validate) /* all listed steps, without a loop: a sweep may have runs of many lengths */
        return listed_between(measure, last_step);
    for (int64_t i = 0; i < measure->step_count && measure->steps[i] < last_step; i++) {
        int64_t step = measure->steps[i];
        count += step > 0 && !(every && step % every == 0) && !(validate && step % validate == 0);
    }
    return count;
}

int64_t measure_rows(const struct measure *measure, int64_t last_step, int64_t *steps)
{
    int64_t every = measure->every, validate = measure->validate_every, count = 0, place = 0;

    if (!steps && last_step == 0)
        return 1;
    if (!steps)
        return 2 + multiples(every, last_step) + multiples(validate, last_step) -
               common_multiples(every, validate, last_step) + listed_alone(measure, last_step);
    for (int64_t step = 0;; step = next_row(measure, &place, step, last_step)) {
        steps[count++] = step;
        if (step == last_step)
            return count;
    }
}

int64_t measure_count(const struct measure *measure, int64_t last_step)
{
    if (last_step == 0)
        return 1;
    if (measure->every)
        return 2 + multiples(measure->every, last_step);
    return 2 + listed_between(measure, last_step);
}

/* The number of measured steps that `every` of a group means. */
static int64_t count_chosen(const struct measure *measure, int64_t every, int64_t last_step)
{
    int64_t count = 0;

    if (last_step == 0)
        return 1;
    if (every <= 0)
        return every == EVERY_ENDS ? 2 : 1;
    if (measure->every)
        return 2 + common_multiples(measure->every, every, last_step);
    for (int64_t i = 0; i < measure->step_count; i++)
        count += measure->steps[i] > 0 && measure->steps[i] < last_step && measure->steps[i] % every == 0;
    return 2 + count;
}

int64_t measure_hessians(const struct measure *measure, int64_t last_step)
{
    return measure->group[GROUP_HESSIAN] ? count_chosen(measure, measure->hessian_every, last_step) : 0;
}

int64_t measure_spectra(const struct measure *measure, const struct run *run, int64_t last_step)
{
    return measure->group[GROUP_SPECTRA] ? count_chosen(measure, spectra_every(measure, run), last_step) : 0;
}

int64_t measure_validations(const struct measure *measure, int64_t last_step)
{
    int64_t every = measure->validate_every;

    return every == VALIDATE_END ? 1 : last_step / every + 1 + (last_step % every != 0);
}

int step_compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

void measure_digest(const struct measure *measure, struct digest *digest)
{
    digest_add(digest, &measure->every, sizeof(measure->every));
    digest_add(digest, &measure->step_count, sizeof(measure->step_count));
    if (measure->step_count)
        digest_add(digest, measure->steps, (size_t)measure->step_count * sizeof(*measure->steps));
    for (int group = 0; group < GROUP_COUNT; group++)
        if (measure->group[group])
            digest_add_string(digest, metric_group_names[group]);
    for (enum measure_option i = 0; i < MEASURE_OPTION_COUNT; i++) {
        int64_t value = measure_get(measure, i);
        if (measure->group[measure_option_table[i].group])
            digest_add(digest, &value, sizeof(value));
    }
}
