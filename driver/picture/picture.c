/*
 * One plane of a dataset as text: two of its dimensions, a panel for each combination of values of the other
 * axes but the seed, and in each cell what the runs of the cell have in common. That is a number, the mean of
 * a variable; or a word, which its runs have most often; or, in the phase diagram, a word that says how they
 * ended, with the mean of norm_growth behind "growing" and "shrinking".
 *
 * Values go through three steps: they are summed up cell by cell, judge() chooses a mark and a number for
 * each cell, print() draws the panels, the legend and notes on what a cell stands for. With colours, cells
 * are painted by their number, or in the colour of their mark. Without, they are texts, or else characters.
 */
#include "driver/picture/inside.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a cell shows. The order is that of the legend. */
enum mark {
    MARK_GROWING, /* of the phase diagram; with a number */
    MARK_SHRINKING,
    MARK_DIVERGED,
    MARK_ENDED,
    MARK_FAILED,
    MARK_RUNNING,
    MARK_PENDING,
    MARK_ABOVE,
    MARK_BELOW,
    MARK_SKIPPED,
    MARK_NOTHING, /* of variables */
    MARK_NUMBER,
    MARK_PALE, /* + one of the first three: a pending cell whose nearest neighbour has that mark */
    MARK_FLAG = MARK_PALE + 3, /* + i: the word of value i */
    MARK_COUNT = MARK_FLAG + VIEW_FLAGS_MAX,
};

/* No colour is one of the scale; that of growing and shrinking is for words of variables. */
static const struct {
    char character;
    int colour;
    const char *word;
} marks[MARK_FLAG] = {
    [MARK_GROWING] = {'#', 172, "growing"},
    [MARK_SHRINKING] = {'-', 140, "shrinking"},
    [MARK_DIVERGED] = {'!', COLOUR_BLACK, "diverged"},
    [MARK_ENDED] = {'o', 32, "done, no norms measured"},
    [MARK_FAILED] = {'x', 160, "failed"},
    [MARK_RUNNING] = {'>', 36, "running"},
    [MARK_PENDING] = {'.', 244, "pending"},
    [MARK_ABOVE] = {'+', 223, "growing, not trained"},
    [MARK_BELOW] = {'=', 189, "shrinking, not trained"},
    [MARK_SKIPPED] = {' ', COLOUR_NONE, "skipped (blank)"},
    [MARK_NOTHING] = {'.', COLOUR_NONE, "no value"},
    [MARK_NUMBER] = {' ', COLOUR_NONE, ""},
    [MARK_PALE + MARK_GROWING] = {'*', COLOUR_NONE, "pending, nearest is growing"},
    [MARK_PALE + MARK_SHRINKING] = {'~', COLOUR_NONE, "pending, nearest is shrinking"},
    [MARK_PALE + MARK_DIVERGED] = {':', 248, "pending, nearest has diverged"},
};

#define PALE 0.4 /* of the strength of a colour */

static const char shades[] = ":-=+*#%@";

/* Sums over the values of one cell. */
struct cell_sums {
    int64_t outcome[OUTCOME_COUNT]; /* of the run of each value */
    int64_t runs; /* of the values whose runs are not skipped */
    int64_t growing, shrinking; /* skipped runs that a search takes for such */
    int64_t count; /* of values that count */
    double sum; /* of these, or of their logarithms */
};

struct cell {
    double number; /* NaN: none */
    enum mark mark;
};

struct drawing {
    FILE *out;
    struct terminal terminal;
    const struct plane *plane;
    const double *value; /* [size of the plane]; NULL: all unknown */
    int64_t a_run; /* values of each run; 0: the variable is not over runs */
    const signed char *outcome; /* [runs]; NULL: all runs count */
    const double *phase; /* [runs], as in picture_runs; NULL: unknown */
    struct view_flags flags; /* words of the values; count 0: they are numbers */
    const struct nature_row *nature;
    bool diagram, live;

    struct cell_sums *sums; /* [cells] of all panels */
    int64_t *votes; /* [cells][flags] */
    struct cell *cell; /* [cells] */
    const struct cell *panel; /* [y][x] the panel that is drawn */
    struct colour_scale scale; /* the same for all panels */
    int64_t used[MARK_COUNT]; /* number of cells with each mark */
    int64_t diverged_runs;
    bool all_diverged; /* then none is left out */
    int64_t fewer; /* cells that have runs, but fewer than others because some are skipped */
    int digits; /* significant digits of the numbers in the cells; 0: none are shown */
    bool words; /* cells show the words of flags */
};

/* ---- sums ---- */

static void sum_outcomes(struct drawing *d)
{
    int64_t last = -1;

    d->all_diverged = true;
    for (int64_t i = 0; i < d->plane->size; i++) {
        int64_t cell = plane_cell(d->plane, i), run = i / d->a_run;
        if (cell < 0)
            continue;
        enum outcome outcome = (enum outcome)d->outcome[run];
        bool searched = outcome == OUTCOME_SKIPPED && d->phase, diverged = outcome == OUTCOME_DIVERGED;
        d->sums[cell].outcome[outcome]++;
        d->sums[cell].runs += outcome != OUTCOME_SKIPPED;
        d->sums[cell].growing += searched && d->phase[run] == PHASE_GROWING;
        d->sums[cell].shrinking += searched && d->phase[run] == PHASE_SHRINKING;
        d->diverged_runs += diverged && run != last;
        d->all_diverged = d->all_diverged && diverged;
        last = run;
    }
}

static void sum_values(struct drawing *d)
{
    for (int64_t i = 0; d->value && i < d->plane->size; i++) {
        enum outcome outcome = d->outcome ? (enum outcome)d->outcome[i / d->a_run] : OUTCOME_DONE;
        double value = d->value[i];
        bool counts = d->flags.count         ? value >= 0 && value < d->flags.count
                      : d->nature->geometric ? isfinite(value)
                                             : !isnan(value);
        if (!counts ||
            (d->diagram ? outcome != OUTCOME_DONE : outcome == OUTCOME_DIVERGED && !d->all_diverged))
            continue;
        int64_t cell = plane_cell(d->plane, i);
        if (cell < 0)
            continue;
        d->sums[cell].count++;
        if (d->flags.count)
            d->votes[cell * d->flags.count + (int)value]++;
        else
            d->sums[cell].sum += d->nature->geometric ? log(value) : value;
    }
}

/* ---- marks ---- */

static bool mostly_diverged(const struct cell_sums *sums)
{
    return sums->outcome[OUTCOME_DIVERGED] > sums->outcome[OUTCOME_DONE];
}

/* The first that applies. */
static enum mark diagram_mark(const struct cell_sums *sums, bool live)
{
    if (live && sums->outcome[OUTCOME_RUNNING])
        return MARK_RUNNING;
    if (mostly_diverged(sums))
        return MARK_DIVERGED;
    if (sums->count)
        return sums->sum > 0 ? MARK_GROWING : MARK_SHRINKING;
    if (sums->outcome[OUTCOME_DIVERGED])
        return MARK_DIVERGED;
    if (sums->outcome[OUTCOME_DONE])
        return MARK_ENDED;
    if (sums->outcome[OUTCOME_FAILED])
        return MARK_FAILED;
    if (sums->outcome[OUTCOME_RUNNING])
        return MARK_RUNNING;
    if (sums->outcome[OUTCOME_PENDING])
        return MARK_PENDING;
    if (sums->growing == 0 && sums->shrinking == 0)
        return MARK_SKIPPED;
    return sums->growing > sums->shrinking ? MARK_ABOVE : MARK_BELOW;
}

static bool is_growth(enum mark mark)
{
    return mark == MARK_GROWING || mark == MARK_SHRINKING;
}

static bool is_pale(enum mark mark)
{
    return mark >= MARK_PALE && mark < MARK_FLAG;
}

static struct cell judge_cell(const struct drawing *d, int64_t i)
{
    const struct cell_sums *sums = &d->sums[i];
    const int64_t *votes = d->votes + i * d->flags.count;
    struct cell cell = {.number = NAN, .mark = MARK_DIVERGED};
    int best = 0;

    for (int flag = 1; flag < d->flags.count; flag++) /* the lowest in a tie */
        best = votes[flag] > votes[best] ? flag : best;
    if (d->diagram)
        cell.mark = diagram_mark(sums, d->live);
    else if (mostly_diverged(sums) && (sums->count == 0 || !d->all_diverged))
        return cell; /* do not show the mean of the rest */
    else if (sums->count == 0)
        cell.mark = MARK_NOTHING;
    else
        cell.mark = d->flags.count ? MARK_FLAG + (enum mark)best : MARK_NUMBER;
    if (cell.mark == MARK_NUMBER || is_growth(cell.mark)) {
        double mean = sums->count ? sums->sum / (double)sums->count : NAN;
        cell.number = d->nature->geometric ? exp(mean) : mean;
    }
    return cell;
}

/* Lets each pending cell of a panel look like its nearest neighbour whose runs have ended, from those
 * outwards over the sides of pending cells. */
static void paint_pending(struct drawing *d, struct cell *panel)
{
    int64_t width = d->plane->x.length, size = width * d->plane->y.length, count = 0;
    int64_t *reached = memory_new((size_t)size, sizeof(*reached));

    for (int64_t i = 0; i < size; i++)
        if (is_growth(panel[i].mark) || panel[i].mark == MARK_DIVERGED)
            reached[count++] = i;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = reached[i], x = at % width;
        const int64_t next[] = {x > 0 ? at - 1 : at, x + 1 < width ? at + 1 : at,
            at >= width ? at - width : at, at + width < size ? at + width : at};
        for (int side = 0; side < 4; side++) {
            struct cell *cell = &panel[next[side]];
            if (cell->mark != MARK_PENDING)
                continue;
            *cell = panel[at];
            cell->mark += is_pale(cell->mark) ? 0 : MARK_PALE;
            reached[count++] = next[side];
            d->used[MARK_PENDING]--;
            d->used[cell->mark]++;
        }
    }
    free(reached);
}

/* Chooses the marks of all cells, and one scale for their numbers. */
static void judge(struct drawing *d)
{
    enum colour_numbers numbers = d->nature->geometric ? NUMBERS_FACTORS
                                  : d->nature->linear  ? NUMBERS_LINEAR
                                                       : NUMBERS_ANY;
    int64_t cells = plane_cells(d->plane);
    double *number = memory_new((size_t)cells, sizeof(*number));

    for (int64_t i = 0; i < cells; i++) {
        d->cell[i] = judge_cell(d, i);
        number[i] = d->cell[i].number;
        d->used[d->cell[i].mark]++;
    }
    colour_scale_choose(&d->scale, number, cells, numbers);
    free(number);
    for (int i = 0; d->diagram && i < d->plane->panels; i++)
        paint_pending(d, d->cell + i * d->plane->y.length * d->plane->x.length);
}

/* ---- looks ---- */

/* The word of a variable's value may be one of the phase diagram's; then it looks the same. */
static struct plot_cell look_of_flag(const struct drawing *d, int flag)
{
    const char *word = d->flags.word[flag];
    struct plot_cell look = {.character = (char)('0' + flag), .colour = colour_class(flag)};

    for (enum mark mark = 0; mark < MARK_NOTHING; mark++)
        if (strncmp(word, marks[mark].word, strlen(word)) == 0 &&
            strchr(", ", marks[mark].word[strlen(word)])) {
            look.character = marks[mark].character;
            look.colour = marks[mark].colour;
            break;
        }
    if (d->words)
        snprintf(look.text, sizeof(look.text), "%.*s", PLOT_TEXT - 1, word);
    return look;
}

static int colour_at(const struct drawing *d, double place)
{
    return d->scale.diverging ? colour_diverging(2 * place - 1) : colour_sequential(place);
}

static struct plot_cell look_of(const struct drawing *d, const struct cell *cell)
{
    double place = colour_scale_place(&d->scale, cell->number);
    bool flag = cell->mark >= MARK_FLAG, pale = is_pale(cell->mark);
    enum mark mark = cell->mark - (pale ? MARK_PALE : 0);
    struct plot_cell look =
        flag ? look_of_flag(d, (int)(cell->mark - MARK_FLAG))
             : (struct plot_cell){marks[cell->mark].character, marks[cell->mark].colour, ""};

    if (cell->mark == MARK_NUMBER) {
        int levels = (int)strlen(shades);
        look.character = shades[place < 1 ? (int)(place * levels) : levels - 1];
        look.colour = colour_at(d, place);
        if (d->digits)
            snprintf(look.text, sizeof(look.text), "%.*g", d->digits, cell->number);
    } else if (is_growth(mark)) { /* however weak, one is orange and the other violet */
        place = (2 * place - 1) * (pale ? PALE : 1);
        look.colour = colour_diverging(mark == MARK_GROWING ? fmax(place, DBL_MIN) : fmin(place, 0));
    }
    if (pale && d->terminal.colours)
        look.character = marks[MARK_PENDING].character;
    if (cell->mark != MARK_NUMBER && !is_growth(cell->mark) && !look.text[0] &&
        (d->terminal.colours || d->digits || d->words))
        snprintf(look.text, sizeof(look.text), "%c", look.character);
    return look;
}

static struct plot_cell draw_cell(const void *context, int64_t x, int64_t y)
{
    const struct drawing *d = context;

    return look_of(d, &d->panel[y * d->plane->x.length + x]);
}

enum { DIGITS_MOST = 4, DIGITS_LEAST = 3, CELL_MOST = 6, PAINTED_MOST = 12 };

/* Cells of variables show their numbers or words if these fit; cells are then wide enough for their texts. */
static void choose_texts(struct drawing *d, struct plot *plot)
{
    bool words = d->flags.count > 0;
    int least = d->diagram ? DIGITS_MOST + 1 : words ? DIGITS_MOST : DIGITS_LEAST;

    for (int digits = DIGITS_MOST; digits >= least; digits--) {
        int width = 0;
        d->words = words;
        d->digits = words ? 0 : digits;
        for (int64_t i = 0; i < plane_cells(d->plane); i++) {
            int text = lines_width(look_of(d, &d->cell[i]).text);
            width = text >= width ? text + 1 : width;
        }
        plot->most = !plot->terminal.colours || width > PAINTED_MOST ? width + 1 : PAINTED_MOST;
        if (plot_cell_width(plot) >= width)
            return;
    }
    d->words = false;
    d->digits = 0;
    plot->most = CELL_MOST;
}

/* ---- legend and notes ---- */

enum { BAR_TICKS = 5, BAR_SQUARES = 5 }; /* numbers of the bar, and squares between two of them */

enum { LEGEND_GAP = 3 };

/* "below 0.2 #### 0.8 #### 1 #### 1.2 #### 5": the colours of numbers. On a narrow terminal the inner numbers
 * are left out. */
static void print_bar(const struct drawing *d, FILE *out)
{
    bool growth = d->diagram;
    char tick[BAR_TICKS][32];
    size_t width = growth ? strlen("shrinking  growing") : 0;
    struct pen pen = PEN(out);

    for (int i = 0; i < BAR_TICKS; i++) {
        bool below = i == 0 && d->scale.below, above = i == BAR_TICKS - 1 && d->scale.above;
        snprintf(tick[i], sizeof(tick[i]), "%s%.3g",
            below   ? "below "
            : above ? "above "
                    : "",
            colour_scale_value(&d->scale, (double)i / (BAR_TICKS - 1)));
        width += strlen(tick[i]) + 2 + BAR_SQUARES;
    }
    bool narrow = width > (size_t)d->terminal.columns;
    int squares = narrow ? 2 : BAR_SQUARES;
    if (growth)
        fprintf(out, "shrinking%s", narrow ? ", growing\n" : " ");
    for (int i = 0; i < BAR_TICKS; i++) {
        if (!narrow || i == 0 || i == BAR_TICKS - 1)
            fprintf(out, "%s%s%s", i > 0 ? " " : "", tick[i], i < BAR_TICKS - 1 ? " " : "");
        for (int j = 0; i < BAR_TICKS - 1 && j < squares; j++) {
            pen_take(&pen, COLOUR_NONE, colour_at(d, (i + (j + 0.5) / squares) / (BAR_TICKS - 1)));
            fputc(' ', out);
        }
        if (!narrow || i >= BAR_TICKS - 2)
            pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
    }
    fprintf(out, "%s\n", growth && !narrow ? " growing" : "");
}

/* The colours or shades of numbers, and a sample of each mark whose cells do not show its word. */
static void print_legend(const struct drawing *d, FILE *out)
{
    const struct colour_scale *scale = &d->scale;
    struct pen pen = PEN(out);
    bool painted = d->terminal.colours;
    int at = 0; /* columns printed on the current line */

    if (painted && scale->low < scale->high)
        print_bar(d, out);
    else if (!painted && d->used[MARK_NUMBER] && d->digits == 0)
        lines_print(out, d->terminal.columns, "%c %s%.4g to %c %s%.4g%s", shades[0],
            scale->below ? "below " : "", scale->low, shades[sizeof(shades) - 2],
            scale->above ? "above " : "", scale->high,
            scale->diverging     ? ", finer near the middle"
            : scale->logarithmic ? ", logarithmic"
                                 : "");
    for (enum mark mark = 0; mark < MARK_COUNT; mark++) {
        struct cell cell = {.mark = mark,
            .number = is_pale(mark) ? colour_scale_value(scale, mark == MARK_PALE + MARK_GROWING) : NAN};
        bool said = mark == MARK_NUMBER || (painted && is_growth(mark)) || (mark >= MARK_FLAG && d->words);
        if (d->used[mark] == 0 || said)
            continue;
        struct plot_cell look = look_of(d, &cell);
        const char *word = mark >= MARK_FLAG ? d->flags.word[mark - MARK_FLAG] : marks[mark].word;
        int gap = at ? LEGEND_GAP : 0, width = 2 + lines_width(word);
        bool breaks = at > 0 && at + gap + width > d->terminal.columns;
        fprintf(out, breaks ? "\n" : "%*s", gap, "");
        at = (breaks ? 0 : at + gap) + width;
        if (painted && look.colour != COLOUR_NONE)
            pen_take(&pen, colour_on(look.colour), look.colour);
        fputc(look.character == ' ' ? '_' : look.character, out);
        pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
        fprintf(out, " %s", word);
    }
    if (at)
        fputc('\n', out);
}

/* What a cell stands for, and what is left out. */
static void print_notes(const struct drawing *d, FILE *out)
{
    int columns = d->terminal.columns;
    const char *mean = d->flags.count ? "most frequent" : d->nature->geometric ? "geometric mean" : "mean";
    char *others = plane_names(d->plane, ROLE_AVERAGED, -1), diverged[64] = "";

    if (plane_hidden_step(d->plane) >= 0)
        lines_print(out, columns, "at the last step that has a value");
    if (d->diverged_runs == 1)
        snprintf(diverged, sizeof(diverged), "%s run that diverged", d->all_diverged ? "of a" : "without 1");
    else if (d->diverged_runs)
        snprintf(diverged, sizeof(diverged), "%s %lld runs that diverged", d->all_diverged ? "of" : "without",
            (long long)d->diverged_runs);
    if (d->diagram && others[0])
        lines_print(out, columns,
            "cells: geometric mean of norm_growth over %s; diverged if most ended runs diverged", others);
    else if (!d->diagram && (others[0] || diverged[0]))
        lines_print(out, columns, "%s%s%s%s%s", others[0] ? mean : "", others[0] ? " over " : "", others,
            others[0] && diverged[0] ? ", " : "", diverged);
    if (others[0] && d->fewer)
        lines_print(out, columns, "cells with fewer runs (skipped): %lld", (long long)d->fewer);
    if (d->plane->panels < d->plane->combinations) {
        char *names = plane_names(d->plane, ROLE_PANELED, -1);
        lines_print(out, columns, "%d of %lld combinations of %s; --at chooses others", d->plane->panels,
            (long long)d->plane->combinations, names);
        free(names);
    }
    free(others);
}

/* ---- the whole ---- */

static void print_panels(struct drawing *d, struct plot *plot)
{
    for (int i = 0; i < d->plane->panels; i++) {
        char *title = plane_names(d->plane, ROLE_PANELED, i);
        d->panel = d->cell + i * d->plane->y.length * d->plane->x.length;
        if (title[0])
            lines_print(plot->out, d->terminal.columns, "%s", title);
        free(title);
        if (d->plane->x.name || d->plane->y.name) {
            plot_draw(plot);
            continue;
        }
        enum mark mark = d->panel->mark; /* a plane without axes is a single cell */
        bool number = !isnan(d->panel->number);
        if (number)
            fprintf(plot->out, d->diagram ? "norm_growth %.4g, " : "%.6g\n", d->panel->number);
        if (!number || d->diagram)
            fprintf(
                plot->out, "%s\n", mark >= MARK_FLAG ? d->flags.word[mark - MARK_FLAG] : marks[mark].word);
    }
}

/* Draws what is judged. On few lines (rows > 0), notes are left out, and the legend, if it leaves too few for
 * the cells. Returns the number of lines. */
static int print(struct drawing *d, int rows)
{
    bool bare = !d->plane->x.name && !d->plane->y.name;
    char *legend = NULL, *cells = NULL;
    size_t size;
    FILE *out = memory_stream(&legend, &size);
    struct plot plot = {
        .terminal = d->terminal, .x = &d->plane->x, .y = &d->plane->y, .context = d, .cell = draw_cell};

    plot_measure(&plot);
    choose_texts(d, &plot);
    if (!bare)
        print_legend(d, out);
    if (rows == 0)
        print_notes(d, out);
    memory_stream_close(out, &legend);
    bool fits = rows == 0 || rows - lines_count(legend) >= PLOT_ROWS;
    plot.rows = rows == 0 ? 0 : fits ? rows - lines_count(legend) : rows;
    plot.out = memory_stream(&cells, &size);
    print_panels(d, &plot);
    memory_stream_close(plot.out, &cells);
    int lines = lines_count(cells) + (fits ? lines_count(legend) : 0);
    fprintf(d->out, "%s%s", cells, fits ? legend : "");
    free(cells);
    free(legend);
    return lines;
}

/* Draws the values of `d`. Returns the number of lines. */
static int draw(struct drawing *d, int rows)
{
    int64_t cells = plane_cells(d->plane), most = 0;

    d->sums = memory_zero((size_t)cells, sizeof(*d->sums));
    d->votes = memory_zero((size_t)(cells * d->flags.count), sizeof(*d->votes));
    d->cell = memory_zero((size_t)cells, sizeof(*d->cell));
    if (d->outcome)
        sum_outcomes(d);
    for (int64_t i = 0; i < cells; i++)
        most = d->sums[i].runs > most ? d->sums[i].runs : most;
    for (int64_t i = 0; i < cells; i++)
        d->fewer += d->sums[i].runs > 0 && d->sums[i].runs < most;
    sum_values(d);
    judge(d);
    int lines = print(d, rows);
    free(d->sums);
    free(d->votes);
    free(d->cell);
    return lines;
}

int picture_map(FILE *out, const struct terminal *terminal, int rows, const struct picture_runs *runs)
{
    struct plane plane;
    struct drawing d = {.out = out,
        .terminal = *terminal,
        .plane = &plane,
        .value = runs->growth,
        .a_run = 1,
        .outcome = runs->outcome,
        .phase = runs->phase,
        .nature = &nature_table[NATURE_RATIO],
        .diagram = true,
        .live = runs->live};

    plane_of_axes(&plane, runs->axis_count, runs->axis);
    plane_choose(&plane, NULL, PLANE_CHOOSE, PLANE_CHOOSE);
    int lines = draw(&d, rows);
    plane_release(&plane);
    return lines;
}

/* ---- of a dataset ---- */

/* "out.nc: param_norm at seed=0: the sweep's title" */
static void print_title(const struct picture *picture, const struct plane *plane)
{
    char *title = view_text(picture->view, ATTRIBUTE_SWEEP_TITLE, NULL),
         *fixed = plane_names(plane, ROLE_FIXED, -1);

    lines_print(picture->out, picture->terminal.rows ? picture->terminal.columns : 0, "%s: %s%s%s%s%s",
        picture->view->name, picture->variable ? picture->variable : "phase diagram", fixed[0] ? " at " : "",
        fixed, title ? ": " : "", title ? title : "");
    free(title);
    free(fixed);
}

/* Says how many of the drawn runs ended early, which the diagram does not show. */
static void print_early(const struct picture *picture, const struct plane *plane, const double *early)
{
    int64_t known = 0, ended = 0;

    for (int64_t run = 0; run < picture->view->cells; run++) {
        bool drawn = plane_cell(plane, run) >= 0;
        known += drawn && !isnan(early[run]);
        ended += drawn && early[run] > EARLY_NO;
    }
    if (ended)
        lines_print(picture->out, picture->terminal.columns,
            "%lld of %lld runs ended early: norm_growth is of different steps", (long long)ended,
            (long long)known);
}

/* Moves the last value along `step` that is not NaN to index 0; the others become NaN. */
static void keep_last_step(const struct plane *plane, int step, double *values)
{
    int64_t inner = 1;

    for (int i = step + 1; i < plane->count; i++)
        inner *= plane->dimension[i].length;
    int64_t steps = plane->dimension[step].length, outer = plane->size / (steps * inner);
    for (int64_t i = 0; i < outer * inner; i++) {
        double *first = values + i / inner * steps * inner + i % inner, last = NAN;
        for (int64_t j = 0; j < steps; j++) {
            last = isnan(first[j * inner]) ? last : first[j * inner];
            first[j * inner] = NAN;
        }
        *first = last;
    }
}

/* Draws the phase diagram, or if it is not NULL, a variable. Of metrics of training, diverged runs are left
 * out unless all runs diverged. */
static int draw_values(const struct picture *picture, const struct view_variable *variable,
    const struct plane *plane, struct error *error)
{
    const struct view *view = picture->view;
    struct drawing d = {.out = picture->out,
        .terminal = picture->terminal,
        .plane = plane,
        .a_run = 1,
        .nature = &nature_table[NATURE_RATIO],
        .diagram = !variable};
    double *value, *phase = NULL, *early = NULL;
    signed char *outcome = memory_new((size_t)view->cells, 1);
    bool read = view_outcomes(view, outcome, error) == 0, trained = true;

    if (variable) {
        char *nature = view_variable_text(view, variable, METRIC_NATURE, NULL);
        d.a_run = view_is_of_runs(view, variable) ? variable->size / view->cells : 0;
        d.nature = nature_of(nature);
        trained = d.nature->trained && d.a_run > 0;
        free(nature);
        view_flags(view, variable, &d.flags);
        value = memory_new((size_t)variable->size, sizeof(*value));
        read = read && view_read(view, variable, value, error) == 0;
        if (read && plane_hidden_step(plane) >= 0)
            keep_last_step(plane, plane_hidden_step(plane), value);
    } else {
        value = read ? view_cells(view, metric_table[METRIC_norm_growth].name, error) : NULL;
        phase = value ? view_cells(view, run_variable_table[RUN_VARIABLE_phase].name, error) : NULL;
        early = phase ? view_cells(view, run_variable_table[RUN_VARIABLE_ended_early].name, error) : NULL;
        read = early;
    }
    if (read) {
        d.value = value;
        d.phase = phase;
        d.outcome = trained ? outcome : NULL;
        print_title(picture, plane);
        draw(&d, 0);
    }
    if (early)
        print_early(picture, plane, early);
    free(outcome);
    free(value);
    free(phase);
    free(early);
    return read ? 0 : -1;
}

int picture_draw(const struct picture *picture, struct error *error)
{
    const struct view *view = picture->view;
    struct view_variable variable;
    struct plane plane;

    if (!picture->variable)
        plane_of_axes(&plane, view->axis_count, view->axis);
    else if (selection_variable(view, picture->variable, &variable, error) != 0 ||
             plane_of_variable(&plane, view, &variable, error) != 0)
        return -1;
    int result = selection_choose(picture, &plane, error);
    if (result == 0)
        result = draw_values(picture, picture->variable ? &variable : NULL, &plane, error);
    plane_release(&plane);
    return result;
}
