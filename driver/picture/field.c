/* Any variable over two of its dimensions: painted, with the numbers on the cells if they fit; without 256
 * colours, numbers if they fit, otherwise characters as shades. */
#include "driver/picture/field.h"
#include "driver/dataset/variables.h"
#include "driver/picture/diagram.h"
#include "driver/picture/panels.h"
#include "driver/picture/picture.h"
#include "driver/picture/reduction.h"
#include "driver/tables/dataset_tables.h"
#include "driver/terminal/colour.h"
#include "driver/terminal/colour_scale.h"
#include "driver/terminal/legend.h"
#include "driver/text/lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MOST = 4, DIGITS_LEAST = 3, SHADE_WIDTH = 6, PAINTED_WIDTH = 12 };

struct field {
    struct plot plot;
    const struct plane *plane;
    const struct panels *panels;
    const struct reduction *all; /* [panels] */
    const struct reduction *reduction; /* of the panel that is drawn */
    struct colour_scale scale; /* the same for all panels */
    int digits; /* significant digits of the numbers in the cells; 0: none are shown */
    bool words; /* cells show the words of flags */
};

static const char shades[] = ":-=+*#%@";

/* A cell without a value. */
static const struct plot_cell no_value = {
    .fill = '.', .code = "2", .colour = 240, .hatch = COLOUR_NONE, .text = "."};

static int64_t cell_count(const struct field *field)
{
    return field->plane->x.length * field->plane->y.length;
}

static char shade(double place)
{
    int levels = (int)sizeof(shades) - 1;

    return shades[place < 1 ? (int)(place * levels) : levels - 1];
}

static struct plot_cell diverged_cell(const struct field *field)
{
    struct plot_cell cell = {.colour = COLOUR_NONE};

    diagram_cell(outcome_words[OUTCOME_DIVERGED], &cell);
    if (!plot_is_painted(&field->plot) || !field->plot.terminal.unicode)
        snprintf(cell.text, sizeof(cell.text), "%c", cell.fill);
    return cell;
}

/* The text of a cell with this value: a number, or a flag's word. */
static void spell(const struct field *field, double value, char text[PLOT_TEXT])
{
    const struct view_flags *flags = &field->reduction->flags;

    if (flags->count && field->words)
        snprintf(text, PLOT_TEXT, "%.*s", PLOT_TEXT - 1, flags->word[(int)value]);
    else if (flags->count)
        snprintf(text, PLOT_TEXT, "%d", (int)value);
    else
        snprintf(text, PLOT_TEXT, "%.*g", field->digits, value);
}

/* Flags that the phase diagram has get their colour there, others a class colour. */
static void colour_flag(const struct field *field, int flag, struct plot_cell *cell)
{
    if (diagram_cell(field->reduction->flags.word[flag], cell))
        return;
    cell->colour = colour_class(flag);
    cell->code = colour_class_of_16(flag);
}

/* The colour at a place of 0 to 1. */
static int colour_at(const struct field *field, double place)
{
    return field->scale.diverging ? colour_diverging(2 * place - 1) : colour_sequential(place);
}

static void draw_cell(void *context, int64_t x, int64_t y, struct plot_cell *cell)
{
    const struct field *field = context;
    int64_t index = y * field->plane->x.length + x;
    double value = field->reduction->value[index];
    bool flags = field->reduction->flags.count > 0;

    if (isnan(value)) {
        *cell = field->reduction->diverged[index] ? diverged_cell(field) : no_value;
        return;
    }
    if (flags || field->digits)
        spell(field, value, cell->text);
    cell->fill = shade(colour_scale_place(&field->scale, value));
    if (flags)
        colour_flag(field, (int)value, cell);
    else
        cell->colour = colour_at(field, colour_scale_place(&field->scale, value));
}

/* The width of the longest text of a cell, in all panels. */
static int longest(const struct field *field)
{
    char text[PLOT_TEXT];
    int most = 1;

    for (int panel = 0; panel < field->panels->count; panel++) {
        const double *value = field->all[panel].value;
        for (int64_t i = 0; i < cell_count(field); i++) {
            if (isnan(value[i]))
                continue;
            spell(field, value[i], text);
            most = lines_width(text) > most ? lines_width(text) : most;
        }
    }
    return most;
}

/* Makes cells wide enough for their texts; false if the terminal is too narrow. */
static bool fit_texts(struct field *field)
{
    int width = longest(field) + 1;

    field->plot.most = width + 1;
    if (plot_cell_width(&field->plot) < width)
        return false;
    if (plot_is_painted(&field->plot))
        field->plot.most = width > PAINTED_WIDTH ? width : PAINTED_WIDTH;
    return true;
}

/* Flags: their words if they fit, else their numbers, of as many cells as fit. Other variables: numbers if
 * they fit, else shades. */
static void choose_texts(struct field *field)
{
    bool flags = field->reduction->flags.count > 0;

    field->words = flags;
    field->digits = flags ? 0 : DIGITS_MOST;
    while (!(field->plot.spelled = fit_texts(field)) && (field->words || field->digits > DIGITS_LEAST)) {
        field->words = false;
        field->digits -= field->digits > 0;
    }
    if (field->plot.spelled)
        return;
    field->digits = 0;
    field->plot.spelled = flags;
    field->plot.least = flags ? 2 : 1;
    field->plot.most = SHADE_WIDTH;
}

enum { FLAG_SAMPLE = 3 };

/* A flag's number in the colour of its cells. */
static void draw_sample(const struct field *field, int flag)
{
    struct plot_cell cell = {.colour = COLOUR_NONE};
    struct pen pen = PEN(field->plot.out);

    colour_flag(field, flag, &cell);
    if (cell.colour != COLOUR_NONE)
        pen_take(&pen, colour_on(cell.colour), cell.colour);
    fprintf(field->plot.out, " %d ", flag);
    pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
}

/* The words of flags in their colours, wrapped. */
static void draw_samples(const struct field *field)
{
    const struct view_flags *flags = &field->reduction->flags;
    int at = 0;

    for (int i = 0; i < flags->count; i++) {
        int width = FLAG_SAMPLE + 1 + (int)strlen(flags->word[i]);
        bool breaks = at > 0 && at + 2 + width > field->plot.terminal.columns;
        if (at > 0)
            fputs(breaks ? "\n" : "  ", field->plot.out);
        at = (breaks || at == 0 ? 0 : at + 2) + width;
        draw_sample(field, i);
        fprintf(field->plot.out, " %s", flags->word[i]);
    }
    fputc('\n', field->plot.out);
}

/* "0 none, 1 growing" */
static void draw_flags(const struct field *field)
{
    const struct view_flags *flags = &field->reduction->flags;
    char text[VIEW_FLAGS_MAX * (VIEW_FLAG + 8)] = "";

    for (int i = 0; i < flags->count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%d %s", i ? ", " : "", i, flags->word[i]);
    }
    lines_print(field->plot.out, field->plot.terminal.columns, "%s", text);
}

enum { BAR_TICKS = 5, BAR_TICK = 9 }; /* numbers below the bar, and the columns of each */

static void draw_bar(const struct field *field)
{
    FILE *out = field->plot.out;
    struct pen pen = PEN(out);
    int width = BAR_TICK * (BAR_TICKS - 1), columns = field->plot.terminal.columns;
    int ticks = columns > width + BAR_TICK ? BAR_TICKS : 2;

    width = width < columns - BAR_TICK ? width : columns - BAR_TICK;
    for (int i = 0; i < width; i++) {
        pen_take(&pen, COLOUR_NONE, colour_at(field, (i + 0.5) / width));
        fputc(' ', out);
    }
    pen_take(&pen, COLOUR_NONE, COLOUR_NONE);
    fprintf(out, "%s\n", field->scale.logarithmic && !field->scale.diverging ? " log" : "");
    for (int i = 0; i < ticks; i++)
        fprintf(out, "%-*.3g", i + 1 < ticks ? width / (ticks - 1) : 0,
            colour_scale_value(&field->scale, (double)i / (ticks - 1)));
    fputc('\n', out);
}

static void draw_shades(const struct field *field)
{
    lines_print(field->plot.out, field->plot.terminal.columns, "%c %.4g to %c %.4g%s", shades[0],
        field->scale.low, shades[sizeof(shades) - 2], field->scale.high,
        field->scale.diverging     ? ", finer near the middle"
        : field->scale.logarithmic ? ", logarithmic"
                                   : "");
}

/* Says which values beyond the ends of the scale share a colour. */
static void draw_beyond(const struct field *field)
{
    const struct colour_scale *scale = &field->scale;
    const char *colours = plot_is_painted(&field->plot) ? "one colour" : "one shade";

    if (scale->below)
        lines_print(field->plot.out, field->plot.terminal.columns, "%.4g and below: %s", scale->low, colours);
    if (scale->above)
        lines_print(
            field->plot.out, field->plot.terminal.columns, "%.4g and above: %s", scale->high, colours);
}

/* Explains the digits, shades or colours. */
static void draw_legend(const struct field *field)
{
    bool painted = plot_is_painted(&field->plot);

    if (field->reduction->flags.count) {
        if (painted && !field->words)
            draw_samples(field);
        else if (!field->words)
            draw_flags(field);
    } else if (painted && field->scale.low < field->scale.high) {
        draw_bar(field);
        draw_beyond(field);
    } else if (!field->plot.spelled && field->scale.low <= field->scale.high) {
        draw_shades(field);
        draw_beyond(field);
    }
}

/* Samples of the cells without a value, if there are any. */
static void draw_exceptions(const struct field *field)
{
    struct legend legend = {.out = field->plot.out, .terminal = &field->plot.terminal};
    struct plot_cell diverged = diverged_cell(field);
    bool has_diverged = false, has_nothing = false;

    for (int panel = 0; panel < field->panels->count; panel++) {
        const struct reduction *reduction = &field->all[panel];
        for (int64_t i = 0; i < cell_count(field); i++) {
            bool nothing = isnan(reduction->value[i]), diverges = reduction->diverged[i];
            has_diverged = has_diverged || (nothing && diverges);
            has_nothing = has_nothing || (nothing && !diverges);
        }
    }
    if (has_diverged)
        legend_add(&legend, &diverged, outcome_words[OUTCOME_DIVERGED]);
    if (has_nothing)
        legend_add(&legend, &no_value, "no value");
    legend_end(&legend);
}

static const char *mean_of(const struct reduction *reduction)
{
    if (reduction->flags.count)
        return "most frequent";
    return reduction->nature->geometric ? "geometric mean" : "mean";
}

/* Sums over all panels. */
static struct reduction sum_of(const struct field *field)
{
    struct reduction sum = {.nature = field->all->nature, .flags = field->all->flags, .all_diverged = true};

    for (int panel = 0; panel < field->panels->count; panel++) {
        sum.diverged_runs += field->all[panel].diverged_runs;
        sum.fewer += field->all[panel].fewer;
        sum.all_diverged = sum.all_diverged && field->all[panel].all_diverged;
    }
    return sum;
}

static void draw_note(const struct field *field)
{
    const struct reduction sum = sum_of(field);
    int columns = field->plot.terminal.columns;
    char others[PLANE_NAMES], diverged[64] = "";
    FILE *out = field->plot.out;

    if (reduction_hidden_step(field->plane) >= 0)
        lines_print(out, columns, "at the last step that has a value");
    if (sum.diverged_runs == 1)
        snprintf(diverged, sizeof(diverged), "%s run that diverged", sum.all_diverged ? "of a" : "without 1");
    else if (sum.diverged_runs)
        snprintf(diverged, sizeof(diverged), "%s %lld runs that diverged",
            sum.all_diverged ? "of" : "without", (long long)sum.diverged_runs);
    plane_others(field->plane, metric_dimension_table[DIMENSION_STEP].name, others, sizeof(others));
    if (others[0])
        lines_print(out, columns, "%s over %s%s%s", mean_of(&sum), others, diverged[0] ? ", " : "", diverged);
    else if (diverged[0])
        lines_print(out, columns, "%s", diverged);
    if (others[0] && sum.fewer)
        lines_print(out, columns, "cells with fewer runs (skipped): %lld", (long long)sum.fewer);
    panels_print_rest(field->panels, out, columns);
}

/* A variable without a dimension to draw it over: a single value. */
static void draw_one(const struct field *field)
{
    const struct view_flags *flags = &field->reduction->flags;
    double value = field->reduction->value[0];

    if (isnan(value))
        fprintf(field->plot.out, "%s\n",
            field->reduction->diverged[0] ? outcome_words[OUTCOME_DIVERGED] : "no value");
    else if (!flags->count)
        fprintf(field->plot.out, "%.6g\n", value);
    else
        fprintf(field->plot.out, "%s\n", flags->word[(int)value]);
}

static void draw_panel(struct field *field, int panel)
{
    field->reduction = &field->all[panel];
    panels_print_title(field->panels, panel, field->plot.out, field->plot.terminal.columns);
    if (field->plane->x.dimension >= 0 || field->plane->y.dimension >= 0)
        plot_draw(&field->plot);
    else
        draw_one(field);
}

static void draw_field(struct field *field)
{
    const struct plane *plane = field->plane;

    field->plot.x = plane->x.axis;
    field->plot.y = plane->y.axis;
    field->plot.context = field;
    field->plot.cell = draw_cell;
    field->plot.beside = PICTURE_BESIDE + 5; /* legend and note, two lines each, and samples */
    field->reduction = field->all;
    choose_texts(field);
    for (int panel = 0; panel < field->panels->count; panel++)
        draw_panel(field, panel);
    if (plane->x.dimension >= 0 || plane->y.dimension >= 0) {
        draw_legend(field);
        draw_exceptions(field);
    }
    draw_note(field);
}

static enum colour_numbers numbers_of(const struct nature_row *nature)
{
    if (nature->geometric)
        return NUMBERS_FACTORS;
    return nature->linear ? NUMBERS_LINEAR : NUMBERS_ANY;
}

/* Chooses one scale for the values of all panels. */
static int choose_scale(struct field *field, const char *file, struct error *error)
{
    int64_t cells = cell_count(field), count = cells * field->panels->count;
    double *value = malloc((size_t)count * sizeof(*value));

    for (int panel = 0; value && panel < field->panels->count; panel++)
        memcpy(value + panel * cells, field->all[panel].value, (size_t)cells * sizeof(*value));
    bool chosen = value && colour_scale_choose(&field->scale, value, count, numbers_of(field->all->nature));
    free(value);
    return chosen ? 0 : error_set(error, ERROR_ENVIRONMENT, "%s: no memory", file);
}

static int reduce_and_draw(const struct picture *picture, const char *name,
    const struct view_variable *variable, struct shape *shape, const struct plane *plane, struct error *error)
{
    struct reduction reduction[PANELS_MOST];
    struct panels panels;
    int count = 0, result = 0;

    panels_init(&panels, shape, plane, picture->view);
    struct field field = {.plane = plane, .panels = &panels, .all = reduction};
    plot_init(&field.plot, picture->out, &picture->terminal);
    while (result == 0 && count < panels.count) {
        panels_fix(&panels, count);
        result = reduction_init(&reduction[count], picture->view, variable, plane, error);
        count += result == 0;
    }
    if (result == 0)
        result = choose_scale(&field, picture->view->name, error);
    panels_open(&panels);
    if (result == 0) {
        picture_title(picture, name, shape);
        draw_field(&field);
    }
    while (count > 0)
        reduction_release(&reduction[--count]);
    return result;
}

int picture_field(const struct picture *picture, const char *name, struct error *error)
{
    struct view_variable variable;
    struct shape shape;
    struct plane plane;

    if (picture_find(picture, name, &variable, error) != 0 ||
        shape_of_variable(&shape, picture->view, &variable, error) != 0)
        return -1;
    int result = picture_plane(picture, &plane, &shape, name, error);
    if (result == 0) {
        result = reduce_and_draw(picture, name, &variable, &shape, &plane, error);
        plane_release(&plane);
    }
    shape_release(&shape);
    return result;
}
