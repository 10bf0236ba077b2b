#include "tests/test.h"

#include <stdarg.h>
#include <sys/resource.h>

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

/* CPU seconds of this process and of its children that have ended. */
static double used(void)
{
    double seconds = 0;

    for (int i = 0; i < 2; i++) {
        struct rusage usage;
        getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage);
        seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    return seconds;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    bool quick = false, thorough = false, times = false;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
        bool *option = strcmp(argv[1], "--quick") == 0      ? &quick
                       : strcmp(argv[1], "--thorough") == 0 ? &thorough
                       : strcmp(argv[1], "--times") == 0    ? &times
                                                            : NULL;
        if (!option) {
            fprintf(stderr, "%s: --quick, --thorough or --times\n", argv[1]);
            return 2;
        }
        *option = true;
    }
    for (const struct test *test = tests; test; test = test->next) {
        if (argc > 1 && !strstr(test->name, argv[1]))
            continue;
        if (test->why ? quick : thorough)
            continue;
        double begun = used();
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
        if (times)
            printf("%.2f s %s\n", used() - begun, test->name);
    }
    printf("%d passed, %d failed", passed, failed);
    if (skipped)
        printf(", %d skipped", skipped);
    putchar('\n');
    return failed > 0 || (passed + skipped == 0 && !quick && !thorough);
}
