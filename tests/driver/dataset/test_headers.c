/* Headers that no program writes, byte by byte: they are refused before the netCDF library trusts them. */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"
#include "tests/test.h"

#include "driver/dataset/inside.h"

#include <errno.h>
#include <string.h>

enum { BYTES_MOST = 1 << 15 };

/* A file in memory: a header, number by number. */
struct made {
    unsigned char bytes[BYTES_MOST];
    size_t size;
};

static void put(struct made *made, int size, uint64_t number)
{
    for (int i = size - 1; i >= 0; i--)
        made->bytes[made->size++] = (unsigned char)(number >> (8 * i));
}

static void put_name(struct made *made, const char *name)
{
    size_t length = strlen(name);

    put(made, 8, length);
    memcpy(made->bytes + made->size, name, length);
    made->size += (length + 3) / 4 * 4;
}

enum { NO_TAG = 0, DIMENSIONS_TAG = 10, VARIABLES_TAG = 11, ATTRIBUTES_TAG = 12, BYTE = 1, DOUBLE = 6 };

static void put_list(struct made *made, int tag, uint64_t count)
{
    put(made, 4, (uint64_t)tag);
    put(made, 8, count);
}

static void begin(struct made *made)
{
    memset(made, 0, sizeof(*made));
    put(made, 4, 0x43444605); /* CDF-5 */
    put(made, 8, 0);
}

/* One dimension, no attributes. */
static void put_dimension(struct made *made, uint64_t length)
{
    put_list(made, DIMENSIONS_TAG, 1);
    put_name(made, "x");
    put(made, 8, length);
    put_list(made, NO_TAG, 0);
}

static void put_variable(struct made *made, uint64_t dimension, uint64_t type, uint64_t begin)
{
    put_list(made, VARIABLES_TAG, 1);
    put_name(made, "v");
    put(made, 8, 1);
    put(made, 8, dimension);
    put_list(made, NO_TAG, 0);
    put(made, 4, type);
    put(made, 8, 8);
    put(made, 8, begin);
    put(made, 8, 0); /* its values */
    put(made, 8, 0);
}

static void make_sound(struct made *made)
{
    put_dimension(made, 1);
    put_variable(made, 0, DOUBLE, 24);
}

static void make_counted_absent(struct made *made)
{
    put_list(made, NO_TAG, 1);
}

static void make_negative_count(struct made *made)
{
    put_list(made, DIMENSIONS_TAG, UINT64_MAX);
}

static void make_nameless(struct made *made)
{
    put_list(made, DIMENSIONS_TAG, 1);
    put(made, 8, 0);
    put(made, 8, 1);
}

static void make_long_name(struct made *made)
{
    put_list(made, DIMENSIONS_TAG, 1);
    put(made, 8, 257);
    made->size += 400;
}

static void make_many_dimensions(struct made *made)
{
    put_list(made, DIMENSIONS_TAG, 1025);
    made->size += (size_t)1025 * 20;
}

static void make_negative_attribute(struct made *made)
{
    put_list(made, NO_TAG, 0);
    put_list(made, ATTRIBUTES_TAG, 1);
    put_name(made, "a");
    put(made, 4, BYTE);
    put(made, 8, UINT64_MAX);
    put(made, 8, 0);
}

static void make_endless_dimension(struct made *made)
{
    put_dimension(made, 0);
    put_variable(made, 0, DOUBLE, 24);
}

static void make_unknown_dimension(struct made *made)
{
    put_dimension(made, 1);
    put_variable(made, 1, DOUBLE, 24);
}

static void make_negative_dimension(struct made *made)
{
    put_dimension(made, 1);
    put_variable(made, UINT64_MAX, DOUBLE, 24);
}

static void make_unknown_type(struct made *made)
{
    put_dimension(made, 1);
    put_variable(made, 0, 99, 24);
}

static void make_negative_begin(struct made *made)
{
    put_dimension(made, 1);
    put_variable(made, 0, DOUBLE, UINT64_MAX);
}

/* The name's padding lies behind the end of the file. */
static void make_cut_name(struct made *made)
{
    put_list(made, DIMENSIONS_TAG, 1);
    put(made, 8, 9);
    made->size += 9;
}

/* Of two attributes the first one takes the second one's bytes. */
static void make_cut_attribute(struct made *made)
{
    put_list(made, NO_TAG, 0);
    put_list(made, ATTRIBUTES_TAG, 2);
    put_name(made, "a");
    put(made, 4, BYTE);
    put(made, 8, 14);
    put(made, 8, 0);
    put(made, 8, 0);
}

static void make_empty_attribute(struct made *made)
{
    put_list(made, NO_TAG, 0);
    put_list(made, ATTRIBUTES_TAG, 1);
    put_name(made, "a");
    put(made, 4, BYTE);
    put(made, 8, 0);
    put_list(made, NO_TAG, 0);
}

static void make_late_begin(struct made *made)
{
    put_dimension(made, 1);
    put_variable(made, 0, DOUBLE, 1 << 20);
}

static const struct {
    void (*make)(struct made *made);
    const char *why; /* "": it is sound */
} cases[] = {
    {make_sound, ""},
    {make_counted_absent, "is not a normsweep dataset"},
    {make_negative_count, "is not a normsweep dataset"},
    {make_nameless, "is not a normsweep dataset"},
    {make_long_name, "is not a normsweep dataset"},
    {make_many_dimensions, "is not a normsweep dataset"},
    {make_negative_attribute, "is not a normsweep dataset"},
    {make_endless_dimension, "is not a normsweep dataset"},
    {make_unknown_dimension, "is not a normsweep dataset"},
    {make_negative_dimension, "is not a normsweep dataset"},
    {make_unknown_type, "is not a normsweep dataset"},
    {make_negative_begin, "is not a normsweep dataset"},
    {make_cut_name, "is cut short at "},
    {make_cut_attribute, "is cut short at "},
    {make_empty_attribute, ""},
    {make_late_begin, "is cut short at "},
};

IN_BENCH(dataset_header_is_judged_number_by_number, NULL)
{
    static struct made made;
    int64_t bytes;
    bool netcdf4;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bench->error = (struct error){.text = ""};
        begin(&made);
        cases[i].make(&made);
        bench_put(bench, "a.nc", made.bytes, made.size);
        int status = layout_check_file(bench->path, &bytes, &netcdf4, &bench->error);
        if (status != (cases[i].why[0] ? -1 : 0) || !strstr(bench->error.text, cases[i].why))
            test_fail(__FILE__, __LINE__, "case %zu: %d, '%s'", i, status, bench->error.text);
        CHECK(status == 0 || bench->error.status == ERROR_INPUT);
    }
}

/* A netCDF-4 file has no extents, and only its first four bytes are not enough. */
IN_BENCH(dataset_header_of_netcdf4, NULL)
{
    static struct made made;
    int64_t bytes;
    bool netcdf4 = false;

    made.size = 0;
    put(&made, 8, 0x894844460d0a1a0a);
    bench_put(bench, "a.nc", made.bytes, made.size);
    CHECK(layout_check_file(bench->path, &bytes, &netcdf4, &bench->error) == 0 && netcdf4);
    CHECK(layout_extents(bench->path, &bench->error) == NULL);
    CHECK(strstr(bench->error.text, "is not a normsweep dataset"));
    made.size = 0;
    put(&made, 8, 0x894844460d0a1a0b);
    bench_put(bench, "a.nc", made.bytes, made.size);
    CHECK(layout_check_file(bench->path, &bytes, &netcdf4, &bench->error) == -1);
    CHECK(strstr(bench->error.text, "is not a normsweep dataset"));
}

/* A disk that cannot read is not taken for a file that is cut short, nor for another file. */
IN_BENCH(dataset_header_that_cannot_be_read, NULL)
{
    static struct made made;
    int64_t bytes;
    bool netcdf4;

    begin(&made);
    make_sound(&made);
    bench_put(bench, "a.nc", made.bytes, made.size);
    failing_after(3, "fread", EIO);
    failing_next("ferror", EIO);
    CHECK(layout_check_file(bench->path, &bytes, &netcdf4, &bench->error) == -1 && failing_end());
    CHECK(bench->error.status == ERROR_ENVIRONMENT && strstr(bench->error.text, "Input/output error"));
    failing_next("fseeko", EIO);
    CHECK(layout_check_file(bench->path, &bytes, &netcdf4, &bench->error) == -1 && failing_end());
    CHECK(bench->error.status == ERROR_ENVIRONMENT && strstr(bench->error.text, "Input/output error"));
    failing_after(3, "fread", EIO);
    CHECK(layout_check_file(bench->path, &bytes, &netcdf4, &bench->error) == -1 && failing_end());
    CHECK(bench->error.status == ERROR_INPUT && strstr(bench->error.text, "is cut short at"));
}
