/* Values of options: every option of the table is stored in its own field. */
#include "driver/commands/inside.h"
#include "tests/test.h"

static size_t store_size(enum store_kind kind)
{
    switch (kind) {
    case STORE_FLAG:
        return 0;
    case STORE_TEXT:
        return sizeof(const char *);
    case STORE_TEXTS:
        return sizeof(struct texts);
    case STORE_NUMBER:
    case STORE_TIME:
        return sizeof(int);
    }
    return 0;
}

/* Parses "command --word=1"; false if it is refused. */
static bool parse(struct arguments *arguments, enum option option, const char *value)
{
    const struct command command = {.name = "command", .options = 1u << option};
    static char text[64]; /* the arguments borrow it */
    char name[] = "command";
    char *argv[] = {name, text, NULL};
    struct error error;

    snprintf(text, sizeof(text), "--%s%s", option_table[option].word, value);
    return arguments_parse(arguments, &command, 2, argv, &error) == 0;
}

/* Is the value of the option, "=1", in its field? */
static bool is_stored(const struct arguments *arguments, const struct option_row *row)
{
    const char *place = (const char *)arguments + row->offset;

    switch (row->kind) {
    case STORE_FLAG:
        return true;
    case STORE_TEXT:
        return strcmp(*(const char *const *)place, "1") == 0;
    case STORE_TEXTS:
        return ((const struct texts *)place)->count == 1 &&
               strcmp(((const struct texts *)place)->text[0], "1") == 0;
    case STORE_NUMBER:
    case STORE_TIME:
        return *(const int *)place == 1;
    }
    return false;
}

TEST(arguments_are_stored_where_the_table_says)
{
    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = &option_table[option];
        struct arguments arguments;

        CHECK((row->kind != STORE_FLAG) == (row->value != NULL));
        if (!parse(&arguments, option, row->value ? "=1" : "")) {
            test_fail(__FILE__, __LINE__, "--%s is refused", row->word);
            continue;
        }
        CHECK(arguments.given == 1u << option && is_stored(&arguments, row));
        CHECK((arguments.output != NULL) == (option == OPTION_OUTPUT));
        arguments_release(&arguments);
    }
}

TEST(arguments_share_no_place)
{
    char used[sizeof(struct arguments)] = {0};

    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = &option_table[option];
        for (size_t i = 0; i < store_size(row->kind); i++)
            CHECK(!used[row->offset + i]++);
    }
}

/* -o is the dataset in some commands, a folder in another one, and never both in one. */
TEST(options_of_a_command_have_different_names)
{
    for (const struct command *command = command_table; command->name; command++)
        for (enum option a = 0; a < OPTION_COUNT; a++)
            for (enum option b = 0; b < a; b++) {
                const struct option_row *one = &option_table[a], *other = &option_table[b];
                if (command_takes(command, a) && command_takes(command, b))
                    CHECK(strcmp(one->word, other->word) != 0 &&
                          (!one->letter || one->letter != other->letter));
            }
}

TEST(arguments_of_wrong_numbers)
{
    const struct command command = {.name = "run", .options = OPTION_BIT(JOBS)};
    char name[] = "run", letter[] = "-j1e3", word[] = "--jobs=-1";
    char *wrong[] = {letter, word};
    static const char *const said[] = {
        "normsweep run: -j takes a number of workers and not '1e3'",
        "normsweep run: -j takes a number of workers and not '-1'",
    };

    for (int i = 0; i < 2; i++) {
        char *argv[] = {name, wrong[i], NULL};
        struct arguments arguments;
        struct error error;
        CHECK(arguments_parse(&arguments, &command, 2, argv, &error) < 0);
        CHECK_TEXT(error.text, said[i]);
    }
}
