/* Values of a safetensors file, bit by bit. Refused files are in test_inspect.py. */
#include "tests/test.h"

#include "driver/weights/convert.h"

#include <stdlib.h>
#include <string.h>

/* A file with this header, followed by these bytes; the caller frees it. */
static unsigned char *make_file(const char *header, const void *data, size_t count, size_t *size)
{
    size_t length = strlen(header);

    *size = 8 + length + count;
    unsigned char *bytes = calloc(1, *size);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + length, data, count);
    return bytes;
}

/* The elements of one tensor of a type. */
static void check_values(
    const char *header, const void *data, size_t bytes, const double *value, int64_t count)
{
    struct safetensors file;
    struct error error;
    size_t size;
    unsigned char *content = make_file(header, data, bytes, &size);

    CHECK(safetensors_parse(&file, "t", content, size, &error) == 0);
    const struct stored_tensor *tensor = safetensors_find(&file, "a");
    CHECK(tensor && tensor->count == count);
    for (int64_t i = 0; tensor && i < count; i++) {
        scalar found, expected = (scalar)value[i];
        convert(tensor, i, 1, &found);
        CHECK(isnan(expected) ? isnan(found) : found == expected && !signbit(found) == !signbit(expected));
    }
    safetensors_release(&file);
    free(content);
}

TEST(safetensors_half)
{
    const unsigned char data[] = {0x00, 0x3c, 0x01, 0x00, 0xff, 0x03, 0x00, 0x04, 0xff, 0x7b, 0x00, 0x80,
        0x00, 0xfc, 0x01, 0x7c, 0x55, 0xb5};
    const double value[] = {
        1, 0x1p-24, 1023 * 0x1p-24, 0x1p-14, 65504, -0.0, -INFINITY, NAN, -1365 * 0x1p-12};

    check_values(
        "{\"a\":{\"dtype\":\"F16\",\"shape\":[3,3],\"data_offsets\":[0,18]}}", data, sizeof(data), value, 9);
}

TEST(safetensors_bfloat)
{
    const unsigned char data[] = {0x80, 0x3f, 0x01, 0x00, 0x7f, 0xff, 0x80, 0xff, 0xc0, 0x7f};
    const double value[] = {1, 0x1p-133, -255 * 0x1p120, -INFINITY, NAN};

    check_values(
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[5],\"data_offsets\":[0,10]}}", data, sizeof(data), value, 5);
}

/* The header's length puts the data at even and at odd offsets. */
TEST(safetensors_single_and_double)
{
    const float single[] = {1.5f, -0x1p-149f};
    const double twice[] = {0.1, -0x1p-1074};
    const double value[] = {1.5, -0x1p-149};

    check_values("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", single, 8, value, 2);
    check_values("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}} ", single, 8, value, 2);
    check_values(
        "{\"a\": {\"data_offsets\":[0,16], \"shape\":[1,2,1],\n\t\"dtype\":\"F64\"}}", twice, 16, twice, 2);
}

/* A scalar has no lengths, an empty tensor has no bytes; tensors are sorted by name. */
TEST(safetensors_names)
{
    struct safetensors file;
    struct error error;
    size_t size;
    unsigned char *content =
        make_file("{\"b\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
                  "\"a\\u002e\\n\":{\"dtype\":\"I64\",\"shape\":[3,0],\"data_offsets\":[8,8]},"
                  "\"__metadata__\":{\"a\":\"b\"}}",
            "12345678", 8, &size);

    CHECK(safetensors_parse(&file, "t", content, size, &error) == 0);
    CHECK(file.count == 2);
    CHECK(safetensors_find(&file, "b") && safetensors_find(&file, "b")->count == 1);
    CHECK(safetensors_find(&file, "a.\n") && safetensors_find(&file, "a.\n")->count == 0);
    CHECK(!safetensors_find(&file, "__metadata__") && !safetensors_find(&file, "a"));
    safetensors_release(&file);
    free(content);
}
