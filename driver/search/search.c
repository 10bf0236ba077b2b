/*
 * A sweep that refines falls into regions, which have nothing to do with each other: the lines along the
 * refined axis, or the rectangles of two. Cells of a region have places in the order of ascending values. A
 * region is a struct crossing or a struct halving, which know nothing of cells. `job` and `plan` ask for
 * choices with search_next, and say with search_take what became of them.
 *
 * With `seeds`, boundaries are searched for with the first seeds alone. When all regions that differ in their
 * seed, or in the axis along which differences are taken, have ended, the cells that one of them has chosen
 * get seeds like those of a sweep without a search (seeds.c), and the others are left out.
 */
#include "driver/search/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/text/text.h"
#include "model/core/check.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Searches of several seeds together come to so many times the cells of one. */
#define SEEDS_APART 1.5

struct region {
    bool ended;
    int64_t length; /* cells that are not skipped; of a rectangle, all cells */
    int64_t chosen, open; /* runs that were chosen, and those among them that have not ended */
    struct crossing crossing; /* REFINE_LINES */
};

struct search {
    const struct sweep *sweep;
    const struct refine *refine;
    struct search_reader reader;
    struct norm_curve curve[2]; /* room for the runs that a guess is made from */
    int64_t size; /* cells of a region */
    int64_t regions;
    struct region *region; /* [regions] */
    int64_t *cell; /* [regions][size] by place; of lines, those that are not skipped first */
    signed char *side; /* [regions][size] enum side */
    bool *wanted; /* [regions][size] */
    int64_t *rank[REFINE_AXES]; /* [length of the axis] place of an index in the order of values; of
                                  timescales, of decays */
    int64_t *queue; /* [cells] each once: those to train from the front on, those to leave from the back on */
    int64_t train, trained; /* cells that were put at the front, and taken from there */
    int64_t leave, left_out; /* the same of the back */
    int64_t asked; /* the region under way: of a choice or a guess */
    int64_t searching; /* regions that have begun and not ended */
    double left; /* a sum of roundings */
    struct seeds *seeds; /* NULL: all */
};

/* ---- places ---- */

/* Decay grows along the axis, or falls as timescale grows. */
static bool is_timescale(const struct axis *axis)
{
    return axis->param[0]->offset == offsetof(struct run, timescale);
}

/* The region of a cell, and its place in it if no cell is skipped. */
static int64_t region_of(const struct search *s, int64_t cell, int64_t *place)
{
    const struct refine *refine = s->refine;
    int64_t index[REFINE_AXES] = {0};
    int64_t region = cell_split(s->sweep, cell, refine->axis, refine->axis_count, index);

    *place = s->rank[0][index[0]];
    if (refine->axis_count > 1)
        *place = *place * s->sweep->axis[refine->axis[1]].length + s->rank[1][index[1]];
    return region;
}

static void place_cells(struct search *s)
{
    int64_t place;

    for (int64_t cell = 0; cell < s->sweep->cells; cell++) {
        int64_t region = region_of(s, cell, &place), at = region * s->size + place;
        s->cell[at] = cell;
        s->side[at] = sweep_skips(s->sweep, cell) ? SIDE_NONE : SIDE_OPEN;
    }
    for (int64_t region = 0; region < s->regions; region++) {
        int64_t *cell = s->cell + region * s->size, kept = 0;
        s->region[region].length = s->size;
        if (s->refine->kind == REFINE_CELLS)
            continue;
        for (int64_t i = 0; i < s->size; i++) { /* those on both sides of skipped cells become neighbours */
            int64_t here = cell[i];
            if (sweep_skips(s->sweep, here))
                continue;
            cell[i] = cell[kept];
            cell[kept++] = here;
        }
        s->region[region].length = kept;
        memset(s->side + region * s->size, SIDE_OPEN, (size_t)s->size);
    }
}

/* ---- choices ---- */

static void put(void *context, enum choice_kind kind, int64_t cell)
{
    struct search *s = context;

    INVARIANT(s->train + s->leave < s->sweep->cells, "%lld cells wait", (long long)(s->train + s->leave));
    s->queue[kind == CHOICE_TRAIN ? s->train++ : s->sweep->cells - ++s->leave] = cell;
}

/* Wants a run of the region under way. */
static void choose(void *context, int64_t place)
{
    struct search *s = context;
    int64_t at = s->asked * s->size + place;

    s->wanted[at] = true;
    put(s, CHOICE_TRAIN, s->cell[at]);
    if (s->seeds)
        seeds_chosen(s->seeds, s->cell[at]);
    s->region[s->asked].chosen++;
    s->region[s->asked].open++;
}

static struct halving halving_of(struct search *s, int64_t region)
{
    const struct refine *refine = s->refine;
    bool flat = refine->axis_count == 1;

    return (struct halving){
        .length = {s->sweep->axis[refine->axis[0]].length, flat ? 1 : s->sweep->axis[refine->axis[1]].length},
        .coarse = refine->coarse,
        .side = s->side + region * s->size,
        .wanted = s->wanted + region * s->size,
        .want = choose,
        .context = s};
}

static double region_expected(const struct refine *refine, const int64_t length[2], int64_t runs)
{
    if (refine->kind == REFINE_LINES)
        return runs > 0 ? crossing_expected(runs, refine->at_once) : 0;
    return halving_expected(length, refine->coarse);
}

/* Runs that a region, which has made its first choices, will still choose. */
static double region_left(struct search *s, const struct region *region)
{
    double runs = region_expected(s->refine, halving_of(s, 0).length, region->length);

    return region->open == 0 ? 0 : fmax(runs - (double)region->chosen, 0);
}

/*
 * Gives the runs of a line that were not wanted the side of the known runs on both sides, where these agree,
 * and beyond the last one its side. The others stay open.
 */
static void fill_line(struct search *s, int64_t region)
{
    signed char *side = s->side + region * s->size;
    int64_t before = -1, length = s->region[region].length;

    for (int64_t i = 0; i <= length; i++) {
        if (i < length && (side[i] == SIDE_OPEN || side[i] == SIDE_NONE))
            continue;
        bool agree = before >= 0 && (i == length || side[i] == side[before]);
        for (int64_t j = before + 1; agree && j < i; j++)
            side[j] = side[j] == SIDE_OPEN ? side[before] : side[j];
        before = i;
    }
}

/* The place of a cell in its region; of lines, among those that are not skipped, -1: it is. */
static int64_t find_place(const struct search *s, int64_t cell, int64_t *number)
{
    int64_t place, length;

    *number = region_of(s, cell, &place);
    length = s->region[*number].length;
    if (s->refine->kind == REFINE_LINES) /* it is at most the place in the grid */
        for (place = place < length ? place : length - 1;
             place >= 0 && s->cell[*number * s->size + place] != cell; place--)
            ;
    return place;
}

/* Leaves out the cells that the search has not chosen, or if all regions of the first seeds beside this one
 * have ended, begins the seeds of the cells there. */
static void end_region(struct search *s, int64_t region)
{
    int64_t first = region * s->size, other, place;
    bool seeds = s->seeds != NULL;

    s->region[region].ended = true;
    s->searching--;
    if (s->refine->kind == REFINE_LINES)
        fill_line(s, region);
    for (int64_t at = first; !s->seeds && at < first + s->region[region].length; at++)
        if (!s->wanted[at] && !sweep_skips(s->sweep, s->cell[at]))
            put(s, CHOICE_LEAVE, s->cell[at]);
    for (int64_t i = 0; seeds && (other = seeds_cell(s->seeds, s->cell[first], i)) >= 0; i++)
        seeds = s->region[region_of(s, other, &place)].ended;
    for (int64_t at = first; seeds && at < first + s->size; at++)
        seeds_begin(s->seeds, s->cell[at]);
}

static void begin_region(struct search *s, int64_t number)
{
    struct region *region = &s->region[number];

    s->asked = number;
    s->searching++;
    if (s->refine->kind == REFINE_CELLS) {
        const struct halving halving = halving_of(s, number);
        halving_begin(&halving);
    } else if (region->length > 0) {
        region->crossing = (struct crossing){.length = region->length,
            .at_once = s->refine->at_once,
            .side = s->side + number * s->size,
            .want = choose,
            .context = s};
        crossing_begin(&region->crossing);
    }
    if (region->open == 0)
        end_region(s, number);
    s->left += region_left(s, region);
}

/* ---- guesses ---- */

/* The place of a decay between those of the line's runs, by its logarithm where they have one. */
static double place_of_decay(const struct search *s, const int64_t *cell, int64_t length, double wanted)
{
    double before = 0;
    struct run run;

    for (int64_t i = 0; i < length; i++) {
        sweep_cell(s->sweep, cell[i], &run);
        double value = run.weight_decay;
        if (value >= wanted) {
            double share = before > 0 ? log(wanted / before) / log(value / before) : wanted / value;
            return i > 0 ? (double)(i - 1) + share : 0;
        }
        before = value;
    }
    return (double)length;
}

/* Is the run at a place of the line under way done? A diverged one has norms of its first steps alone. */
static bool is_done(const struct search *s, int64_t place)
{
    if (place < 0 || place >= s->region[s->asked].length)
        return false;
    enum side side = (enum side)s->side[s->asked * s->size + place];
    return side == SIDE_ABOVE || side == SIDE_BELOW;
}

/* From the norms of one or two runs at different decays. */
static double guess_by_norms(struct search *s, const int64_t *cell, int64_t length, int64_t a, int64_t b)
{
    struct norm_curve *first = &s->curve[0], *second = &s->curve[1];
    const struct search_reader *reader = &s->reader;

    if (!is_done(s, a) || !reader->norm_curve(reader->context, cell[a], first))
        return NAN;
    bool two = is_done(s, b) && reader->norm_curve(reader->context, cell[b], second) && !second->early &&
               first->count == second->count;
    double decay = prediction_boundary(first, two ? second : NULL, s->refine->at * s->refine->at);
    struct run run;
    sweep_cell(s->sweep, cell[length - 1], &run); /* the largest decay: it is above 0 if any is */
    return isnan(decay) ? NAN : place_of_decay(s, cell, length, decay / run_even_decay_factor(&run));
}

/* Where a straight line through the values at both ends of the known range crosses; a growth has logarithms.
 */
static double guess_by_values(const struct search *s, const int64_t *cell, int64_t a, int64_t b)
{
    const struct search_reader *reader = &s->reader;
    bool ratio = nature_table[metric_table[s->refine->variable].nature].geometric && s->refine->at > 0;
    double end[2];

    /* A straight line that was far off once may be so again: then the middle is taken. */
    if (s->region[s->asked].crossing.slow > 0 || b <= a || !is_done(s, a) || !is_done(s, b))
        return NAN;
    for (int i = 0; i < 2; i++) {
        double value = reader->value(reader->context, cell[i ? b : a], s->refine->variable);
        end[i] = ratio ? log(value / s->refine->at) : value - s->refine->at;
    }
    double place = (double)a + (double)(b - a) * end[0] / (end[0] - end[1]);
    return isfinite(place) ? place : NAN;
}

static double on_guess(void *context, int64_t a, int64_t b)
{
    struct search *s = context;
    const int64_t *cell = s->cell + s->asked * s->size;
    int64_t length = s->region[s->asked].length;
    const struct axis *along = &s->sweep->axis[s->refine->axis[0]];
    bool decay = along->param[0] == param_find("weight_decay") || is_timescale(along);
    double place = NAN;

    if (s->refine->variable == METRIC_norm_growth && decay)
        place = guess_by_norms(s, cell, length, a, b);
    return isnan(place) ? guess_by_values(s, cell, a, b) : place;
}

/* ---- the search ---- */

static enum side side_of(const struct search *s, int64_t cell, enum outcome outcome)
{
    const struct search_reader *reader = &s->reader;

    if (outcome == OUTCOME_DIVERGED)
        return SIDE_DIVERGED;
    double value = outcome == OUTCOME_DONE ? reader->value(reader->context, cell, s->refine->variable) : NAN;
    return isnan(value) ? SIDE_NONE : value > s->refine->at ? SIDE_ABOVE : SIDE_BELOW;
}

/* Takes the result of a cell that the search for a boundary has chosen. */
static void take(struct search *s, int64_t cell, enum outcome outcome)
{
    int64_t number, place = find_place(s, cell, &number), first = number * s->size;
    struct region *region = &s->region[number];
    bool lines = s->refine->kind == REFINE_LINES;

    if (place < 0 || !s->wanted[first + place] || s->side[first + place] != SIDE_OPEN)
        return;
    enum side side = side_of(s, cell, outcome);
    double left = region_left(s, region);
    s->side[first + place] = (signed char)side;
    s->asked = number;
    region->open--;
    if (lines && region->open == 0) {
        crossing_take(&region->crossing, on_guess);
    } else if (!lines) {
        const struct halving halving = halving_of(s, number);
        halving_take(&halving, place);
    }
    if (region->open == 0)
        end_region(s, number);
    s->left += region_left(s, region) - left;
}

void search_take(struct search *s, int64_t cell, enum outcome outcome)
{
    bool noted = s->seeds && seeds_note(s->seeds, cell, outcome);

    if (s->refine->kind != REFINE_SEEDS)
        take(s, cell, outcome);
    if (noted)
        seeds_take(s->seeds, cell);
}

/* The side of a run that the search for a boundary has not chosen, by the runs around it. */
static enum side implied_in_region(struct search *s, int64_t cell)
{
    int64_t region, place = find_place(s, cell, &region);
    const struct halving halving = halving_of(s, region);

    if (sweep_skips(s->sweep, cell))
        return SIDE_NONE;
    return s->refine->kind == REFINE_LINES ? (enum side)halving.side[place]
                                           : halving_implied(&halving, place);
}

/* The side of a cell that is left out with its seeds: that of the runs of other seeds, or where no search
 * came that which its own search implies, or else all searches of the first seeds. */
static enum side implied_by_seeds(struct search *s, int64_t cell)
{
    enum side found = seeds_implied(s->seeds, cell);
    int64_t other;

    if (found != SIDE_OPEN)
        return found;
    if (seeds_is_first(s->seeds, cell))
        return implied_in_region(s, cell);
    for (int64_t i = 0; (other = seeds_peer(s->seeds, cell, i)) >= 0; i++) {
        enum side side = implied_in_region(s, other);
        if (side <= SIDE_NONE || (i > 0 && side != found))
            return SIDE_NONE;
        found = side;
    }
    return found;
}

bool search_next(struct search *s, struct choice *choice)
{
    if (s->trained < s->train) {
        *choice = (struct choice){CHOICE_TRAIN, s->queue[s->trained++], SIDE_OPEN};
        return true;
    }
    if (s->left_out == s->leave)
        return false;
    int64_t cell = s->queue[s->sweep->cells - ++s->left_out];
    *choice = (struct choice){
        CHOICE_LEAVE, cell, s->seeds ? implied_by_seeds(s, cell) : implied_in_region(s, cell)};
    return true;
}

double search_expected(const struct sweep *sweep)
{
    const struct refine *refine = &sweep->refine;
    const struct refine_seeds *seeds = &refine->seeds;
    int64_t length[REFINE_AXES] = {1, 1}, cells = sweep->cells;

    if (seeds->most > 0)
        cells = cells / sweep->axis[seeds->axis].length * (seeds->least + seeds->most) / 2;
    for (int i = 0; i < refine->axis_count; i++) {
        length[i] = sweep->axis[refine->axis[i]].length;
        cells /= length[i];
    }
    double runs = 1;
    if (refine->kind != REFINE_SEEDS)
        runs = region_expected(refine, length, length[0]) * (seeds->most > 0 ? SEEDS_APART : 1);
    return fmin((double)cells * runs, (double)(sweep->cells - sweep->skipped));
}

double search_left(const struct search *s)
{
    const struct refine_seeds *rule = &s->refine->seeds;
    double left = s->searching > 0 ? s->left : 0;

    if (s->seeds)
        left = left * SEEDS_APART * (double)(rule->least + rule->most) / (double)(2 * rule->least) +
               seeds_left(s->seeds);
    return left;
}

/* ---- reasons ---- */

/* "0.01": the value of the refined axis at a place of a line. Returns text. */
static char *value_at(const struct search *s, int64_t region, int64_t place, char text[LABEL_SIZE])
{
    int64_t cell = s->cell[region * s->size + place], axis = s->refine->axis[0];
    int64_t index = axis_index(s->sweep->axis_count, s->sweep->axis, axis, cell);

    return label_axis_value(&s->sweep->axis[axis], index, text, LABEL_SIZE);
}

char *search_reason(const struct search *s, int64_t cell, char *text, size_t size)
{
    char low[LABEL_SIZE], high[LABEL_SIZE];
    const char *axis = s->refine->axis_count > 0 ? s->sweep->axis[s->refine->axis[0]].name : "";
    const char *variable = metric_table[s->refine->variable].name;
    double at = s->refine->at;
    int64_t place, region = s->refine->kind == REFINE_SEEDS ? 0 : region_of(s, cell, &place);
    const struct crossing *crossing = &s->region[region].crossing;
    const signed char *side = s->side + region * s->size;
    struct string why = {0};

    if (s->seeds && seeds_reason(s->seeds, cell, &why)) {
        /* it is that of its seeds */
    } else if (s->refine->kind == REFINE_CELLS) {
        string_format(
            &why, "not needed: no two runs around it are on different sides of %s %g", variable, at);
    } else if (crossing->end == CROSSING_FOUND) {
        if (side[crossing->low] == SIDE_DIVERGED)
            string_format(&why, "not needed: divergence ends");
        else if (side[crossing->high] == SIDE_DIVERGED)
            string_format(&why, "not needed: divergence begins");
        else
            string_format(&why, "not needed: %s crosses %g", variable, at);
        string_format(&why, " between %s %s and %s", axis, value_at(s, region, crossing->low, low),
            value_at(s, region, crossing->high, high));
    } else if (crossing->end == CROSSING_SAME && side[0] == SIDE_DIVERGED) {
        string_format(&why, "not needed: the first and the last run along %s diverge", axis);
    } else if (crossing->end == CROSSING_SAME) {
        string_format(&why, "not needed: the first and the last run along %s are on one side of %s %g", axis,
            variable, at);
    } else {
        string_format(&why, "not reached: the run at %s %s has no %s", axis,
            value_at(s, region, crossing->lacking, low), variable);
    }
    snprintf(text, size, "%s", string_text(&why));
    string_release(&why);
    return text;
}

/* ---- memory ---- */

struct search *search_new(const struct sweep *sweep, const struct search_reader *reader, int64_t steps)
{
    struct search *s = memory_new(1, sizeof(*s));
    size_t cells = (size_t)sweep->cells;

    *s = (struct search){.sweep = sweep, .refine = &sweep->refine, .reader = *reader, .size = 1};
    for (int i = 0; i < 2; i++) {
        s->curve[i].square = memory_new((size_t)steps, sizeof(double));
        s->curve[i].time = memory_new((size_t)steps, sizeof(double));
    }
    for (int i = 0; i < s->refine->axis_count; i++) {
        const struct axis *axis = &sweep->axis[s->refine->axis[i]];
        int64_t *sorted = memory_sorted(axis->length, axis_compare, axis);
        s->rank[i] = memory_new((size_t)axis->length, sizeof(*s->rank[i]));
        for (int64_t place = 0; place < axis->length; place++)
            s->rank[i][sorted[place]] = is_timescale(axis) ? axis->length - 1 - place : place;
        free(sorted);
        s->size *= axis->length;
    }
    s->regions = s->refine->kind == REFINE_SEEDS ? 0 : sweep->cells / s->size;
    s->region = memory_zero((size_t)s->regions + 1, sizeof(*s->region));
    s->cell = memory_new(cells, sizeof(*s->cell));
    s->queue = memory_new(cells, sizeof(*s->queue));
    s->side = memory_zero(cells, sizeof(*s->side));
    s->wanted = memory_zero(cells, sizeof(*s->wanted));
    if (s->refine->seeds.most > 0)
        s->seeds = seeds_new(sweep, &s->reader, put, s);
    if (s->refine->axis_count > 0)
        place_cells(s);
    for (int64_t region = 0; region < s->regions; region++)
        if (!s->seeds || seeds_is_first(s->seeds, s->cell[region * s->size]))
            begin_region(s, region);
    if (s->refine->kind == REFINE_SEEDS)
        seeds_begin_all(s->seeds);
    return s;
}

void search_free(struct search *s)
{
    if (!s)
        return;
    for (int i = 0; i < 2; i++) {
        free(s->curve[i].square);
        free(s->curve[i].time);
    }
    for (int i = 0; i < REFINE_AXES; i++)
        free(s->rank[i]);
    free(s->region);
    free(s->cell);
    free(s->queue);
    free(s->side);
    free(s->wanted);
    seeds_free(s->seeds);
    free(s);
}
