/*
 * A line for each run under way, in columns. If they do not fit, names are shortened first, then notes and
 * losses left out; a display keeps the shortest names that it has needed, so that lines do not jump. The
 * screens call it for each drawing; nothing here fails.
 */
#include "driver/status/inside.h"

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

static int longest(
    int64_t axis_count, const struct axis *axis, enum naming naming, const struct run_line *line, int count)
{
    char label[LABEL_SIZE];
    int most = 0;

    for (int i = 0; i < count; i++) {
        if (line[i].cell < 0)
            continue;
        int columns = lines_width(label_named(axis_count, axis, line[i].cell, naming, label));
        most = columns > most ? columns : most;
    }
    return most;
}

void run_lines_print(FILE *out, int columns, int64_t axis_count, const struct axis *axis,
    const struct run_line *line, int count, struct run_naming *naming)
{
    enum naming how = naming->columns == columns ? naming->naming : NAMING_WHOLE;
    int head = 0, loss_width = LOSS_WIDTH, room = columns, name;
    char loss[LOSS_SIZE], tail[TAIL], label[LABEL_SIZE];

    for (int i = 0; i < count; i++) {
        int width = lines_width(line[i].head),
            lost = line[i].cell < 0 ? 0 : put_loss(&line[i], columns, loss);
        head = width > head ? width : head;
        loss_width = lost > loss_width ? lost : loss_width; /* so that the notes line up */
    }
    for (int i = 0; i < count; i++) {
        if (line[i].cell < 0)
            continue;
        put_tail(&line[i], columns, loss_width, tail);
        int left = columns - head - 2 - lines_width(tail);
        room = left < room ? left : room;
    }
    room = room > 0 ? room : 0;
    while ((name = longest(axis_count, axis, how, line, count)) > room && how < NAMING_NONE)
        how++;
    name = name < room ? name : room;
    *naming = (struct run_naming){how, columns};
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s%*s  ", line[i].head, head - lines_width(line[i].head), "");
        if (line[i].cell < 0) {
            fputs("idle\n", out);
            continue;
        }
        put_tail(&line[i], columns, loss_width, tail);
        label_named(axis_count, axis, line[i].cell, how, label);
        label_shorten(label, name);
        fprintf(out, "%s%*s%s\n", label, name - lines_width(label), "", tail);
    }
}
