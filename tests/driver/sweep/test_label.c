/* Labels for people: long ones are cut, between characters. */
#include "driver/sweep/inside.h"
#include "tests/test.h"

TEST(label_is_cut_between_characters)
{
    static const char *const texts[][2] = {
        {"", ""},
        {"plain", "plain"},
        {"gr\xc3\xb6", "gr\xc3\xb6"},
        {"gr\xc3", "gr"},
        {"\xe2\x82\xac", "\xe2\x82\xac"},
        {"a\xe2\x82", "a"},
        {"\xf0\x9f\xa6", ""},
        {"\xf0\x9f\xa6\x9e", "\xf0\x9f\xa6\x9e"},
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char text[16];
        snprintf(text, sizeof(text), "%s", texts[i][0]);
        CHECK_TEXT(label_cut(text), texts[i][1]);
    }
}

TEST(label_of_a_cell_is_whole_characters)
{
    char yaml[1024], label[LABEL_SIZE], name[256] = "";
    struct sweep sweep;
    struct error error;

    for (int i = 0; i < 120; i++)
        strcat(name, "\xc3\xb6");
    for (int lead = 0; lead < 2; lead++) { /* one of the two would end inside a character */
        snprintf(yaml, sizeof(yaml), "corpus: markov\nsteps: 10\ntogether: {model: {%.*s%s: {width: 64}}}\n",
            lead, "x", name);
        if (sweep_parse(&sweep, "a.yaml", "", yaml, strlen(yaml), NULL, 0, &error) != 0) {
            test_fail(__FILE__, __LINE__, "%s", error.text);
            return;
        }
        label_named(sweep.axis_count, sweep.axis, 0, NAMING_WHOLE, label);
        size_t begin = strlen("model=") + (size_t)lead, length = strlen(label);
        CHECK(length >= LABEL_SIZE - 2 && (length - begin) % 2 == 0);
        sweep_release(&sweep);
    }
}

TEST(label_digits_tell_numbers_apart)
{
    static const double steps[] = {0.1, 0.000398107170553, 1}, close[] = {0.12345, 0.1234, 0.5},
                        same[] = {2, 2};
    char text[32];

    CHECK(label_digits(steps, 3) == 3 && label_digits(close, 3) == 4);
    CHECK_TEXT(label_number(steps[1], 3, text, sizeof(text)), "0.000398");
    CHECK_TEXT(label_number(close[0], 4, text, sizeof(text)), "0.1235");
    CHECK_TEXT(label_number(1234567, 3, text, sizeof(text)), "1234567");
    CHECK(label_digits(same, 2) == 15); /* no number of digits helps */
}

TEST(label_gives_way_to_a_narrow_terminal)
{
    static const char yaml[] = "corpus: markov\nsteps: 10\nlearning_rate: [0.1, 0.0123456]\nseed: [1, 2]\n"
                               "weight_decay: [0.5]\ntogether: {model: {gr\xc3\xb6\xc3\x9f"
                               "er: {width: 64}, small: {width: 32}}}\n";
    static const struct {
        int columns;
        const char *label;
    } cases[] = {
        {57, "learning_rate=0.0123 seed=2 weight_decay=0.5 model=gr\xc3\xb6\xc3\x9f"
             "er"},
        {56, "lr=0.0123 seed=2 model=gr\xc3\xb6\xc3\x9f"
             "er"},
        {29, "lr=0.0123 seed=2 model=gr\xc3\xb6\xc3\x9f"
             "er"},
        {28, "0.0123 2 gr\xc3\xb6\xc3\x9f"
             "er"},
        {15, "0.0123 2 gr\xc3\xb6\xc3\x9f"
             "er"},
        {14, "0.0123 2 gr\xc3\xb6\xc3\x9f~"},
        {1, "~"},
        {0, ""},
        {-3, ""},
    };
    char label[LABEL_SIZE];
    struct sweep sweep;
    struct error error;

    if (sweep_parse(&sweep, "a.yaml", "", yaml, strlen(yaml), NULL, 0, &error) != 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        return;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_TEXT(label_fit(sweep.axis_count, sweep.axis, 6, cases[i].columns, label), cases[i].label);
    CHECK_TEXT(label_fit(0, NULL, 0, 80, label), "the run");
    sweep_release(&sweep);
}
