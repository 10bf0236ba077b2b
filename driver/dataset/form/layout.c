/*
 * The sizes of a dataset: everything has its full length from the beginning, because a header that changes
 * would be read half written. Each dimension is as long as the longest run needs, and a shorter run leaves
 * fill values behind its own.
 */
#include "driver/dataset/form/inside.h"
#include "driver/output/output.h"

/* In each dimension as long as that of the longest run. */
static struct metric_form longest_form(const struct sweep *sweep)
{
    struct metric_form longest = {0};
    bool any = false, vary = false; /* in the lengths of their metrics, can runs differ? */

    for (size_t i = 0; i < param_count; i++)
        vary = vary || (param_table[i].cost && axis_find(sweep->axis_count, sweep->axis, &param_table[i]));
    for (int64_t cell = 0; vary && cell < sweep->cells; cell++) {
        struct run run;
        if (sweep_skips(sweep, cell))
            continue;
        sweep_cell(sweep, cell, &run);
        metric_lengthen(&longest, &run, &sweep->measure);
        any = true;
    }
    if (!any)
        metric_lengthen(&longest, &sweep->base, &sweep->measure);
    metric_form_place(&longest);
    return longest;
}

size_t layout_find(const struct metric_form *dataset, const struct metric_form *run, enum metric metric,
    size_t index, size_t *count)
{
    const struct metric_shape_row *shape = &metric_shape_table[metric_table[metric].shape];
    size_t place = 0, stride = 1, block = 1, rest = index;
    bool together = true;

    for (int i = shape->rank - 1; i >= 0; i--) {
        size_t here = (size_t)run->along[shape->dimension[i]];
        size_t there = (size_t)dataset->along[shape->dimension[i]];
        INVARIANT(here > 0 && here <= there, "%s: length %zu, %zu in the dataset", metric_table[metric].name,
            here, there);
        bool moved = shape->dimension[i] == DIMENSION_STACK && here < there;
        block *= together ? here : 1;
        together = together && here == there;
        place += (rest % here + (moved ? (size_t)run->first_stack : 0)) * stride;
        rest /= here;
        stride *= there;
    }
    INVARIANT(
        rest == 0, "%s: value %zu of %zu", metric_table[metric].name, index, metric_values(metric, run));
    *count = block - index % block;
    return place;
}

void layout_spread(const struct outline *to, const struct outline *from, int64_t first_stack,
    enum metric metric, const double *values, double *spread)
{
    struct metric_form narrow = *from->form;
    size_t old = metric_values(metric, &narrow), new = metric_values(metric, to->form);
    bool of_run = metric_is_of_run(metric);

    narrow.first_stack = first_stack;
    for (size_t i = 0; i < (of_run ? 1 : (size_t)to->step_count) * new; i++)
        spread[i] = NAN;
    for (int64_t i = 0; i < (of_run ? 1 : from->step_count); i++) {
        int64_t at = of_run ? 0 : step_place(to->step, to->step_count, from->step[i]);
        INVARIANT(of_run || (at < to->step_count && to->step[at] == from->step[i]),
            "step %lld is not among the new ones", (long long)from->step[i]);
        for (size_t j = 0, count; j < old; j += count) {
            size_t there = layout_find(to->form, &narrow, metric, j, &count);
            memcpy(spread + (size_t)at * new + there, values + (size_t)i * old + j, count * sizeof(*spread));
        }
    }
}

void layout_init(struct layout *layout, const struct sweep *sweep, const struct corpus *corpus)
{
    *layout = (struct layout){.sweep = sweep, .corpus = corpus, .sessions = SESSIONS_FIRST};
    layout->step = sweep_steps(sweep, corpus, &layout->step_count);
    layout->form = longest_form(sweep);
}

void layout_release(struct layout *layout)
{
    free(layout->step);
    free(layout->history);
    free(layout->title);
    *layout = (struct layout){0};
}

int layout_add_steps(struct layout *layout, const int64_t *step, int64_t count)
{
    int64_t *both = malloc((size_t)(layout->step_count + count) * sizeof(*both));
    int64_t i = 0, j = 0, length = 0;

    if (!both)
        return -1;
    while (i < layout->step_count || j < count) {
        bool own = j == count || (i < layout->step_count && layout->step[i] <= step[j]);
        int64_t next = own ? layout->step[i++] : step[j++];
        if (length == 0 || both[length - 1] != next)
            both[length++] = next;
    }
    free(layout->step);
    layout->step = both;
    layout->step_count = length;
    return 0;
}

bool layout_lengthen(struct layout *layout, const struct metric_form *file)
{
    bool longer = false;

    for (int i = 0; i < DIMENSION_COUNT; i++) {
        int64_t own = layout->form.along[i], old = file->along[i];
        bool needed = metric_dimension_needed(i, layout->sweep->measure.group);
        longer = longer || (needed && own > old);
        layout->form.along[i] = own > old ? own : old;
    }
    metric_form_place(&layout->form);
    return longer;
}

char *layout_measure_text(const struct measure *measure)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const char *comma = "";

    if (!out)
        return NULL;
    if (measure->every)
        fprintf(out, "{every: %lld", (long long)measure->every);
    else
        fputs("{steps: [", out);
    for (int64_t i = 0; i < measure->step_count; i++)
        fprintf(out, "%s%lld", i ? ", " : "", (long long)measure->steps[i]);
    fputs(measure->every ? ", metrics: [" : "], metrics: [", out);
    for (int group = GROUP_ALWAYS + 1; group < GROUP_COUNT; group++) {
        if (!measure->group[group])
            continue;
        fprintf(out, "%s%s", comma, metric_group_names[group]);
        comma = ", ";
    }
    fputs("]}", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *layout_refine_text(const struct sweep *sweep)
{
    const struct refine *refine = &sweep->refine;
    const struct refine_seeds *seeds = &refine->seeds;
    struct string text = {0};
    char number[LABEL_SIZE];

    if (refine->kind == REFINE_NONE)
        return strdup("");
    string_format(&text, "{");
    if (refine->kind != REFINE_SEEDS) {
        bool lines = refine->kind == REFINE_LINES;
        string_format(&text, lines ? "axis: " : "axes: [");
        for (int i = 0; i < refine->axis_count; i++)
            string_format(&text, "%s%s", i ? ", " : "", sweep->axis[refine->axis[i]].name);
        string_format(&text, "%s, variable: %s, at: %s", lines ? "" : "]",
            metric_table[refine->variable].name, label_real(refine->at, number, sizeof(number)));
        if (!lines)
            string_format(&text, ", coarse: %lld", (long long)refine->coarse);
    }
    const char *comma = refine->kind != REFINE_SEEDS ? ", " : "";
    if (refine->at_once > 1) {
        string_format(&text, "%sat_once: %lld", comma, (long long)refine->at_once);
        comma = ", ";
    }
    if (seeds->most > 0) {
        string_format(&text, "%sseeds: {variable: %s, width: %s, least: %lld, most: %lld", comma,
            metric_table[seeds->variable].name, label_real(seeds->width, number, sizeof(number)),
            (long long)seeds->least, (long long)seeds->most);
        if (seeds->difference >= 0)
            string_format(&text, ", difference: %s", sweep->axis[seeds->difference].name);
        string_format(&text, "}");
    }
    string_format(&text, "}");
    return string_take(&text);
}

int layout_error(struct error *error, const char *name, int status)
{
    bool foreign = status == NC_ENOTNC;
    enum error_status kind = foreign || output_is_at_fault(status) ? ERROR_INPUT : ERROR_ENVIRONMENT;

    return error_set(error, kind, "%s: %s", name,
        foreign      ? "is not a " PROGRAM " dataset"
        : status > 0 ? strerror(status)
                     : nc_strerror(status));
}
