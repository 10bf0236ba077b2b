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
#include "driver/text/text.h"
#include "model/core/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Searches of several seeds together come to so many times the cells of one. */
#define SEEDS_APART 1.5

struct region {
    struct search *search;
    int64_t *cell; /* [parts.size] by place; in a line, skipped cells come behind the others */
    signed char *side; /* [parts.size] enum side */
    int64_t chosen, open; /* runs that were chosen, and those among them that have not ended */
    struct crossing crossing; /* REFINE_LINES: of the cells that are not skipped */
    struct halving halving; /* REFINE_CELLS */
};

struct search {
    const struct sweep *sweep;
    const struct refine *refine;
    struct search_reader reader;
    struct norm_curve curve[2]; /* room for the runs that a guess is made from */
    struct parts parts; /* the regions */
    struct region *region; /* [parts.count] */
    signed char *side; /* [parts.count][parts.size] */
    int64_t *queue; /* [cells] each once: those to train from the front on, those to leave from the back on */
    int64_t train, trained; /* cells that were put at the front, and taken from there */
    int64_t leave, left_out; /* the same of the back */
    int64_t searching; /* regions that have begun and not ended */
    double left; /* a sum of roundings */
    struct seeds *seeds; /* NULL: all */
};

/* ---- choices ---- */

static void put(void *context, enum choice_kind kind, int64_t cell)
{
    struct search *s = context;

    INVARIANT(s->train + s->leave < s->sweep->cells, "%lld cells wait", (long long)(s->train + s->leave));
    s->queue[kind == CHOICE_TRAIN ? s->train++ : s->sweep->cells - ++s->leave] = cell;
}

static void choose(void *context, int64_t place)
{
    struct region *region = context;
    struct search *s = region->search;

    region->side[place] = SIDE_WANTED;
    region->chosen++;
    region->open++;
    put(s, CHOICE_TRAIN, region->cell[place]);
    if (s->seeds)
        seeds_chosen(s->seeds, region->cell[place]);
}

/* Runs that a region, which has made its first choices, will still choose. */
static double region_left(const struct region *region)
{
    const struct refine *refine = region->search->refine;
    double runs = refine->kind == REFINE_LINES ? crossing_expected(region->crossing.length, refine->at_once)
                                               : halving_expected(region->halving.length, refine->coarse);

    return region->open == 0 ? 0 : fmax(runs - (double)region->chosen, 0);
}

/* Leaves out the cells that the search has not chosen; with seeds, those of some cells may begin. */
static void end_region(const struct region *region)
{
    struct search *s = region->search;

    s->searching--;
    for (int64_t i = 0; i < s->parts.size; i++)
        if (s->seeds)
            seeds_searched(s->seeds, region->cell[i]);
        else if (region->side[i] == SIDE_OPEN)
            put(s, CHOICE_LEAVE, region->cell[i]);
}

static void begin_region(struct search *s, struct region *region)
{
    const struct refine *refine = s->refine;
    int64_t first = (region - s->region) * s->parts.size, length = 0;

    *region = (struct region){.search = s, .cell = s->parts.cell + first, .side = s->side + first};
    for (int64_t i = 0; refine->kind == REFINE_LINES && i < s->parts.size; i++) {
        int64_t here = region->cell[i];
        if (!sweep_skips(s->sweep, here)) { /* those on both sides of skipped cells become neighbours */
            region->cell[i] = region->cell[length];
            region->cell[length++] = here;
        }
    }
    for (int64_t i = 0; i < s->parts.size; i++) {
        s->parts.at[region->cell[i]] = first + i;
        region->side[i] = sweep_skips(s->sweep, region->cell[i]) ? SIDE_NONE : SIDE_OPEN;
    }
    s->searching++;
    if (refine->kind == REFINE_CELLS) {
        int64_t rows = s->sweep->axis[refine->axis[0]].length;
        region->halving = (struct halving){.length = {rows, s->parts.size / rows},
            .coarse = refine->coarse,
            .side = region->side,
            .want = choose,
            .context = region};
        halving_begin(&region->halving);
    } else if (length > 0) {
        region->crossing = (struct crossing){.length = length,
            .at_once = refine->at_once,
            .side = region->side,
            .want = choose,
            .context = region};
        crossing_begin(&region->crossing);
    }
    if (region->open == 0)
        end_region(region);
    s->left += region_left(region);
}

/* ---- guesses ---- */

/* The place of a decay between those of the line's runs, by its logarithm where they have one. */
static double place_of_decay(const struct region *line, double wanted)
{
    double before = 0;
    struct run run;

    for (int64_t i = 0; i < line->crossing.length; i++) {
        sweep_cell(line->search->sweep, line->cell[i], &run);
        double value = run.weight_decay;
        if (value >= wanted) {
            double share = before > 0 ? log(wanted / before) / log(value / before) : wanted / value;
            return i > 0 ? (double)(i - 1) + share : 0;
        }
        before = value;
    }
    return (double)line->crossing.length;
}

/* Is the run at a place of a line done? A diverged one has norms of its first steps alone. */
static bool is_done(const struct region *line, int64_t place)
{
    return place >= 0 && (line->side[place] == SIDE_ABOVE || line->side[place] == SIDE_BELOW);
}

/* From the norms of one or two runs at different decays. */
static double guess_by_norms(const struct region *line, int64_t a, int64_t b)
{
    struct search *s = line->search;
    struct norm_curve *first = &s->curve[0], *second = &s->curve[1];
    const struct search_reader *reader = &s->reader;
    struct run run;

    if (!is_done(line, a) || !reader->norm_curve(reader->context, line->cell[a], first))
        return NAN;
    bool two = is_done(line, b) && reader->norm_curve(reader->context, line->cell[b], second) &&
               !second->early && first->count == second->count;
    double decay = prediction_boundary(first, two ? second : NULL, s->refine->at * s->refine->at);
    /* The largest decay is above 0 if any is. */
    sweep_cell(s->sweep, line->cell[line->crossing.length - 1], &run);
    return isnan(decay) ? NAN : place_of_decay(line, decay / run_even_decay_factor(&run));
}

/* Where a straight line through the values at both ends of the known range crosses; growths in logarithms. */
static double guess_by_values(const struct region *line, int64_t a, int64_t b)
{
    const struct search_reader *reader = &line->search->reader;
    const struct refine *refine = line->search->refine;
    bool ratio = nature_table[metric_table[refine->variable].nature].geometric && refine->at > 0;
    double end[2];

    /* A straight line that was far off once may be so again: then the middle is taken. */
    if (line->crossing.slow > 0 || b <= a || !is_done(line, a) || !is_done(line, b))
        return NAN;
    for (int i = 0; i < 2; i++) {
        double value = reader->value(reader->context, line->cell[i ? b : a], refine->variable);
        end[i] = ratio ? log(value / refine->at) : value - refine->at;
    }
    double place = (double)a + (double)(b - a) * end[0] / (end[0] - end[1]);
    return isfinite(place) ? place : NAN;
}

static double on_guess(void *context, int64_t a, int64_t b)
{
    const struct region *line = context;
    const struct refine *refine = line->search->refine;
    const struct axis *along = &line->search->sweep->axis[refine->axis[0]];
    bool decay = along->param[0] == param_find("weight_decay") || axis_is_timescale(along);
    double place = refine->variable == METRIC_norm_growth && decay ? guess_by_norms(line, a, b) : NAN;

    return isnan(place) ? guess_by_values(line, a, b) : place;
}

/* ---- the search ---- */

void search_take(struct search *s, int64_t cell, enum outcome outcome)
{
    if (s->seeds)
        seeds_take(s->seeds, cell, outcome);
    if (s->refine->kind == REFINE_SEEDS)
        return;
    int64_t at = s->parts.at[cell];
    struct region *region = &s->region[at / s->parts.size];
    if (s->side[at] != SIDE_WANTED)
        return;
    double left = region_left(region);
    s->side[at] = outcome == OUTCOME_DIVERGED ? SIDE_DIVERGED
                  : outcome == OUTCOME_DONE   ? (signed char)crossing_side(&s->reader, s->refine, cell)
                                              : SIDE_NONE;
    region->open--;
    if (s->refine->kind == REFINE_CELLS)
        halving_take(&region->halving, at % s->parts.size);
    else if (region->open == 0)
        crossing_take(&region->crossing, on_guess);
    if (region->open == 0)
        end_region(region);
    s->left += region_left(region) - left;
}

/* The side of a run that the search for a boundary has not chosen, by the runs around it. */
static enum side implied_in_region(const struct search *s, int64_t cell)
{
    int64_t at = s->parts.at[cell], place = at % s->parts.size;
    const struct region *region = &s->region[at / s->parts.size];

    if (s->side[at] != SIDE_OPEN)
        return (enum side)s->side[at];
    return s->refine->kind == REFINE_LINES ? crossing_implied(&region->crossing, place)
                                           : halving_implied(&region->halving, place);
}

/* The side of a cell that is left out with its seeds: that of the runs of other seeds, or where no search
 * came that which its own search implies, or else all searches of the first seeds. */
static enum side implied_by_seeds(const struct search *s, int64_t cell)
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
    double runs = refine->kind == REFINE_LINES   ? crossing_expected(length[0], refine->at_once)
                  : refine->kind == REFINE_CELLS ? halving_expected(length, refine->coarse)
                                                 : 1;
    if (refine->kind != REFINE_SEEDS && seeds->most > 0)
        runs *= SEEDS_APART;
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
static char *value_at(const struct region *line, int64_t place, char text[LABEL_SIZE])
{
    const struct sweep *sweep = line->search->sweep;
    int64_t axis = sweep->refine.axis[0];
    int64_t index = axis_index(sweep->axis_count, sweep->axis, axis, line->cell[place]);

    return label_axis_value(&sweep->axis[axis], index, text, LABEL_SIZE);
}

char *search_reason(const struct search *s, int64_t cell, char *text, size_t size)
{
    char low[LABEL_SIZE], high[LABEL_SIZE];
    const char *axis = s->refine->axis_count > 0 ? s->sweep->axis[s->refine->axis[0]].name : "";
    const char *variable = metric_table[s->refine->variable].name;
    double at = s->refine->at;
    const struct region *region = s->region + (s->parts.at ? s->parts.at[cell] / s->parts.size : 0);
    const struct crossing *crossing = &region->crossing;
    const signed char *side = crossing->side;
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
        string_format(&why, " between %s %s and %s", axis, value_at(region, crossing->low, low),
            value_at(region, crossing->high, high));
    } else if (crossing->end == CROSSING_SAME && side[0] == SIDE_DIVERGED) {
        string_format(&why, "not needed: the first and the last run along %s diverge", axis);
    } else if (crossing->end == CROSSING_SAME) {
        string_format(&why, "not needed: the first and the last run along %s are on one side of %s %g", axis,
            variable, at);
    } else {
        string_format(&why, "not reached: the run at %s %s has no %s", axis,
            value_at(region, crossing->lacking, low), variable);
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

    *s = (struct search){.sweep = sweep, .refine = &sweep->refine, .reader = *reader};
    double *room = memory_new(4 * (size_t)steps, sizeof(*room));
    s->curve[0] = (struct norm_curve){.square = room, .time = room + steps};
    s->curve[1] = (struct norm_curve){.square = room + 2 * steps, .time = room + 3 * steps};
    s->queue = memory_new(cells, sizeof(*s->queue));
    s->side = memory_zero(cells, sizeof(*s->side));
    if (s->refine->kind != REFINE_SEEDS)
        parts_make(&s->parts, sweep, s->refine->axis, s->refine->axis_count, s->refine->axis_count);
    s->region = memory_zero((size_t)s->parts.count + 1, sizeof(*s->region));
    if (s->refine->seeds.most > 0)
        s->seeds = seeds_new(sweep, &s->reader, put, s);
    for (int64_t i = 0; i < s->parts.count; i++)
        if (!s->seeds || seeds_is_first(s->seeds, s->parts.cell[i * s->parts.size]))
            begin_region(s, &s->region[i]);
    return s;
}

void search_free(struct search *s)
{
    if (!s)
        return;
    free(s->curve[0].square);
    parts_release(&s->parts);
    free(s->region);
    free(s->queue);
    free(s->side);
    seeds_free(s->seeds);
    free(s);
}
