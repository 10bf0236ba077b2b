#include "tests/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct test *tests;
static const char *current;
static int failures, skipped;
static bool skips;

void test_register(struct test *test)
{
    struct test **end = &tests;

    while (*end && strcmp((*end)->name, test->name) < 0)
        end = &(*end)->next;
    test->next = *end;
    *end = test;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;

    failures++;
    printf("%s:%d: %s: ", file, line, current);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

int test_failures(void)
{
    return failures;
}

void test_skip(const char *why)
{
    skips = true;
    printf("skipped %s: %s\n", current, why);
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const struct test *test = tests; test; test = test->next) {
        if (argc > 1 && !strstr(test->name, argv[1]))
            continue;
        current = test->name;
        failures = 0;
        skips = false;
        test->run();
        if (failures)
            failed++;
        else if (skips)
            skipped++;
        else
            passed++;
    }
    printf("%d passed, %d failed", passed, failed);
    if (skipped)
        printf(", %d skipped", skipped);
    putchar('\n');
    return failed > 0 || passed == 0;
}
