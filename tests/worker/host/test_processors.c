/* Who gets which processors. */
#include "tests/test.h"

#include "worker/host/inside.h"

enum { MOST = 16 };

/* Two nodes of two cores with two processors each, numbered as many machines do: nodes alternate, and the
 * second processors of all cores follow the first ones. */
static void make_machine(struct processor machine[8])
{
    for (int number = 0; number < 8; number++)
        machine[number] = (struct processor){number, number % 4, number % 2};
}

/* "0 4 1 5": the numbers of a share. */
static const char *share(struct processor *processor, int count, int index, int workers, int64_t threads)
{
    static char text[4 * MOST];
    int first = 0, mine = processors_share(processor, count, index, workers, threads, &first);
    char *end = text;

    *text = '\0';
    for (int i = first; i < first + mine; i++)
        end += snprintf(
            end, (size_t)(text + sizeof(text) - end), "%s%d", i > first ? " " : "", processor[i].number);
    return text;
}

TEST(processors_one_for_each_thread)
{
    struct processor machine[8];

    make_machine(machine);
    CHECK_TEXT(share(machine, 8, 0, 8, 1), "0");
    CHECK_TEXT(share(machine, 8, 1, 8, 1), "4");
    CHECK_TEXT(share(machine, 8, 7, 8, 1), "7");
    CHECK_TEXT(share(machine, 8, 0, 2, 4), "0 4 2 6"); /* one node */
    CHECK_TEXT(share(machine, 8, 1, 2, 4), "1 5 3 7");
    CHECK_TEXT(share(machine, 8, 0, 1, 8), "0 4 2 6 1 5 3 7");
}

TEST(processors_whole_cores)
{
    struct processor machine[8];

    make_machine(machine);
    CHECK_TEXT(share(machine, 8, 0, 4, 1), "0 4");
    CHECK_TEXT(share(machine, 8, 1, 4, 1), "2 6");
    CHECK_TEXT(share(machine, 8, 3, 4, 1), "3 7");
    CHECK_TEXT(share(machine, 8, 1, 2, 2), "1 5 3 7");
}

TEST(processors_are_left_to_the_system)
{
    struct processor machine[8];

    make_machine(machine);
    CHECK_TEXT(share(machine, 8, 0, 3, 1), ""); /* some are left over */
    CHECK_TEXT(share(machine, 8, 0, 5, 1), "");
    CHECK_TEXT(share(machine, 8, 0, 9, 1), ""); /* too few */
    CHECK_TEXT(share(machine, 8, 8, 8, 1), ""); /* none of the workers */
    CHECK_TEXT(share(machine, 8, -1, 8, 1), "");
    CHECK_TEXT(share(machine, 8, 0, 0, 1), "");
    CHECK_TEXT(share(machine, 8, 0, 8, 0), ""); /* threads differ */
}

/* A part of a machine, as a batch system grants it: one core whole, of another one processor. */
TEST(processors_of_a_part)
{
    struct processor part[] = {{6, 2, 0}, {2, 2, 0}, {1, 1, 1}};

    CHECK_TEXT(share(part, 3, 0, 3, 1), "2");
    CHECK_TEXT(share(part, 3, 2, 3, 1), "1");
    CHECK_TEXT(share(part, 3, 0, 2, 1), "2 6");
    CHECK_TEXT(share(part, 3, 1, 2, 1), "1");
}

TEST(processors_there_are_some)
{
    CHECK(processors_count() >= 1);
}
