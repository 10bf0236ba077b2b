#ifndef NORMSWEEP_TESTS_TEST_H
#define NORMSWEEP_TESTS_TEST_H

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A test is TEST(name) { CHECK(...); ... } in any tests/test_*.c; it registers itself. The program runs all
 * whose name holds its argument and ends with the line "N passed, N failed". Comparisons are written so that
 * NaN fails. THOROUGH(name, "why") is a test that takes long: --quick, with which `make check` runs, leaves
 * it out. --times prints the CPU seconds of each test, those of its processes included.
 * This header brings what most tests need of libc.
 */
struct test {
    const char *name, *why; /* why it is thorough; NULL: it is not */
    void (*run)(void);
    struct test *next;
};

void test_register(struct test *test);
void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void test_skip(const char *why);

/* Failed checks of the current test so far. */
int test_failures(void);

#define TEST(id) THOROUGH(id, 0)

#define THOROUGH(id, why)                                                                                    \
    static void test_##id(void);                                                                             \
    __attribute__((constructor)) static void register_##id(void)                                             \
    {                                                                                                        \
        static struct test test = {#id, why, test_##id, 0};                                                  \
        test_register(&test);                                                                                \
    }                                                                                                        \
    static void test_##id(void)

/*
 * A test whose body gets a pointer `name` to a `type`: `begin` and `end`, expressions of it, set it up before
 * and release it after the test. A file or header gives it a short name of its own, as IN_LIFE(id).
 */
#define TEST_IN(id, type, name, begin, end)                                                                  \
    static void in_##id(type *name);                                                                         \
    TEST(id)                                                                                                 \
    {                                                                                                        \
        static type fixture;                                                                                 \
        type *name = &fixture;                                                                               \
        begin;                                                                                               \
        in_##id(name);                                                                                       \
        end;                                                                                                 \
    }                                                                                                        \
    static void in_##id(type *name)

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            test_fail(__FILE__, __LINE__, "not true: %s", #condition);                                       \
    } while (0)

/* |a - b| <= tolerance */
#define CHECK_CLOSE(a, b, tolerance)                                                                         \
    do {                                                                                                     \
        double check_a = (a), check_b = (b), check_t = (tolerance);                                          \
        if (!(fabs(check_a - check_b) <= check_t))                                                           \
            test_fail(__FILE__, __LINE__, "%s = %.17g, %s = %.17g, apart by %.3g, above %.3g", #a, check_a,  \
                #b, check_b, fabs(check_a - check_b), check_t);                                              \
    } while (0)

#define CHECK_TEXT(a, b)                                                                                     \
    do {                                                                                                     \
        const char *check_a = (a), *check_b = (b);                                                           \
        if (__builtin_strcmp(check_a, check_b) != 0)                                                         \
            test_fail(__FILE__, __LINE__, "%s is\n    %s\nand not\n    %s", #a, check_a, check_b);           \
    } while (0)

#endif
