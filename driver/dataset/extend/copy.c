/*
 * Copies measurements to a new file: by value along the axes, by step, layer and tensor. Cells that were
 * never started have nothing to copy. start_plan.c calls it for a file that verify_dataset() and
 * match_init() have accepted, so that the new one has a place for every value. Each call of the library may
 * fail, and memory may be lacking; the new file is then thrown away.
 */
#include "driver/dataset/extend/inside.h"

/* Two open files, and which of their cells hold the same run. */
struct copy {
    const struct view *view; /* the old file */
    const struct layout *layout; /* of the new one */
    int file; /* the new one */
    struct outline there, here; /* of the old file and of the new one */
    const int64_t *cell; /* [cells of the sweep] the old file's; -1: none */
    double *attempts; /* [cells of the old file] */
    void *old, *new; /* one cell, or all sessions, of the largest variable */
};

/* The range of a variable in a file: the values of one cell, or all. */
static void range_of(const struct outline *outline, const struct variable *row, int64_t cell,
    size_t start[DIMENSIONS_MAX], size_t count[DIMENSIONS_MAX])
{
    struct file_dimension shape[DIMENSIONS_MAX];
    int64_t rest = cell;

    for (int i = variable_shape(outline, row, shape) - 1; i >= 0; i--) {
        bool along_grid = row->of_cells && i < outline->axis_count;
        start[i] = along_grid ? (size_t)(rest % shape[i].length) : 0;
        count[i] = along_grid ? 1 : (size_t)shape[i].length;
        rest /= along_grid ? shape[i].length : 1;
    }
    INVARIANT(cell >= 0 && rest == 0, "cell %lld is outside of the grid", (long long)cell);
}

/*
 * Copies a variable: of each run that was started, or all sessions. A metric goes from the old lengths of its
 * dimensions to the new ones; everything else keeps its length.
 */
static int copy_variable(const struct copy *copy, const struct variable *old, const struct variable *new)
{
    size_t start[DIMENSIONS_MAX], count[DIMENSIONS_MAX];
    const struct sweep *sweep = copy->layout->sweep;
    bool is_metric = old->kind == VARIABLE_METRIC;
    int from, to, status = lookup_variable(copy->view->file, old->name, &from);

    if (status == NC_NOERR)
        status = lookup_variable(copy->file, new->name, &to);
    for (int64_t cell = 0; status == NC_NOERR && cell < (old->of_cells ? sweep->cells : 1); cell++) {
        int64_t other = old->of_cells ? copy->cell[cell] : 0;
        if (old->of_cells && (other < 0 || copy->attempts[other] <= 0))
            continue;
        range_of(&copy->there, old, other, start, count);
        status = nc_get_vara(copy->view->file, from, start, count, copy->old);
        if (status != NC_NOERR)
            break;
        if (is_metric) {
            struct run run;
            sweep_cell(sweep, cell, &run);
            layout_spread(&copy->here, &copy->there, metric_form(&run, &sweep->measure).first_stack,
                (enum metric) new->which, copy->old, copy->new);
        }
        range_of(&copy->here, is_metric ? new : old, cell, start, count);
        status = nc_put_vara(copy->file, to, start, count, is_metric ? copy->new : copy->old);
    }
    return status;
}

int copy_runs(const struct view *view, const struct layout *layout, const int64_t *cell, const char *path,
    struct error *error)
{
    struct copy copy = {.view = view,
        .layout = layout,
        .there = view_outline(view),
        .here = layout_outline(layout),
        .cell = cell,
        .attempts = view_stored(view, run_variable_table[RUN_VARIABLE_attempts].name, view->cells, error)};
    int old_count = 0, new_count = 0;
    int64_t most = 1;

    if (!copy.attempts)
        return -1;
    struct variable *before = variable_table(&copy.there, &old_count);
    struct variable *after = variable_table(&copy.here, &new_count);
    for (int i = 0; before && i < old_count; i++)
        most = variable_bytes(&before[i]) > most ? variable_bytes(&before[i]) : most;
    for (int i = 0; after && i < new_count; i++)
        most = variable_bytes(&after[i]) > most ? variable_bytes(&after[i]) : most;
    copy.old = malloc((size_t)most);
    copy.new = malloc((size_t)most);
    int status = before && after && copy.old && copy.new ? nc_open(path, NC_WRITE, &copy.file) : NC_ENOMEM;
    bool opened = status == NC_NOERR;
    for (int i = 0; status == NC_NOERR && i < new_count; i++) {
        int which = after[i].which;
        if (after[i].kind > VARIABLE_SESSION)
            continue;
        /* Where the old file tells no stacks apart, a metric of the one stack is that of the whole. */
        if (after[i].kind == VARIABLE_METRIC && view->form.along[DIMENSION_STACK] == 1)
            which = (int)metric_of_all_stacks((enum metric)which);
        const struct variable *row = variable_find(before, old_count, after[i].kind, which);
        INVARIANT(row && row->type == after[i].type, "%s is not in the old file", after[i].name);
        status = copy_variable(&copy, row, &after[i]);
    }
    int closed = opened ? written_close(copy.file) : NC_NOERR;
    free(before);
    free(after);
    free(copy.old);
    free(copy.new);
    free(copy.attempts);
    status = status == NC_NOERR ? closed : status;
    return status == NC_NOERR ? 0 : layout_error(error, view->name, status);
}
