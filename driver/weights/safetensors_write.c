#include "driver/weights/safetensors_write.h"

#include "driver/weights/json.h"
#include "driver/weights/safetensors.h"
#include "driver/weights/written_file.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 13 }; /* elements that are written at once */

int64_t stored_form_size(const struct stored_form *form)
{
    int64_t size = 1;

    for (int64_t i = 0; i < form->rank; i++)
        size *= form->shape[i];
    return size;
}

int64_t stored_content_size(const struct stored_content *content)
{
    int64_t size = 0;

    for (int64_t i = 0; i < content->count; i++)
        size += stored_form_size(&content->tensor[i]);
    return size;
}

static int64_t element_bytes(const struct stored_content *content)
{
    return content->is_double ? 8 : 4;
}

/* ---- the header ---- */

/* {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}; NULL without memory. */
static json_t *entry_of(const struct stored_content *content, const struct stored_form *form, int64_t begin)
{
    int64_t end = begin + stored_form_size(form) * element_bytes(content);
    enum stored_type type = content->is_double ? STORED_F64 : STORED_F32;
    json_t *shape = json_array();

    for (int64_t i = 0; i < form->rank; i++)
        json_array_append_new(shape, json_integer(form->shape[i]));
    return json_pack("{s:s, s:o, s:[I, I]}", STORED_DTYPE, stored_type_name(type), STORED_SHAPE, shape,
        STORED_OFFSETS, (json_int_t)begin, (json_int_t)end);
}

/* The text of the header, which the caller frees; NULL without memory. */
static char *header_text(const struct stored_content *content)
{
    json_t *header = json_pack("{s:{s:s}}", STORED_METADATA, "format", "pt");
    int64_t begin = 0;
    int status = header ? 0 : -1;

    for (int64_t i = 0; status == 0 && i < content->count; i++) {
        const struct stored_form *form = &content->tensor[i];
        status = json_object_set_new(header, form->name, entry_of(content, form, begin));
        begin += stored_form_size(form) * element_bytes(content);
    }
    char *text = status == 0 ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    return text;
}

/* Writes the bytes of a number, the lowest first; returns what is behind them. */
static unsigned char *put_number(unsigned char *bytes, uint64_t number, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        *bytes++ = (unsigned char)(number >> 8 * i & 0xff);
    return bytes;
}

/* Spaces at its end make the elements begin at a multiple of 8. */
static int write_header(
    const struct written_file *file, const struct stored_content *content, struct error *error)
{
    static const char spaces[] = "       ";
    unsigned char length[STORED_LENGTH_BYTES];
    char *text = header_text(content);
    int status = -1;

    if (!text)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", file->path);
    size_t used = strlen(text), padding = (8 - used % 8) % 8;
    put_number(length, used + padding, STORED_LENGTH_BYTES);
    if (written_file_put(file, length, STORED_LENGTH_BYTES, error) == 0 &&
        written_file_put(file, text, used, error) == 0)
        status = written_file_put(file, spaces, padding, error);
    free(text);
    return status;
}

/* ---- the elements ---- */

static unsigned char *put_element(unsigned char *bytes, double value, bool is_double)
{
    float rounded = (float)value;
    uint64_t wide;
    uint32_t narrow;

    if (is_double) {
        memcpy(&wide, &value, sizeof(wide));
        return put_number(bytes, wide, sizeof(wide));
    }
    memcpy(&narrow, &rounded, sizeof(narrow));
    return put_number(bytes, narrow, sizeof(narrow));
}

static int write_elements(
    const struct written_file *file, const double *values, int64_t count, bool is_double, struct error *error)
{
    unsigned char bytes[PIECE * sizeof(double)];

    for (int64_t begin = 0; begin < count; begin += PIECE) {
        int64_t end = count - begin < PIECE ? count : begin + PIECE;
        unsigned char *at = bytes;
        for (int64_t i = begin; i < end; i++)
            at = put_element(at, values[i], is_double);
        if (written_file_put(file, bytes, (size_t)(at - bytes), error) < 0)
            return -1;
    }
    return 0;
}

static int write_content(const struct written_file *file, const struct stored_content *content,
    double *values, struct error *error)
{
    if (write_header(file, content, error) < 0)
        return -1;
    for (int64_t i = 0; i < content->count; i++) {
        int64_t size = stored_form_size(&content->tensor[i]);
        if (content->fill(content->context, i, values, error) < 0 ||
            write_elements(file, values, size, content->is_double, error) < 0)
            return -1;
    }
    return 0;
}

/* Memory for the largest tensor, which the caller frees; NULL: there is not enough. */
static double *largest_values(const struct stored_content *content)
{
    int64_t most = 1;

    for (int64_t i = 0; i < content->count; i++) {
        int64_t size = stored_form_size(&content->tensor[i]);
        most = size > most ? size : most;
    }
    return malloc((size_t)most * sizeof(double));
}

int safetensors_write(const char *path, const struct stored_content *content, struct error *error)
{
    double *values = largest_values(content);
    struct written_file file;
    int status = -1;

    if (!values)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", path);
    if (written_file_open(&file, path, error) == 0)
        status = written_file_close(&file, write_content(&file, content, values, error), error);
    free(values);
    return status;
}
