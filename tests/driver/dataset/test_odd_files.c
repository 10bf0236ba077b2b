/* Files that hold something else than a dataset of this program does, made with the netCDF library. */
#include "tests/driver/dataset/bench.h"
#include "tests/failing.h"

#include "driver/dataset/form/form.h"
#include "driver/dataset/read/read.h"

#include <netcdf.h>

static void right(int status)
{
    if (status != NC_NOERR)
        test_fail(__FILE__, __LINE__, "%s", nc_strerror(status));
}

/* ---- small files, built from nothing ---- */

static int put_dimension(int file, const char *name, size_t length)
{
    int id = -1;

    right(nc_def_dim(file, name, length, &id));
    return id;
}

static int put_variable(int file, const char *name, nc_type type, int count, const int *dimensions)
{
    int id = -1;

    right(nc_def_var(file, name, type, count, dimensions, &id));
    return id;
}

enum { CLASSIC = NC_64BIT_DATA, COPY = NC_NETCDF4 };

static void build_file(const struct bench *bench, int kind, void (*build)(int file))
{
    int file = -1;

    right(nc_create(bench->path, NC_CLOBBER | kind, &file));
    build(file);
    right(nc_close(file));
}

/* ---- attributes of netCDF-4 ---- */

static void put_string(int file, const char *name, const char *text)
{
    right(nc_put_att_string(file, NC_GLOBAL, name, 1, &text));
}

static void build_strings(int file)
{
    const char *two[2] = {"a", "b"};

    put_string(file, "source", "normsweep");
    put_string(file, "title", "a title");
    put_string(file, "empty", "");
    put_string(file, "null", NULL);
    right(nc_put_att_text(file, NC_GLOBAL, "letters", 9, "abcdefghi"));
    right(nc_put_att_string(file, NC_GLOBAL, "two", 2, two));
}

/* A view of a file that is no dataset, as far as it can be read. */
static void open_bare(const struct bench *bench, struct view *view)
{
    *view = (struct view){.file = -1, .most = 1000};
    right(nc_open(bench->path, NC_NOWRITE, &view->file));
}

IN_BENCH(dataset_texts_may_be_strings, NULL)
{
    struct view view;

    build_file(bench, COPY, build_strings);
    CHECK(view_check(bench->path, &bench->error) == 0);
    open_bare(bench, &view);
    int cause = 0;
    char *title = view_text(&view, "title", &cause), *empty = view_text(&view, "empty", &cause);
    CHECK_TEXT(title ? title : "", "a title");
    CHECK(empty && empty[0] == '\0');
    char *null = view_text(&view, "null", &cause);
    CHECK(!null || !null[0]);
    CHECK(!view_text(&view, "two", &cause) && !view_text(&view, "none", &cause) && cause == 0);
    free(title);
    free(empty);
    free(null);
    failing_next("nc_get_att_string", EIO);
    CHECK(!view_text(&view, "title", &cause) && cause == EIO && failing_end());
    failing_next("strdup", ENOMEM);
    CHECK(!view_text(&view, "title", &cause) && cause == ENOMEM && failing_end());
    view.most = 8;
    cause = 0;
    CHECK(!view_text(&view, "letters", &cause) && cause == 0); /* longer than the file can be */
    view_close(&view);
}

/* ---- variables ---- */

static void put_meanings(int file, int variable, const char *text)
{
    right(nc_put_att_text(file, variable, "flag_meanings", strlen(text), text));
}

static void build_flags(int file)
{
    char long_text[400];
    const int number = 7;

    put_meanings(file, put_variable(file, "few", NC_BYTE, 0, NULL), " one  two ");
    put_meanings(file, put_variable(file, "many", NC_BYTE, 0, NULL), "a b c d e f g h i j k");
    put_meanings(file, put_variable(file, "wide", NC_BYTE, 0, NULL), "a a_word_of_twenty_four_let b");
    memset(long_text, 'x', sizeof(long_text));
    long_text[sizeof(long_text) - 1] = '\0';
    put_meanings(file, put_variable(file, "long", NC_BYTE, 0, NULL), long_text);
    int odd = put_variable(file, "odd", NC_BYTE, 0, NULL);
    right(nc_put_att_int(file, odd, "flag_meanings", NC_INT, 1, &number));
    put_variable(file, "none", NC_BYTE, 0, NULL);
}

IN_BENCH(dataset_flags_are_few_and_short, NULL)
{
    static const struct {
        const char *name;
        int count;
    } cases[] = {{"few", 2}, {"many", 0}, {"wide", 0}, {"long", 0}, {"odd", 0}, {"none", 0}};
    struct view view;

    build_file(bench, CLASSIC, build_flags);
    open_bare(bench, &view);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct view_variable variable;
        struct view_flags flags;
        CHECK(view_find(&view, cases[i].name, &variable));
        view_flags(&view, &variable, &flags);
        if (flags.count != cases[i].count)
            test_fail(__FILE__, __LINE__, "%s: %d", cases[i].name, flags.count);
    }
    view_close(&view);
}

static void build_shapes(int file)
{
    int dimension[VIEW_DIMENSIONS_MAX + 1];
    char name[16];

    for (int i = 0; i <= VIEW_DIMENSIONS_MAX; i++) {
        snprintf(name, sizeof(name), "x%d", i);
        dimension[i] = put_dimension(file, name, i == 0 ? 40 : 1);
    }
    put_variable(file, "text", NC_CHAR, 1, dimension);
    put_variable(file, "texts", NC_CHAR, 2, (const int[]){dimension[1], dimension[0]});
    put_variable(file, "letter", NC_CHAR, 0, NULL);
    put_variable(file, "large", NC_DOUBLE, 2, (const int[]){dimension[0], dimension[0]});
    put_variable(file, "high", NC_BYTE, VIEW_DIMENSIONS_MAX + 1, dimension);
    put_variable(file, "high_text", NC_CHAR, VIEW_DIMENSIONS_MAX + 1, dimension);
    put_variable(file, "plain", NC_DOUBLE, 1, dimension);
}

/* What has too many dimensions or values, or none of a text, is not there. */
IN_BENCH(dataset_variables_of_other_shapes_are_none, NULL)
{
    struct view view;
    struct view_variable variable;

    build_file(bench, CLASSIC, build_shapes);
    open_bare(bench, &view);
    CHECK(view_find(&view, "plain", &variable) && variable.size == 40);
    CHECK(!view_find(&view, "text", &variable) && !view_find(&view, "none", &variable));
    CHECK(!view_find(&view, "large", &variable) && !view_find(&view, "high", &variable));
    CHECK(view_is_text(&view, "text") && !view_is_text(&view, "plain") && !view_is_text(&view, "none"));
    char *text = view_string(&view, "texts", 0, NULL);
    CHECK(text != NULL);
    free(text);
    CHECK(!view_string(&view, "texts", 1, NULL)); /* out of range */
    CHECK(!view_string(&view, "letter", 0, NULL) && !view_string(&view, "high_text", 0, NULL));
    CHECK(!view_string(&view, "large", 0, NULL) && !view_string(&view, "none", 0, NULL));
    view.most = 30;
    CHECK(!view_string(&view, "texts", 0, NULL)); /* wider than the file is long */
    view_close(&view);
}
