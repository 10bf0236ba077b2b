#include "driver/sweep/cell_json.h"

static void put_value(struct json_writer *writer, const struct axis *axis, int64_t index)
{
    if (axis->label) {
        json_writer_text(writer, axis->name, axis->label[index]);
        return;
    }
    const struct param *param = axis->param[0];
    union param_value value = axis->value[index];
    switch (param->kind) {
    case PARAM_REAL:
        json_writer_real(writer, axis->name, value.real);
        break;
    case PARAM_INTEGER:
        json_writer_whole(writer, axis->name, value.integer);
        break;
    case PARAM_BOOLEAN:
        json_writer_truth(writer, axis->name, value.integer != 0);
        break;
    case PARAM_WORD:
        json_writer_text(writer, axis->name, param->words[value.integer]);
        break;
    }
}

void cell_json(struct json_writer *writer, int64_t axis_count, const struct axis *axis, int64_t cell)
{
    int64_t inner = 1;

    for (int64_t i = 0; i < axis_count; i++)
        inner *= axis[i].length;
    json_writer_whole(writer, "cell", cell);
    json_writer_open(writer, "axes", '{');
    for (int64_t i = 0; i < axis_count; i++) {
        inner /= axis[i].length;
        put_value(writer, &axis[i], cell / inner % axis[i].length);
    }
    json_writer_close(writer, '}');
}
