/* JSON that is written, compared with the text that it must be. */
#include "driver/text/text.h"
#include "tests/test.h"

#include <float.h>

/* The text of one value. The caller frees it. */
static char *written(const char *text, double value)
{
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);

    if (!out)
        return NULL;
    struct json_writer writer = {.out = out};
    if (text)
        json_writer_text(&writer, NULL, text);
    else
        json_writer_real(&writer, NULL, value);
    fclose(out);
    return made;
}

static void check_text(const char *text, const char *expected)
{
    char *made = written(text, 0);

    CHECK_TEXT(made ? made : "no memory", expected);
    free(made);
}

static void check_real(double value, const char *expected)
{
    char *made = written(NULL, value);

    CHECK_TEXT(made ? made : "no memory", expected);
    free(made);
}

TEST(json_texts_are_escaped)
{
    check_text("", "\"\"");
    check_text("a \"b\" \\ / \xc3\xa4 \xf0\x9f\x98\x80", "\"a \\\"b\\\" \\\\ / \xc3\xa4 \xf0\x9f\x98\x80\"");
    check_text("\n\t\x01\x1f\x7f", "\"\\u000a\\u0009\\u0001\\u001f\\u007f\"");
    check_text("\xc2\x9b\xe2\x80\xae.c", "\"\\u009b\\u202e.c\"");
    check_text("\xff\xc3", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    check_text("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* half of a surrogate pair */
}

TEST(json_numbers_have_a_point_and_no_digit_too_many)
{
    check_real(0.1, "0.1");
    check_real(1, "1.0");
    check_real(-0.0, "-0.0");
    check_real(1e300, "1e+300");
    check_real(0.1 + 0.2, "0.30000000000000004");
    check_real(NAN, "null");
    check_real(INFINITY, "null");
    check_real(-INFINITY, "null");
}

/* A generator of any bits. */
static double next_bits(unsigned long long *state)
{
    double value;

    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    unsigned long long bits = *state ^ (*state >> 29);
    memcpy(&value, &bits, sizeof(value));
    return value;
}

TEST(json_numbers_come_back_to_the_bit)
{
    static const double edges[] = {DBL_MAX, DBL_MIN, 4.9e-324, DBL_EPSILON, 1.0 / 3, 9007199254740993.0};
    unsigned long long state = 1;

    for (int i = 0; i < 100000; i++) {
        double value = i < 6 ? edges[i] : next_bits(&state), back;
        if (!isfinite(value))
            continue;
        char *made = written(NULL, value);
        back = made ? strtod(made, NULL) : NAN;
        CHECK(memcmp(&back, &value, sizeof(value)) == 0);
        free(made);
    }
}

TEST(json_objects_have_commas_where_they_belong)
{
    char *made = NULL;
    size_t size;
    struct json_writer writer = {.out = open_memstream(&made, &size)};

    json_writer_open(&writer, NULL, '{');
    json_writer_text(&writer, "a\"", NULL);
    json_writer_open(&writer, "list", '[');
    json_writer_close(&writer, ']');
    json_writer_open(&writer, "more", '[');
    json_writer_whole(&writer, NULL, -5);
    json_writer_truth(&writer, NULL, true);
    json_writer_open(&writer, NULL, '{');
    json_writer_null(&writer, "b");
    json_writer_close(&writer, '}');
    json_writer_close(&writer, ']');
    json_writer_truth(&writer, "c", false);
    json_writer_real(&writer, "d", 2.5);
    json_writer_close(&writer, '}');
    fclose(writer.out);
    CHECK_TEXT(made,
        "{\"a\\\"\": null, \"list\": [], \"more\": [-5, true, {\"b\": null}], \"c\": false, \"d\": 2.5}");
    free(made);
}
