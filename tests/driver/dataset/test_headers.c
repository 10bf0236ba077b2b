/* Headers that no program writes, byte by byte: they are refused before the netCDF library trusts them. */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#include "driver/dataset/form/form.h"

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

/* The header that ends here is judged: `why` is told of it; "": it is sound. */
static void judge(
    struct bench *bench, const struct made *made, const char *table, size_t row, const char *why)
{
    struct extent *extent = NULL;
    int64_t bytes;

    bench->error = (struct error){.text = ""};
    bench_put(bench, "a.nc", made->bytes, made->size);
    int status = layout_check_file(bench->path, &bytes, &extent, &bench->error);
    if (status != (why[0] ? -1 : 0) || !strstr(bench->error.text, why))
        test_fail(__FILE__, __LINE__, "%s, row %zu: %d, '%s'", table, row, status, bench->error.text);
    CHECK(status == 0 ? extent != NULL : !extent && bench->error.status == ERROR_INPUT);
    free(extent);
}

#define FOREIGN "is not a normsweep dataset"
#define CUT "is cut short at "

IN_BENCH(dataset_header_has_lists, NULL)
{
    static const struct {
        int tag, numbers;
        uint64_t count, number[2]; /* of the first name's letters, and what comes then */
        size_t more; /* bytes */
        const char *why;
    } lists[] = {
        {NO_TAG, 0, 1, {0}, 0, FOREIGN}, /* an absent list that counts */
        {DIMENSIONS_TAG, 0, UINT64_MAX, {0}, 0, FOREIGN}, /* a negative count */
        {DIMENSIONS_TAG, 2, 1, {0, 1}, 0, FOREIGN}, /* no name */
        {DIMENSIONS_TAG, 1, 1, {257}, 400, FOREIGN}, /* a long name */
        {DIMENSIONS_TAG, 0, 1025, {0}, (size_t)1025 * 20, FOREIGN}, /* too many dimensions */
        {DIMENSIONS_TAG, 1, 1, {9}, 9, CUT}, /* before the padding of a name */
    };
    static struct made made;

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        begin(&made);
        put_list(&made, lists[i].tag, lists[i].count);
        for (int j = 0; j < lists[i].numbers; j++)
            put(&made, 8, lists[i].number[j]);
        made.size += lists[i].more;
        judge(bench, &made, "lists", i, lists[i].why);
    }
}

IN_BENCH(dataset_header_has_attributes, NULL)
{
    static const struct {
        uint64_t count, bytes; /* of attributes, and of the first one's value */
        size_t more;
        const char *why;
    } attributes[] = {
        {1, UINT64_MAX, 8, FOREIGN},
        {2, 14, 16, CUT}, /* the first takes the second one's bytes */
        {1, 0, 12, ""},
    };
    static struct made made;

    for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
        begin(&made);
        put_list(&made, NO_TAG, 0);
        put_list(&made, ATTRIBUTES_TAG, attributes[i].count);
        put_name(&made, "a");
        put(&made, 4, BYTE);
        put(&made, 8, attributes[i].bytes);
        made.size += attributes[i].more;
        judge(bench, &made, "attributes", i, attributes[i].why);
    }
}

/* A variable over one dimension. */
struct over_one {
    uint64_t length, dimension, type, begin;
    const char *why;
};

static const struct over_one sound = {1, 0, DOUBLE, 24, ""};

static void make_variable(struct made *made, const struct over_one *variable)
{
    begin(made);
    put_list(made, DIMENSIONS_TAG, 1);
    put_name(made, "x");
    put(made, 8, variable->length);
    put_list(made, NO_TAG, 0);
    put_list(made, VARIABLES_TAG, 1);
    put_name(made, "v");
    put(made, 8, 1);
    put(made, 8, variable->dimension);
    put_list(made, NO_TAG, 0);
    put(made, 4, variable->type);
    put(made, 8, 8);
    put(made, 8, variable->begin);
    made->size += 16; /* its values */
}

IN_BENCH(dataset_header_has_variables, NULL)
{
    const struct over_one variables[] = {
        sound,
        {0, 0, DOUBLE, 24, FOREIGN}, /* an endless dimension */
        {1, 1, DOUBLE, 24, FOREIGN}, /* an unknown one, and a negative one */
        {1, UINT64_MAX, DOUBLE, 24, FOREIGN},
        {1, 0, 99, 24, FOREIGN},
        {1, 0, DOUBLE, UINT64_MAX, FOREIGN},
        {1, 0, DOUBLE, 1 << 20, CUT},
    };
    static struct made made;

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        make_variable(&made, &variables[i]);
        judge(bench, &made, "variables", i, variables[i].why);
    }
}

/* A netCDF-4 file has no extents, and only its first four bytes are not enough. */
IN_BENCH(dataset_header_of_netcdf4, NULL)
{
    static struct made made;
    struct extent *extent;
    int64_t bytes;

    made.size = 0;
    put(&made, 8, 0x894844460d0a1a0a);
    bench_put(bench, "a.nc", made.bytes, made.size);
    CHECK(layout_check_file(bench->path, &bytes, &extent, &bench->error) == 0 && !extent && bytes == 8);
    made.size = 0;
    put(&made, 8, 0x894844460d0a1a0b);
    bench_put(bench, "a.nc", made.bytes, made.size);
    CHECK(layout_check_file(bench->path, &bytes, &extent, &bench->error) == -1);
    CHECK(strstr(bench->error.text, "is not a normsweep dataset"));
}

/* A disk that cannot read is not taken for a file that is cut short, nor for another file. */
IN_BENCH(dataset_header_that_cannot_be_read, NULL)
{
    static struct made made;
    struct extent *extent;
    int64_t bytes;

    make_variable(&made, &sound);
    bench_put(bench, "a.nc", made.bytes, made.size);
    failing_after(3, "fread", EIO);
    failing_next("ferror", EIO);
    CHECK(layout_check_file(bench->path, &bytes, &extent, &bench->error) == -1 && failing_end());
    CHECK(bench->error.status == ERROR_ENVIRONMENT && strstr(bench->error.text, "Input/output error"));
    failing_next("fseeko", EIO);
    CHECK(layout_check_file(bench->path, &bytes, &extent, &bench->error) == -1 && failing_end());
    CHECK(bench->error.status == ERROR_ENVIRONMENT && strstr(bench->error.text, "Input/output error"));
    failing_after(3, "fread", EIO);
    CHECK(layout_check_file(bench->path, &bytes, &extent, &bench->error) == -1 && failing_end());
    CHECK(bench->error.status == ERROR_INPUT && strstr(bench->error.text, "is cut short at"));
}
