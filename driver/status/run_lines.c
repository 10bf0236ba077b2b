/*
 * A line for each run under way, in columns. If they do not fit, names are shortened first, then notes and
 * losses left out; a display keeps the shortest names that it has needed, so that lines do not jump.
 */
#include "driver/status/inside.h"
#include "driver/text/text.h"

#include <inttypes.h>
#include <math.h>

enum {
    NOTE_COLUMNS = 60, /* width from which notes are shown */
    LOSS_COLUMNS = 40, /* width from which losses are shown */
    LOSS_WIDTH = 10, /* of "loss 3.215", the usual width */
    LOSS_SIZE = 32,
    TAIL = 128,
};

/* "loss 3.215"; "" if there is no loss, or no room. Returns its width. */
static int put_loss(const struct run_line *line, int columns, char loss[LOSS_SIZE])
{
    if (isnan(line->loss) || columns < LOSS_COLUMNS)
        return snprintf(loss, LOSS_SIZE, "%s", "");
    return snprintf(loss, LOSS_SIZE, "loss %.4g", line->loss);
}

/* The width that every line reserves for its loss, so that the notes line up. */
static int widest_loss(int columns, const struct run_line *line, int count)
{
    char loss[LOSS_SIZE];
    int widest = LOSS_WIDTH;

    for (int i = 0; i < count; i++) {
        int width = line[i].cell < 0 ? 0 : put_loss(&line[i], columns, loss);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* The part of a line after the run's name. */
static void put_tail(const struct run_line *line, int columns, int loss_width, char tail[TAIL])
{
    char loss[LOSS_SIZE];
    const char *note = columns >= NOTE_COLUMNS ? line->note : "";

    put_loss(line, columns, loss);
    int written =
        snprintf(tail, TAIL, "  %*" PRId64, snprintf(NULL, 0, "%" PRId64, line->last_step), line->step);
    if (line->last_step >= 0)
        written += snprintf(tail + written, TAIL - (size_t)written, "/%" PRId64, line->last_step);
    if (loss[0] || note[0])
        written += snprintf(tail + written, TAIL - (size_t)written, "  %s", loss);
    if (note[0])
        snprintf(tail + written, TAIL - (size_t)written, "%*s  %s", loss_width - lines_width(loss), "", note);
}

/* How the names of the runs are written: all in the same way. */
struct names {
    int64_t axis_count;
    const struct axis *axis;
    enum naming naming;
    int columns;
};

static int longest_head(const struct run_line *line, int count)
{
    int longest = 0;

    for (int i = 0; i < count; i++) {
        int columns = lines_width(line[i].head);
        longest = columns > longest ? columns : longest;
    }
    return longest;
}

static int longest_name(const struct names *names, const struct run_line *line, int count)
{
    char label[LABEL_SIZE];
    int longest = 0;

    for (int i = 0; i < count; i++) {
        if (line[i].cell < 0)
            continue;
        label_named(names->axis_count, names->axis, line[i].cell, names->naming, label);
        int columns = lines_width(label);
        longest = columns > longest ? columns : longest;
    }
    return longest;
}

/* The width that every line has left for a name. */
static int name_room(int columns, const struct run_line *line, int count)
{
    int room = columns, head = longest_head(line, count), loss_width = widest_loss(columns, line, count);
    char tail[TAIL];

    for (int i = 0; i < count; i++) {
        if (line[i].cell < 0)
            continue;
        put_tail(&line[i], columns, loss_width, tail);
        int left = columns - head - 2 - lines_width(tail);
        room = left < room ? left : room;
    }
    return room > 0 ? room : 0;
}

static void fit_names(struct names *names, int room, const struct run_line *line, int count)
{
    while ((names->columns = longest_name(names, line, count)) > room && names->naming < NAMING_NONE)
        names->naming++;
    names->columns = names->columns < room ? names->columns : room;
}

void run_lines_print(FILE *out, int columns, int64_t axis_count, const struct axis *axis,
    const struct run_line *line, int count, struct run_naming *naming)
{
    struct names names = {.axis_count = axis_count, .axis = axis};
    char tail[TAIL], label[LABEL_SIZE];
    int head = longest_head(line, count), loss_width = widest_loss(columns, line, count);

    names.naming = naming->columns == columns ? naming->naming : NAMING_WHOLE;
    fit_names(&names, name_room(columns, line, count), line, count);
    *naming = (struct run_naming){names.naming, columns};
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s%*s  ", line[i].head, head - lines_width(line[i].head), "");
        if (line[i].cell < 0) {
            fputs("idle\n", out);
            continue;
        }
        put_tail(&line[i], columns, loss_width, tail);
        label_named(axis_count, axis, line[i].cell, names.naming, label);
        label_shorten(label, names.columns);
        fprintf(out, "%s%*s%s\n", label, names.columns - lines_width(label), "", tail);
    }
}
