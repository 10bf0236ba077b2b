/*
 * Maps an existing file to a sweep. Values may be added anywhere to any axis, a fixed parameter may become an
 * axis that contains its value, and axes may change their order. `steps` may grow where runs have kept their
 * states. Everything else that affects the numbers of a run must be equal.
 */
#include "driver/dataset/extend/inside.h"
#include "model/core/scalar.h"

#include <errno.h>

enum { DIFFERENCES_TEXT = 800, NAMED_MAX = 5 };

/* Collects all differences in one text. */
struct differences {
    struct match *match;
    const struct view *view;
    const struct sweep *sweep;
    const struct corpus *corpus;
    FILE *out;
    int64_t count;
    const char *hint; /* how steps could grow; "": nothing to say */
    int cause; /* errno of a value that could not be read */
};

static bool equal(const struct param *param, union param_value a, union param_value b)
{
    return param->kind == PARAM_REAL ? a.real == b.real : a.integer == b.integer;
}

/* Begins another difference. */
static FILE *another(struct differences *differences)
{
    if (differences->count++)
        fputs(", ", differences->out);
    return differences->out;
}

/* Where the sweep's value of a key stands. */
static const char *place_of(const struct differences *differences, const char *key)
{
    char setting[640];

    snprintf(setting, sizeof(setting), "\n# --set %s=", key);
    return strstr(differences->sweep->text, setting) ? "--set" : differences->sweep->path;
}

static void differ(struct differences *differences, const char *what, const char *there, const char *here)
{
    fprintf(another(differences), "%s is %s in %s and %s in %s", what, there, differences->view->name, here,
        place_of(differences, what));
}

static void differ_values(struct differences *differences, const char *what, const struct param *param,
    union param_value there, union param_value here)
{
    char old[PARAM_TEXT], new[PARAM_TEXT];

    differ(differences, what, param_format(param, there, old, sizeof(old)),
        param_format(param, here, new, sizeof(new)));
}

/* A fixed parameter in the file. verify_content has found it: only memory can be lacking now. */
static union param_value fixed_there(struct differences *differences, const struct param *param)
{
    union param_value value = param->initial;
    int cause = ENOMEM;

    if (!view_param(differences->view, param, &value, &cause))
        differences->cause = cause;
    return value;
}

/* Why the runs of the sweep cannot carry on from states of shorter ones, if those were kept; "": they can. */
static const char *why_not_grown(const struct sweep *sweep, int64_t old_steps)
{
    const char *why = "";
    struct walk walk;

    walk_init(&walk, sweep);
    while (!why[0] && walk_next(&walk)) {
        walk.run.save_weights = SAVE_STATE;
        if (walk.run.stop_when != STOP_NEVER)
            why = "; with stop_when: phase steps cannot grow";
        else if (walk.run.timescale > 0)
            why = "; with a timescale steps cannot grow: weight_decay depends on them";
        else if (run_kept_step(&walk.run, old_steps) == 0)
            why = "; steps can grow only while the rate does not depend on them: constant, inverse_sqrt, "
                  "wsd, linear and cosine with a schedule_start";
    }
    return why;
}

/* More steps are no difference if the file's runs kept what it takes to carry on. */
static bool may_grow(struct differences *differences, union param_value there, union param_value here)
{
    const struct sweep *sweep = differences->sweep;

    if (there.integer == 0 || here.integer <= there.integer)
        return false;
    bool kept = fixed_there(differences, param_find("save_weights")).integer == SAVE_STATE;
    bool keeps = sweep->base.save_weights == SAVE_STATE;
    differences->hint = why_not_grown(sweep, there.integer);
    if (!differences->hint[0] && !kept && !keeps)
        differences->hint = ", or begin anew with save_weights: state, which lets steps grow later";
    else if (!differences->hint[0] && keeps)
        differences->match->old_steps = there.integer;
    else if (!differences->hint[0])
        differences->hint = "; with save_weights: state, which the dataset has, steps can grow";
    return differences->match->old_steps > 0;
}

/* Compares parameters fixed in both. */
static void compare_fixed(struct differences *differences)
{
    const struct sweep *sweep = differences->sweep;
    const struct view *view = differences->view;

    for (size_t i = 0; i < param_count; i++) {
        const struct param *param = &param_table[i];
        union param_value here = param_get(param, &sweep->base);
        if (axis_find(sweep->axis_count, sweep->axis, param) ||
            axis_find(view->axis_count, view->axis, param) ||
            axis_derives(sweep->axis_count, sweep->axis, &sweep->base, param) ||
            axis_derives(view->axis_count, view->axis, &view->base, param))
            continue;
        union param_value there = fixed_there(differences, param);
        bool grows = param == param_find("steps") && may_grow(differences, there, here);
        if (!equal(param, there, here) && !grows)
            differ_values(differences, param->name, param, there, here);
    }
}

/* A text attribute in the file, which verify_content has found; NULL: see `cause`. The caller frees it. */
static char *text_there(struct differences *differences, const char *name)
{
    int cause = ENOMEM;
    char *text = view_text(differences->view, name, &cause);

    if (!text)
        differences->cause = cause;
    return text;
}

/* Compares two texts and frees them; `there` may be missing. */
static void compare_texts(struct differences *differences, const char *name, char *there, char *here)
{
    if (!here)
        differences->cause = ENOMEM;
    else if (there && strcmp(there, here) != 0)
        differ(differences, name, there, here);
    free(there);
    free(here);
}

/* Compares how all runs are measured, and on what. What another difference would explain is not told. */
static void compare_measuring(struct differences *differences)
{
    const struct view *view = differences->view;
    const struct measure *measure = &differences->sweep->measure;
    char digest[DIGEST_TEXT], *there = text_there(differences, ATTRIBUTE_MEASURE);

    compare_texts(differences, ATTRIBUTE_MEASURE, there, layout_measure_text(measure));
    for (enum measure_option i = 0; i < MEASURE_OPTION_COUNT; i = measure_option_end(i)) {
        const char *key = measure_option_table[i].key;
        if (!measure->group[measure_option_table[i].group])
            continue;
        there = view_text(view, key, &differences->cause);
        if (!there && differences->count == 0)
            fprintf(another(differences), "the attribute %s is missing in %s", key, view->name);
        compare_texts(differences, key, there, measure_option_text(measure, i));
    }
    for (enum metric metric = 0; differences->count == 0 && metric < METRIC_COUNT; metric++)
        if (metric_stored(metric, &view->form, measure->group) && /* another program may have taken it out */
            !lookup_has_variable(view->file, metric_table[metric].name))
            fprintf(another(differences), "%s is missing in %s", metric_table[metric].name, view->name);
    there = text_there(differences, ATTRIBUTE_PRECISION);
    if (there && strcmp(there, SCALAR_TYPE) != 0)
        fprintf(another(differences),
            "it is of a program that trains in %s, and this one trains in " SCALAR_TYPE, there);
    free(there);
    there = text_there(differences, ATTRIBUTE_DATA);
    digest_format(&differences->corpus->digest, digest);
    if (differences->count == 0 && there && strcmp(there, digest) != 0)
        fprintf(another(differences), "the content of the texts has changed since %s was made", view->name);
    free(there);
}

/* The index on the sweep's axis of value or label i of the file's axis, searched from `hint` on; -1: none. */
static int64_t find_value(const struct axis *there, int64_t i, const struct axis *here, int64_t hint)
{
    for (int64_t k = 0; k < here->length; k++) {
        int64_t j = (hint + k) % here->length;
        bool same = here->label ? strcmp(there->label[i], here->label[j]) == 0
                                : equal(here->param[0], there->value[i], here->value[j]);
        if (same)
            return j;
    }
    return -1;
}

/* Compares the values that one label of a together axis sets. */
static void compare_label(
    struct differences *differences, const struct axis *there, int64_t i, const struct axis *here, int64_t j)
{
    for (int64_t k = 0; here->label && k < here->param_count; k++) {
        const struct param *param = here->param[k];
        union param_value new = here->value[k * here->length + j];
        union param_value old = there->value[axis_row(there, param) * there->length + i];
        char what[512];
        snprintf(what, sizeof(what), "%s of %s %s", param->name, here->name, here->label[j]);
        if (!equal(param, old, new))
            differ_values(differences, what, param, old, new);
    }
}

/* Maps an axis that both have: to[there->length]. Names the values that are missing here first, then
 * differences of labels, so that the two do not mix. */
static void map_axis(
    struct differences *differences, const struct axis *there, const struct axis *here, int64_t *to)
{
    int64_t hint = 0, missing = 0, found = 0; /* places looked at */
    char text[128];

    for (; found < there->length && missing <= NAMED_MAX; found++) {
        to[found] = find_value(there, found, here, hint);
        differences->match->identity = differences->match->identity && to[found] == found;
        if (to[found] >= 0) {
            hint = to[found] + 1;
            continue;
        }
        if (missing++ == 0)
            fprintf(
                another(differences), "%s no longer has %s ", place_of(differences, here->name), here->name);
        if (missing > NAMED_MAX)
            fputs(" and more", differences->out);
        else
            fprintf(differences->out, "%s%s", missing > 1 ? ", " : "",
                label_axis_value(there, found, text, sizeof(text)));
    }
    if (missing > 0)
        fprintf(differences->out, ", which %s contains", differences->view->name);
    for (int64_t i = 0; i < found; i++)
        if (to[i] >= 0)
            compare_label(differences, there, i, here, to[i]);
}

/* For a new axis, the index at which its parameters equal the fixed ones of the file; -1: none. */
static int64_t find_fixed(struct differences *differences, const struct axis *here)
{
    const struct view *view = differences->view;

    for (int64_t j = 0; j < here->length; j++) {
        bool same = true;
        for (int64_t k = 0; same && k < here->param_count; k++)
            same = !axis_find(view->axis_count, view->axis, here->param[k]) &&
                   equal(here->param[k], fixed_there(differences, here->param[k]),
                       here->value[k * here->length + j]);
        if (same)
            return j;
    }
    return -1;
}

/* Maps the axes of the sweep, the innermost first. */
static void map_new_axes(struct differences *differences)
{
    const struct sweep *sweep = differences->sweep;
    const struct view *view = differences->view;
    int64_t stride = 1;

    differences->match->identity = view->axis_count == sweep->axis_count;
    for (int64_t i = sweep->axis_count - 1; i >= 0; stride *= sweep->axis[i--].length) {
        const struct axis *here = &sweep->axis[i];
        int64_t index = axis_named(view->axis_count, view->axis, here->name);
        if (index >= 0) {
            const struct axis *there = &view->axis[index];
            differences->match->stride[index] = stride;
            differences->match->identity =
                differences->match->identity && index == i && there->length == here->length;
            bool same = there->param_count == here->param_count && !there->label == !here->label;
            for (int64_t k = 0; same && k < there->param_count; k++)
                same = axis_row(here, there->param[k]) >= 0;
            if (same)
                map_axis(differences, there, here, differences->match->to[index]);
            else
                fprintf(another(differences), "%s sets other keys in %s than in %s", here->name, sweep->path,
                    view->name);
            continue;
        }
        differences->match->identity = false;
        int64_t place = find_fixed(differences, here);
        if (place < 0)
            fprintf(another(differences),
                "%s is not an axis in %s, and its value there is not on the axis in %s", here->name,
                view->name, sweep->path);
        differences->match->base += place * stride;
    }
}

/* An axis that only the file has may have one value, to which the sweep's parameters are fixed. */
static void compare_lost_axes(struct differences *differences)
{
    const struct sweep *sweep = differences->sweep;

    for (int64_t i = 0; i < differences->view->axis_count; i++) {
        const struct axis *there = &differences->view->axis[i];
        bool known = axis_named(sweep->axis_count, sweep->axis, there->name) >= 0;
        for (int64_t k = 0; !known && k < there->param_count; k++)
            if (there->length != 1 || axis_find(sweep->axis_count, sweep->axis, there->param[k]) ||
                !equal(there->param[k], there->value[k], param_get(there->param[k], &sweep->base))) {
                fprintf(another(differences), "%s is an axis in %s but not in %s", there->name,
                    differences->view->name, sweep->path);
                break;
            }
    }
}

/* The --set options at the end of a sweep file's text, as a dataset keeps it; NULL: none. */
static const char *settings_of(const char *text)
{
    static const char head[] = "# --set ";
    const char *found = text ? strstr(text, head) : NULL;

    while (found && found != text && found[-1] != '\n')
        found = strstr(found + 1, head);
    return found;
}

/* Was the file made with --set options that the sweep does not have? */
static bool had_other_settings(const struct differences *differences)
{
    char *text = view_text(differences->view, ATTRIBUTE_SWEEP, NULL);
    const char *there = settings_of(text), *here = settings_of(differences->sweep->text);
    bool other = there && !(here && strcmp(there, here) == 0);

    free(text);
    return other;
}

static int refuse_differences(struct differences *differences, const char *text, struct error *error)
{
    const char *hint = ", or repeat the --set options of the earlier run";
    size_t length = strlen(text);
    const char *dots = "";

    if (length > DIFFERENCES_TEXT) {
        length = DIFFERENCES_TEXT;
        while (length > 0 && text[length] != ' ')
            length--;
        dots = " ...";
    }
    return error_set(error, ERROR_INPUT, "%s: holds another sweep: %.*s%s; use --fresh or another -o%s%s",
        differences->view->name, (int)length, text, dots, had_other_settings(differences) ? hint : "",
        differences->hint);
}

int match_init(struct match *match, const struct view *view, const struct sweep *sweep,
    const struct corpus *corpus, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    struct differences differences = {.match = match,
        .view = view,
        .sweep = sweep,
        .corpus = corpus,
        .out = open_memstream(&text, &size),
        .hint = ""};
    bool memory = differences.out != NULL;

    *match = (struct match){.axis_count = view->axis_count};
    for (int64_t i = 0; memory && i < view->axis_count; i++) {
        match->to[i] = calloc((size_t)view->axis[i].length, sizeof(**match->to));
        memory = match->to[i] != NULL;
    }
    if (memory) {
        compare_fixed(&differences);
        map_new_axes(&differences);
        compare_lost_axes(&differences);
        compare_measuring(&differences);
    }
    memory = differences.out && fclose(differences.out) == 0 && memory;
    int cause = memory ? differences.cause : ENOMEM, result = 0;
    if (cause)
        result = layout_error(error, view->name, cause);
    else if (differences.count)
        result = refuse_differences(&differences, text, error);
    free(text);
    if (result != 0)
        match_release(match);
    return result;
}

void match_release(struct match *match)
{
    for (int64_t i = 0; i < match->axis_count; i++)
        free(match->to[i]);
    *match = (struct match){0};
}

int64_t match_cell(const struct match *match, const struct view *view, int64_t cell)
{
    int64_t result = match->base;

    for (int64_t i = view->axis_count - 1; i >= 0; i--) {
        result += match->to[i][cell % view->axis[i].length] * match->stride[i];
        cell /= view->axis[i].length;
    }
    return result;
}

int match_cells(const struct view *view, const struct sweep *sweep, const struct corpus *corpus,
    int64_t **kept_cell, struct error *error)
{
    struct match match;

    if (match_init(&match, view, sweep, corpus, error) != 0)
        return -1;
    int64_t *found = malloc((size_t)sweep->cells * sizeof(*found));
    for (int64_t cell = 0; found && cell < sweep->cells; cell++)
        found[cell] = -1;
    for (int64_t cell = 0; found && !match.old_steps && cell < view->cells; cell++)
        found[match_cell(&match, view, cell)] = cell;
    match_release(&match);
    *kept_cell = found;
    return found ? 0 : layout_error(error, view->name, ENOMEM);
}
