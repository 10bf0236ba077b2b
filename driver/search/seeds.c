/*
 * Seeds until it is decided. The grid falls into groups: cells that differ in their seed alone, or also in
 * the axis along which differences are taken. A group trains its first seeds, the smallest ones; when all
 * runs that it has asked for have ended, it asks for the next seeds of those cells whose interval is still
 * too wide. So what a group trains follows from its own results, in whatever order they come.
 *
 * A run that is done counts with its value. One that diverged or failed, or is skipped, takes its seed and
 * does not count; a difference is between two runs of a seed that both count.
 */
#include "driver/search/inside.h"
#include "driver/text/text.h"
#include "model/core/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HALVINGS = 60 };

#define COVERED 0.95

enum seed_state {
    STATE_REST, /* not asked for */
    STATE_ASKED,
    STATE_COUNTS, /* done, with a value */
    STATE_LACKS, /* failed, or done without a value */
    STATE_DIVERGED,
    STATE_SKIPPED,
};

struct group {
    int64_t used; /* seeds; 0: it has not begun, or no search has come there */
    int64_t open; /* runs that were asked for and have not ended */
    int64_t searched; /* cells of the first seeds whose region's search has ended */
    bool chosen; /* a search has come there */
    double left; /* runs that it will probably still ask for */
};

struct seeds {
    const struct sweep *sweep;
    const struct search_reader *reader;
    void (*choose)(void *context, enum choice_kind kind, int64_t cell);
    void *context;
    const struct refine_seeds *rule;
    int64_t values; /* of the difference's axis; 1: there is none */
    struct parts parts; /* the groups' cells, by seed and then by value */
    struct group *group; /* [parts.count] */
    signed char *state; /* [cells] enum seed_state */
    double *value; /* [seeds] room for the values of an interval */
    int64_t ended; /* groups */
    double left;
};

/* ---- intervals ---- */

/* The probability that Student's t is within sqrt(freedom) tan(angle) of 0: a finite sum, Abramowitz and
 * Stegun 26.7.3 and 26.7.4. */
static double share_within(double angle, int64_t freedom)
{
    bool odd = freedom % 2 == 1;
    double c = cos(angle), term = odd ? c : 1, sum = freedom > 1 ? term : 0;

    for (int64_t k = odd ? 3 : 2; k <= freedom - 2; k += 2) {
        term *= (double)(k - 1) / (double)k * c * c;
        sum += term;
    }
    return odd ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double seeds_student(int64_t freedom)
{
    double low = 0, high = M_PI / 2;

    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (share_within(middle, freedom) < COVERED)
            low = middle;
        else
            high = middle;
    }
    return sqrt((double)freedom) * tan((low + high) / 2);
}

double seeds_width(const double *value, int64_t count)
{
    double mean = 0, squares = 0;

    if (count < 2)
        return INFINITY;
    for (int64_t i = 0; i < count; i++)
        mean += value[i] / (double)count;
    for (int64_t i = 0; i < count; i++)
        squares += (value[i] - mean) * (value[i] - mean);
    return 2 * seeds_student(count - 1) * sqrt(squares / (double)(count - 1) / (double)count);
}

/* ---- cells ---- */

bool axis_is_timescale(const struct axis *axis)
{
    return axis->param[0]->offset == offsetof(struct run, timescale);
}

void parts_make(
    struct parts *parts, const struct sweep *sweep, const int64_t *axis, int64_t count, int64_t sorted)
{
    size_t cells = (size_t)sweep->cells;
    int64_t *places[AXES_MAX] = {NULL}; /* of the axes inside parts: what each index adds to a place */

    *parts = (struct parts){.size = 1, .cell = memory_new(cells, sizeof(*parts->cell))};
    parts->at = memory_new(cells, sizeof(*parts->at));
    for (int64_t i = count - 1; i >= 0; i--) {
        const struct axis *along = &sweep->axis[axis[i]];
        int64_t *order = memory_sorted(along->length, axis_compare, along), last = along->length - 1;
        int64_t *place = places[axis[i]] = memory_new((size_t)along->length, sizeof(*place));
        for (int64_t j = 0; j <= last; j++)
            place[i < sorted ? order[axis_is_timescale(along) ? last - j : j] : j] = j * parts->size;
        free(order);
        parts->size *= along->length;
    }
    parts->count = sweep->cells / parts->size;
    for (int64_t cell = 0; cell < sweep->cells; cell++) {
        int64_t at = 0, stride = parts->size, rest = cell;
        for (int64_t a = sweep->axis_count - 1; a >= 0; a--) {
            int64_t length = sweep->axis[a].length, index = rest % length;
            rest /= length;
            at += places[a] ? places[a][index] : stride * index;
            stride *= places[a] ? 1 : length;
        }
        parts->at[cell] = at;
        parts->cell[at] = cell;
    }
    for (int64_t i = 0; i < count; i++)
        free(places[axis[i]]);
}

void parts_release(struct parts *parts)
{
    free(parts->cell);
    free(parts->at);
}

static struct group *group_of(const struct seeds *s, int64_t cell)
{
    return &s->group[s->parts.at[cell] / s->parts.size];
}

static int64_t value_of(const struct seeds *s, int64_t cell)
{
    return s->parts.at[cell] % s->values;
}

static int64_t cell_of(const struct seeds *s, const struct group *group, int64_t value, int64_t seed)
{
    return s->parts.cell[(group - s->group) * s->parts.size + seed * s->values + value];
}

static void ask(struct seeds *s, struct group *group, int64_t value, int64_t seed)
{
    int64_t cell = cell_of(s, group, value, seed);

    if (s->state[cell] == STATE_REST) {
        s->state[cell] = STATE_ASKED;
        group->open++;
        s->choose(s->context, CHOICE_TRAIN, cell);
    }
}

/* ---- decisions ---- */

/* What is known of one value of a group: of the mean, or of the mean difference from the first value. */
struct known {
    int64_t count, seeds; /* seeds that count, of those that were asked for */
    bool lacks; /* a run has ended and does not count */
    double width;
};

static struct known look(const struct seeds *s, const struct group *group, int64_t value)
{
    struct known known = {0};

    for (int64_t seed = 0; seed < group->used; seed++) {
        double end[2] = {0};
        bool counts = true;
        for (int i = 0; i < (value > 0 ? 2 : 1); i++) {
            int64_t cell = cell_of(s, group, i ? 0 : value, seed);
            enum seed_state state = (enum seed_state)s->state[cell];
            known.seeds += i == 0 && state != STATE_REST;
            known.lacks = known.lacks || state == STATE_LACKS || state == STATE_DIVERGED;
            counts = counts && state == STATE_COUNTS;
            if (state == STATE_COUNTS)
                end[i] = s->reader->value(s->reader->context, cell, s->rule->variable);
        }
        if (counts)
            s->value[known.count++] = end[0] - end[1];
    }
    known.width = seeds_width(s->value, known.count);
    return known;
}

static void set_left(struct seeds *s, struct group *group, double left)
{
    s->left += left - group->left;
    group->left = left;
}

/* The cells of the group that were not asked for are left out. */
static void end_group(struct seeds *s, struct group *group)
{
    const int64_t *cell = s->parts.cell + (group - s->group) * s->parts.size;

    set_left(s, group, 0);
    s->ended++;
    for (int64_t i = 0; i < s->parts.size; i++)
        if (s->state[cell[i]] == STATE_REST)
            s->choose(s->context, CHOICE_LEAVE, cell[i]);
}

/* If all runs of a group have ended that it has asked for: the next seeds, or its end. */
static void go_on(struct seeds *s, struct group *group)
{
    while (group->open == 0) {
        int64_t used = group->used;
        int64_t next = at_most(used + s->sweep->refine.at_once, s->rule->most);
        bool wide = false;
        double left = 0;
        for (int64_t value = s->values > 1 ? 1 : 0; value < s->values; value++) {
            const struct known known = look(s, group, value);
            if (known.width <= s->rule->width || (known.count == 0 && known.lacks))
                continue;
            for (int64_t seed = used; seed < next; seed++) {
                if (value > 0)
                    ask(s, group, 0, seed);
                ask(s, group, value, seed);
            }
            int64_t runs = s->values > 1 && !wide ? 2 : 1; /* of a seed, with that of the first value */
            /* Seeds are needed until the interval, which shrinks with their root, is narrow. */
            double ratio = known.width / s->rule->width, seeds = (double)s->rule->most;
            if (isfinite(ratio))
                seeds = fmin(fmax((double)used * ratio * ratio, (double)used + 1), seeds);
            left += (double)runs * fmax(seeds - (double)next, 0);
            wide = true;
        }
        if (!wide || used == s->rule->most) {
            end_group(s, group);
            return;
        }
        group->used = next;
        set_left(s, group, left);
    }
}

static void begin(struct seeds *s, struct group *group)
{
    group->used = s->rule->least;
    set_left(s, group, (double)s->values * (double)(s->rule->most - s->rule->least) / 2);
    for (int64_t seed = 0; seed < s->rule->least; seed++)
        for (int64_t value = 0; value < s->values; value++)
            ask(s, group, value, seed);
    go_on(s, group);
}

void seeds_searched(struct seeds *s, int64_t cell)
{
    struct group *group = group_of(s, cell);

    if (++group->searched < s->values * s->rule->least)
        return;
    if (group->chosen)
        begin(s, group);
    else
        end_group(s, group);
}

void seeds_chosen(struct seeds *s, int64_t cell)
{
    struct group *group = group_of(s, cell);

    s->state[cell] = STATE_ASKED;
    group->open++;
    group->chosen = true;
}

bool seeds_is_first(const struct seeds *s, int64_t cell)
{
    return s->parts.at[cell] % s->parts.size < s->values * s->rule->least;
}

int64_t seeds_peer(const struct seeds *s, int64_t cell, int64_t number)
{
    if (number >= s->rule->least)
        return -1;
    return cell_of(s, group_of(s, cell), value_of(s, cell), number);
}

void seeds_take(struct seeds *s, int64_t cell, enum outcome outcome)
{
    struct group *group = group_of(s, cell);

    if (s->state[cell] != STATE_ASKED)
        return;
    s->state[cell] = outcome == OUTCOME_DIVERGED ? STATE_DIVERGED : STATE_LACKS;
    if (outcome == OUTCOME_DONE && isfinite(s->reader->value(s->reader->context, cell, s->rule->variable)))
        s->state[cell] = STATE_COUNTS;
    group->open--;
    if (group->used > 0)
        go_on(s, group);
}

double seeds_left(const struct seeds *s)
{
    return s->ended == s->parts.count ? 0 : s->left;
}

enum side seeds_implied(const struct seeds *s, int64_t cell)
{
    const struct group *group = group_of(s, cell);
    enum side found = SIDE_NONE;

    if (group->used == 0)
        return SIDE_OPEN;
    for (int64_t seed = 0; seed < group->used; seed++) {
        int64_t other = cell_of(s, group, value_of(s, cell), seed);
        enum side side = s->state[other] == STATE_DIVERGED ? SIDE_DIVERGED : SIDE_NONE;
        if (s->state[other] == STATE_COUNTS)
            side = crossing_side(s->reader, &s->sweep->refine, other);
        if (side != SIDE_NONE && found != SIDE_NONE && side != found)
            return SIDE_NONE;
        found = side == SIDE_NONE ? found : side;
    }
    return found;
}

bool seeds_reason(const struct seeds *s, int64_t cell, struct string *why)
{
    const char *variable = metric_table[s->rule->variable].name;
    char what[LABEL_SIZE];
    const struct group *group = group_of(s, cell);
    int64_t value = value_of(s, cell);

    if (group->used == 0 && seeds_is_first(s, cell))
        return false;
    if (group->used == 0) {
        string_format(
            why, "not needed: no search of the first %lld seeds came here", (long long)s->rule->least);
        return true;
    }
    struct known known = look(s, group, value == 0 && s->values > 1 ? 1 : value);
    for (int64_t i = 2; value == 0 && i < s->values; i++) { /* the widest difference from this value */
        const struct known other = look(s, group, i);
        known = other.width > known.width ? other : known;
    }
    snprintf(what, sizeof(what), "%s%s%s%s", s->values > 1 ? "the difference of " : "", variable,
        s->values > 1 ? " along " : "", s->values > 1 ? s->sweep->axis[s->rule->difference].name : "");
    if (known.count < 2)
        string_format(why, "not reached: %lld of the first %lld seeds tell %s", (long long)known.count,
            (long long)known.seeds, what);
    else
        string_format(why, "not needed: the 95 %% interval of %s over %lld seeds is %.3g wide", what,
            (long long)known.count, known.width);
    if (known.count >= 2 && known.width > s->rule->width)
        string_format(why, ", and refine trains no more than %lld", (long long)s->rule->most);
    return true;
}

/* ---- memory ---- */

struct seeds *seeds_new(const struct sweep *sweep, const struct search_reader *reader,
    void (*choose)(void *context, enum choice_kind kind, int64_t cell), void *context)
{
    const struct refine_seeds *rule = &sweep->refine.seeds;
    const int64_t axis[2] = {rule->axis, rule->difference};
    struct seeds *s = memory_new(1, sizeof(*s));

    *s = (struct seeds){.sweep = sweep,
        .reader = reader,
        .choose = choose,
        .context = context,
        .rule = rule,
        .values = rule->difference >= 0 ? sweep->axis[rule->difference].length : 1,
        .state = memory_zero((size_t)sweep->cells, sizeof(*s->state)),
        .value = memory_new((size_t)sweep->axis[rule->axis].length, sizeof(*s->value))};
    parts_make(&s->parts, sweep, axis, rule->difference >= 0 ? 2 : 1, 1);
    s->group = memory_zero((size_t)s->parts.count, sizeof(*s->group));
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        if (sweep_skips(sweep, cell))
            s->state[cell] = STATE_SKIPPED;
    for (int64_t i = 0; sweep->refine.kind == REFINE_SEEDS && i < s->parts.count; i++)
        begin(s, &s->group[i]);
    return s;
}

void seeds_free(struct seeds *s)
{
    if (!s)
        return;
    parts_release(&s->parts);
    free(s->group);
    free(s->state);
    free(s->value);
    free(s);
}
