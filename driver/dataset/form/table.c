/*
 * The order of the rows is the order of the file, which matters to those who read it while it is written.
 * Outcome comes first: a reader that reads the variables in order sees all values of every run that it has
 * seen as ended. Values of 8 bytes come next, each at a multiple of 8, so that a reader never sees half of
 * one: outcome and phase have one byte for each cell, padded to a multiple of 4, so that both together are a
 * multiple of 8. Other bytes, texts and coordinates come last: coordinates are written once.
 */
#include "driver/dataset/form/inside.h"

#define NC_SCALAR _Generic((scalar)0, float : NC_FLOAT, double : NC_DOUBLE)

/* Rows on their way. */
struct listing {
    const struct outline *outline;
    struct variable *row;
    int count, room;
};

/* Adds a row, whose other fields are 0. */
static struct variable *add(struct listing *listing, enum variable_kind kind, int which, const char *name,
    nc_type type, const char *long_name, const char *unit, const char *comment)
{
    INVARIANT(listing->count < listing->room, "%s is variable %d", name, listing->count);
    struct variable *row = &listing->row[listing->count++];
    *row = (struct variable){.kind = kind,
        .which = which,
        .name = name,
        .type = type,
        .long_name = long_name,
        .unit = unit,
        .comment = comment};
    return row;
}

static void over(struct variable *row, const char *dimension, int64_t length)
{
    row->dimension[row->rank] = dimension;
    row->length[row->rank++] = length;
}

static const nc_type stored_types[] = {
    [STORED_BYTE] = NC_BYTE, [STORED_INTEGER] = NC_INT64, [STORED_REAL] = NC_DOUBLE, [STORED_TEXT] = NC_CHAR};

/* ---- runs, metrics, sessions ---- */

/* The part of the file that a variable of runs is in: see the top of this file. */
enum part { PART_FIRST, PART_NUMBERS, PART_REST };

static void add_runs(struct listing *listing, enum part part)
{
    for (enum run_variable i = 0; i < RUN_VARIABLE_COUNT; i++) {
        const struct run_variable_row *of = &run_variable_table[i];
        bool first = i == RUN_VARIABLE_outcome || i == RUN_VARIABLE_phase;
        bool number = of->type == STORED_INTEGER || of->type == STORED_REAL;
        if (part != (first ? PART_FIRST : number ? PART_NUMBERS : PART_REST))
            continue;
        struct variable *row = add(listing, VARIABLE_RUN, (int)i, of->name, stored_types[of->type],
            of->long_name, of->unit, of->comment);
        row->nature = nature_table[NATURE_RECORD].word;
        row->width = of->width;
        row->filled = of->filled;
        row->of_cells = true;
    }
}

static int64_t dimension_length(const struct outline *outline, enum metric_dimension dimension)
{
    return dimension == DIMENSION_STEP ? outline->step_count : outline->form->along[dimension];
}

static void add_metric(struct listing *listing, enum metric which)
{
    const struct metric_row *of = &metric_table[which];
    enum metric_dimension dimension[METRIC_RANK_MOST];
    int rank = metric_dimensions(which, listing->outline->form, dimension);
    struct variable *row =
        add(listing, VARIABLE_METRIC, (int)which, of->name, NC_DOUBLE, of->long_name, of->unit, of->help);

    row->nature = nature_table[of->nature].word;
    row->filled = row->of_cells = true;
    for (int i = 0; i < rank; i++)
        if (dimension[i] != DIMENSION_STEP ||
            listing->outline->dimension[DIMENSION_STEP]) /* inspect has no steps */
            over(row, metric_dimension_table[dimension[i]].name,
                dimension_length(listing->outline, dimension[i]));
}

static void add_sessions(struct listing *listing, enum session_variable first, enum session_variable end)
{
    for (enum session_variable i = first; i < end; i++) {
        const struct session_variable_row *of = &session_variable_table[i];
        bool number = of->type != STORED_TEXT;
        struct variable *row = add(
            listing, VARIABLE_SESSION, (int)i, of->name, stored_types[of->type], of->long_name, of->unit, "");
        row->nature = number ? nature_table[NATURE_RECORD].word : NULL;
        row->width = of->width;
        row->filled = number;
        over(row, SESSION_DIMENSION, listing->outline->sessions);
    }
}

/* ---- coordinates ---- */

nc_type variable_param_type(enum param_kind kind)
{
    static const nc_type types[] = {[PARAM_INTEGER] = NC_INT64,
        [PARAM_REAL] = NC_DOUBLE,
        [PARAM_BOOLEAN] = NC_BYTE,
        [PARAM_WORD] = NC_CHAR,
        [PARAM_WORDS] = NC_CHAR,
        [PARAM_WEIGHTS] = NC_CHAR};

    return types[kind];
}

const char *variable_word(
    const struct outline *outline, const struct variable *row, int64_t index, char text[static PARAM_TEXT])
{
    const struct axis *axis = &outline->axis[row->which];

    switch (row->kind) {
    case VARIABLE_LABEL:
        return axis->label[index];
    case VARIABLE_PARAM:
        return param_format(
            axis->param[row->param], axis->value[row->param * axis->length + index], text, PARAM_TEXT);
    default:
        return metric_dimension_table[row->which].word(index);
    }
}

union param_value variable_number(const struct outline *outline, const struct variable *row, int64_t index)
{
    const struct axis *axis = &outline->axis[row->which];

    if (row->kind == VARIABLE_DECAY) {
        struct run run = *outline->base;
        for (int i = row->rank - 1; i >= 0; index /= row->length[i--])
            axis_set(&outline->axis[axis_named(outline->axis_count, outline->axis, row->dimension[i])],
                index % row->length[i], &run);
        run_derive(&run);
        return (union param_value){.real = run.weight_decay};
    }
    if (row->kind == VARIABLE_PARAM)
        return axis->value[row->param * axis->length + index];
    if (row->which == DIMENSION_STEP)
        return (union param_value){.integer = outline->step[index]};
    double number = metric_dimension_table[row->which].number(index);
    if (row->type == NC_DOUBLE)
        return (union param_value){.real = number};
    return (union param_value){.integer = (int64_t)number};
}

/* A text is as wide as the longest word along its dimension. */
static void widen(const struct listing *listing, struct variable *row)
{
    row->width = row->type == NC_CHAR;
    for (int64_t i = 0; row->type == NC_CHAR && i < row->length[0]; i++) {
        char text[PARAM_TEXT];
        const char *word = variable_word(listing->outline, row, i, text);
        if (!word) /* a file with more of them than the program has words for */
            break;
        int64_t length = (int64_t)strlen(word);
        row->width = length > row->width ? length : row->width;
    }
}

static void add_axis(struct listing *listing, int index)
{
    const struct axis *axis = &listing->outline->axis[index];

    if (axis->label) {
        struct variable *row = add(listing, VARIABLE_LABEL, index, axis->name, NC_CHAR, axis->name, "1", "");
        over(row, axis->name, axis->length);
        widen(listing, row);
    }
    for (int i = 0; i < axis->param_count; i++) {
        const struct param *param = axis->param[i];
        struct variable *row = add(listing, VARIABLE_PARAM, index, param->name,
            variable_param_type(param->kind), param->long_name, param->unit, param->help);
        row->param = i;
        over(row, axis->name, axis->length);
        widen(listing, row);
    }
}

static void add_decay(struct listing *listing)
{
    const struct outline *outline = listing->outline;
    const struct param *param = param_find("weight_decay");
    struct variable *row =
        add(listing, VARIABLE_DECAY, 0, param->name, NC_DOUBLE, param->long_name, param->unit, param->help);

    for (int64_t i = 0; i < outline->axis_count; i++) {
        bool moves = false;
        for (const char *const *source = run_decay_sources; *source; source++)
            moves = moves || axis_row(&outline->axis[i], param_find(*source)) >= 0;
        if (moves)
            over(row, outline->axis[i].name, outline->axis[i].length);
    }
}

static void add_coordinate(struct listing *listing, enum metric_dimension dimension)
{
    const struct metric_dimension_row *of = &metric_dimension_table[dimension];
    struct variable *row = add(listing, VARIABLE_COORDINATE, (int)dimension, of->name,
        of->word      ? NC_CHAR
        : of->is_real ? NC_DOUBLE
                      : NC_INT64,
        of->long_name, "1", of->comment);

    over(row, of->name, dimension_length(listing->outline, dimension));
    widen(listing, row);
}

/* ---- states ---- */

static void add_state(struct listing *listing, enum state_variable which)
{
    static const struct {
        const char *name, *long_name, *comment;
    } text[STATE_VARIABLE_COUNT] = {
        [STATE_token] = {"token", "token", "id that the network reads at the position"},
        [STATE_sequence] = {"sequence", "sequence", "number of the sequence, from 0 on"},
        [STATE_stream] = {"state", "residual stream", "after so many blocks"},
        [STATE_output] = {"output", "output of the stack", "behind the final norm, if there is one"},
    };
    const struct outline *outline = listing->outline;
    bool stacks = outline->dimension[DIMENSION_STACK], real = which == STATE_stream || which == STATE_output;
    struct variable *row = add(listing, VARIABLE_STATE, (int)which, text[which].name,
        real ? NC_SCALAR : NC_INT, text[which].long_name, "1", text[which].comment);

    row->filled = real || stacks; /* stacks of different lengths */
    if (stacks)
        over(row, metric_dimension_table[DIMENSION_STACK].name, dimension_length(outline, DIMENSION_STACK));
    over(row, "position", outline->positions);
    if (which == STATE_stream)
        over(row, metric_dimension_table[DIMENSION_DEPTH].name, dimension_length(outline, DIMENSION_DEPTH));
    if (real)
        over(row, "width", outline->width);
}

/* ---- the table ---- */

struct variable *variable_table(const struct outline *outline, int *count)
{
    int room = 1 + RUN_VARIABLE_COUNT + METRIC_COUNT + SESSION_VARIABLE_COUNT + DIMENSION_COUNT +
               STATE_VARIABLE_COUNT;

    for (int64_t i = 0; i < outline->axis_count; i++)
        room += 1 + (int)outline->axis[i].param_count;
    struct listing listing = {
        .outline = outline, .row = malloc((size_t)room * sizeof(*listing.row)), .room = room};
    if (!listing.row)
        return NULL;
    bool of_sweep = outline->sessions > 0;
    if (of_sweep) {
        add_runs(&listing, PART_FIRST);
        add_runs(&listing, PART_NUMBERS);
    }
    for (enum metric i = 0; i < METRIC_COUNT; i++)
        if (outline->metric[i])
            add_metric(&listing, i);
    if (of_sweep) {
        add_sessions(&listing, SESSION_VARIABLE_start, SESSION_VARIABLE_COUNT);
        add_runs(&listing, PART_REST);
    }
    for (int i = 0; i < outline->axis_count; i++)
        add_axis(&listing, i);
    if (outline->base &&
        axis_derives(outline->axis_count, outline->axis, outline->base, param_find("weight_decay")))
        add_decay(&listing);
    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        if (outline->dimension[i])
            add_coordinate(&listing, i);
    if (of_sweep)
        add_sessions(&listing, 0, SESSION_VARIABLE_start);
    for (enum state_variable i = 0; outline->positions > 0 && i < STATE_VARIABLE_COUNT; i++)
        add_state(&listing, i);
    *count = listing.count;
    return listing.row;
}

const struct variable *variable_find(
    const struct variable *row, int count, enum variable_kind kind, int which)
{
    for (int i = 0; i < count; i++)
        if (row[i].kind == kind && row[i].which == which)
            return &row[i];
    return NULL;
}

int variable_shape(
    const struct outline *outline, const struct variable *row, struct file_dimension shape[DIMENSIONS_MAX])
{
    int rank = 0;

    for (int64_t i = 0; row->of_cells && i < outline->axis_count; i++)
        shape[rank++] = (struct file_dimension){outline->axis[i].name, outline->axis[i].length};
    for (int i = 0; i < row->rank; i++)
        shape[rank++] = (struct file_dimension){row->dimension[i], row->length[i]};
    if (row->type == NC_CHAR)
        shape[rank++] = (struct file_dimension){NULL, row->width};
    return rank;
}

int64_t variable_values(const struct variable *row)
{
    int64_t values = 1;

    for (int i = 0; i < row->rank; i++)
        values *= row->length[i];
    return values;
}

int64_t variable_bytes(const struct variable *variable)
{
    int64_t width = variable->type == NC_CHAR ? variable->width : 1;

    return type_size(variable->type) * width * variable_values(variable);
}

struct variable *variable_table_of(
    const struct outline *outline, const struct extent *extent, int file, int *count)
{
    struct variable *row = variable_table(outline, count);
    int64_t cells = 1;

    for (int64_t i = 0; i < outline->axis_count; i++)
        cells *= outline->axis[i].length;
    for (int i = 0; row && i < *count; i++) {
        int64_t bytes = variable_bytes(&row[i]) * (row[i].of_cells ? cells : 1);
        int id;
        bool found =
            extent && lookup_variable(file, row[i].name, &id) == NC_NOERR && extent[id].bytes == bytes;
        row[i].begin = found ? extent[id].begin : -1;
    }
    return row;
}

struct outline layout_outline(const struct layout *layout)
{
    const struct sweep *sweep = layout->sweep;
    struct outline outline = {.axis_count = sweep->axis_count,
        .axis = sweep->axis,
        .base = &sweep->base,
        .step_count = layout->step_count,
        .step = layout->step,
        .sessions = layout->sessions,
        .form = &layout->form};

    for (enum metric_dimension i = 0; i < DIMENSION_COUNT; i++)
        outline.dimension[i] = metric_dimension_stored(i, &layout->form, sweep->measure.group);
    for (enum metric i = 0; i < METRIC_COUNT; i++)
        outline.metric[i] = metric_stored(i, &layout->form, sweep->measure.group);
    return outline;
}
