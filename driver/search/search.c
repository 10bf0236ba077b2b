/*
 * A sweep that refines falls into regions, which have nothing to do with each other: the lines along the
 * refined axis, or the rectangles of two. Cells of a region have places in the order of ascending values. A
 * region is a struct crossing or a struct halving, which know nothing of cells.
 */
#include "driver/search/inside.h"
#include "driver/sweep/sweep.h"
#include "model/core/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

static int compare_indices(const void *a, const void *b, void *context)
{
    const struct axis *axis = context;

    return value_compare(axis->param[0], axis->value[*(const int64_t *)a], axis->value[*(const int64_t *)b]);
}

/* The place of each index of an axis in the order of values. -1: no memory. */
static int rank_axis(struct axis *axis, int64_t *rank)
{
    int64_t *sorted = malloc((size_t)axis->length * sizeof(*sorted));

    if (!sorted)
        return -1;
    for (int64_t i = 0; i < axis->length; i++)
        sorted[i] = i;
    qsort_r(sorted, (size_t)axis->length, sizeof(*sorted), compare_indices, axis);
    for (int64_t i = 0; i < axis->length; i++)
        rank[sorted[i]] = i;
    free(sorted);
    return 0;
}

int64_t region_of(const struct search *s, int64_t cell, int64_t *place)
{
    int64_t region = 0, regions = 1, index[REFINE_AXES] = {0};

    for (int64_t a = s->sweep->axis_count - 1; a >= 0; a--) {
        int64_t length = s->sweep->axis[a].length, at = cell % length;
        cell /= length;
        if (s->refine->axis[0] == a) {
            index[0] = at;
        } else if (s->refine->axis_count > 1 && s->refine->axis[1] == a) {
            index[1] = at;
        } else {
            region += regions * at;
            regions *= length;
        }
    }
    INVARIANT(s->rank[0] && index[0] < s->sweep->axis[s->refine->axis[0]].length,
        "cell beyond the grid by %lld", (long long)cell);
    *place = s->rank[0][index[0]];
    if (s->refine->axis_count > 1)
        *place = *place * s->sweep->axis[s->refine->axis[1]].length + s->rank[1][index[1]];
    return region;
}

/* Drops the skipped cells of a line, so that those on both sides become neighbours. */
static void close_gaps(struct search *s, int64_t region)
{
    int64_t *cell = s->cell + region * s->size, kept = 0;

    for (int64_t i = 0; i < s->size; i++)
        if (!sweep_skips(s->sweep, cell[i]))
            cell[kept++] = cell[i];
    s->region[region].length = kept;
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
        s->region[region].length = s->size;
        if (s->refine->kind == REFINE_LINES) {
            close_gaps(s, region);
            memset(s->side + region * s->size, SIDE_OPEN, (size_t)s->size);
        }
    }
}

/* ---- choices ---- */

static void choose(struct search *s, int64_t region, int64_t place)
{
    int64_t room = s->regions * s->size, at = region * s->size + place;

    INVARIANT(s->queue_used < room, "%lld cells wait of %lld", (long long)s->queue_used, (long long)room);
    s->wanted[at] = true;
    s->queue[(s->queue_first + s->queue_used++) % room] = s->cell[at];
    s->region[region].chosen++;
    s->region[region].open++;
}

static void on_want(void *context, int64_t place)
{
    struct search *s = context;

    choose(s, s->asked, place);
}

static struct halving halving_of(const struct search *s, int64_t region)
{
    const struct refine *refine = s->refine;
    bool flat = refine->axis_count == 1;

    return (struct halving){
        .length = {s->sweep->axis[refine->axis[0]].length, flat ? 1 : s->sweep->axis[refine->axis[1]].length},
        .coarse = refine->coarse,
        .side = s->side + region * s->size,
        .wanted = s->wanted + region * s->size};
}

static double region_expected(const struct refine *refine, const int64_t length[2], int64_t runs)
{
    if (refine->kind == REFINE_LINES)
        return runs > 0 ? crossing_expected(runs) : 0;
    return halving_expected(length, refine->coarse);
}

/* Runs that a region, which has made its first choices, will still choose. */
static double region_left(const struct search *s, const struct region *region)
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

static void end_region(struct search *s, int64_t region)
{
    if (s->refine->kind == REFINE_LINES)
        fill_line(s, region);
    s->ended[s->ended_count++] = region;
}

static void begin_region(struct search *s, int64_t number)
{
    struct region *region = &s->region[number];

    s->asked = number;
    if (s->refine->kind == REFINE_CELLS) {
        const struct halving halving = halving_of(s, number);
        halving_begin(&halving, on_want, s);
    } else if (region->length > 0) {
        crossing_begin(&region->crossing, region->length, s->side + number * s->size);
        choose(s, number, region->crossing.wanted);
    }
    if (region->open == 0)
        end_region(s, number);
    s->left += region_left(s, region);
}

/* ---- guesses ---- */

/* The place of a value between those of the line's runs, by its logarithm where they have one. */
static double place_of_value(const struct search *s, const int64_t *cell, int64_t length, double wanted)
{
    const struct param *param = s->sweep->axis[s->refine->axis[0]].param[0];
    double before = 0;
    struct run run;

    for (int64_t i = 0; i < length; i++) {
        sweep_cell(s->sweep, cell[i], &run);
        double value = param_get(param, &run).real;
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

/* From the norms of one or two runs along weight_decay. */
static double guess_by_norms(struct search *s, const int64_t *cell, int64_t length, int64_t a, int64_t b)
{
    struct course *first = &s->course[0], *second = &s->course[1];
    const struct search_reader *reader = &s->reader;

    if (!is_done(s, a) || !reader->course(reader->context, cell[a], first))
        return NAN;
    bool two =
        is_done(s, b) && reader->course(reader->context, cell[b], second) && first->count == second->count;
    double decay = prediction_boundary(first, two ? second : NULL, s->refine->at * s->refine->at);
    struct run run;
    sweep_cell(s->sweep, cell[length - 1], &run); /* the largest decay: it is above 0 if any is */
    return isnan(decay) ? NAN : place_of_value(s, cell, length, decay / run_even_decay_factor(&run));
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
    const struct param *along = s->sweep->axis[s->refine->axis[0]].param[0];
    double place = NAN;

    if (s->refine->variable == METRIC_norm_growth && along == param_find("weight_decay"))
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

void search_take(struct search *s, int64_t cell, enum outcome outcome)
{
    int64_t place, number = region_of(s, cell, &place), first = number * s->size;
    struct region *region = &s->region[number];
    bool lines = s->refine->kind == REFINE_LINES;

    if (lines && (region->open == 0 || s->cell[first + region->crossing.wanted] != cell))
        return;
    if (lines)
        place = region->crossing.wanted;
    if (!s->wanted[first + place] || s->side[first + place] != SIDE_OPEN)
        return;
    enum side side = side_of(s, cell, outcome);
    double left = region_left(s, region);
    s->side[first + place] = (signed char)side;
    s->asked = number;
    region->open--;
    if (lines) {
        crossing_take(&region->crossing, on_guess, s);
        if (region->crossing.wanted >= 0)
            choose(s, number, region->crossing.wanted);
    } else {
        const struct halving halving = halving_of(s, number);
        halving_take(&halving, place, on_want, s);
    }
    if (region->open == 0)
        end_region(s, number);
    s->left += region_left(s, region) - left;
}

/* The side of a cell that was not wanted, in a region that has ended. */
static enum side implied_side(const struct search *s, int64_t region, int64_t place)
{
    const struct halving halving = halving_of(s, region);

    return s->refine->kind == REFINE_LINES ? (enum side)halving.side[place]
                                           : halving_implied(&halving, place);
}

/* The next cell that is left out, of regions that have ended; false: none. */
static bool next_left(struct search *s, struct choice *choice)
{
    while (s->leaving < s->ended_count) {
        int64_t region = s->ended[s->leaving], *cell = s->cell + region * s->size;
        while (s->leaving_place < s->region[region].length) {
            int64_t place = s->leaving_place++;
            if (s->wanted[region * s->size + place] || sweep_skips(s->sweep, cell[place]))
                continue;
            *choice = (struct choice){CHOICE_LEAVE, cell[place], implied_side(s, region, place)};
            return true;
        }
        s->leaving++;
        s->leaving_place = 0;
    }
    return false;
}

bool search_next(struct search *s, struct choice *choice)
{
    if (s->queue_used > 0) {
        *choice = (struct choice){CHOICE_TRAIN, s->queue[s->queue_first], SIDE_OPEN};
        s->queue_first = (s->queue_first + 1) % (s->regions * s->size);
        s->queue_used--;
        return true;
    }
    return next_left(s, choice);
}

double search_expected(const struct sweep *sweep)
{
    const struct refine *refine = &sweep->refine;
    int64_t length[REFINE_AXES] = {1, 1}, cells = sweep->cells;

    for (int i = 0; i < refine->axis_count; i++) {
        length[i] = sweep->axis[refine->axis[i]].length;
        cells /= length[i];
    }
    return fmin(
        (double)cells * region_expected(refine, length, length[0]), (double)(sweep->cells - sweep->skipped));
}

double search_left(const struct search *s)
{
    return s->ended_count == s->regions ? 0 : s->left; /* a sum of roundings */
}

/* ---- memory ---- */

static bool new_courses(struct search *s, int64_t steps)
{
    bool all = true;

    for (int i = 0; i < 2; i++) {
        s->course[i].square = malloc((size_t)steps * sizeof(double));
        s->course[i].time = malloc((size_t)steps * sizeof(double));
        all = all && s->course[i].square && s->course[i].time;
    }
    return all;
}

static bool new_ranks(struct search *s)
{
    bool all = true;

    for (int i = 0; i < s->refine->axis_count; i++) {
        struct axis *axis = &s->sweep->axis[s->refine->axis[i]];
        s->rank[i] = calloc((size_t)axis->length, sizeof(*s->rank[i]));
        all = all && s->rank[i] && rank_axis(axis, s->rank[i]) == 0;
        s->size *= axis->length;
    }
    return all;
}

struct search *search_new(const struct sweep *sweep, const struct search_reader *reader, int64_t steps)
{
    struct search *s = calloc(1, sizeof(*s));
    size_t cells = (size_t)sweep->cells;

    if (!s)
        return NULL;
    *s = (struct search){.sweep = sweep, .refine = &sweep->refine, .reader = *reader, .size = 1};
    bool all = new_courses(s, steps) && new_ranks(s);
    s->regions = sweep->cells / s->size;
    s->region = calloc((size_t)s->regions, sizeof(*s->region));
    s->ended = malloc((size_t)s->regions * sizeof(*s->ended));
    s->cell = malloc(cells * sizeof(*s->cell));
    s->queue = malloc(cells * sizeof(*s->queue));
    s->side = calloc(cells, sizeof(*s->side));
    s->wanted = calloc(cells, sizeof(*s->wanted));
    if (!all || !s->region || !s->ended || !s->cell || !s->queue || !s->side || !s->wanted) {
        search_free(s);
        return NULL;
    }
    place_cells(s);
    for (int64_t region = 0; region < s->regions; region++)
        begin_region(s, region);
    return s;
}

void search_free(struct search *s)
{
    if (!s)
        return;
    for (int i = 0; i < 2; i++) {
        free(s->course[i].square);
        free(s->course[i].time);
    }
    for (int i = 0; i < REFINE_AXES; i++)
        free(s->rank[i]);
    free(s->region);
    free(s->ended);
    free(s->cell);
    free(s->queue);
    free(s->side);
    free(s->wanted);
    free(s);
}
