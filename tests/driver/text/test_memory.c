/* Memory that ends the program, and texts that grow. */
#include "driver/text/text.h"
#include "tests/test.h"

#include <sys/wait.h>

TEST(string_grows)
{
    struct string string = {0};
    char expected[4096] = "";

    CHECK_TEXT(string_text(&string), "");
    for (int i = 0; i < 600; i++) {
        string_format(&string, "%d,", i);
        snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%d,", i);
    }
    string_add(&string, "a\0b", 3);
    CHECK(string.length == strlen(expected) + 3 && memcmp(string.bytes, expected, strlen(expected)) == 0);
    CHECK(memcmp(string.bytes + strlen(expected), "a\0b", 4) == 0);
    char *taken = string_take(&string);
    CHECK(string.length == 0 && !string.bytes && strlen(taken) == strlen(expected) + 1);
    free(taken);
    taken = string_take(&string);
    CHECK_TEXT(taken, "");
    free(taken);
    string_release(&string);
}

TEST(memory_is_there)
{
    char *zero = memory_zero(3, 2), *none = memory_new(0, 8), *copy = memory_copy_part("abc", 2);
    char *text = memory_format("%s-%d", copy, 7), *streamed;
    size_t size;
    FILE *stream = memory_stream(&streamed, &size);

    fputs("streamed", stream);
    memory_stream_close(stream, &text);
    CHECK(memcmp(zero, "\0\0\0\0\0\0", 6) == 0 && none != NULL);
    CHECK_TEXT(text, "ab-7");
    CHECK_TEXT(streamed, "streamed");
    free(zero);
    free(none);
    free(copy);
    free(text);
    free(streamed);
}

/* Also where the size overflows. */
TEST(memory_that_is_not_there_ends_the_program)
{
    for (int i = 0; i < 2; i++) {
        volatile size_t count = i ? SIZE_MAX / 4 : PTRDIFF_MAX, size = i ? 8 : 1;
        char said[16384] = "", *end = said;
        const char *line = "normsweep: no memory\n";
        int ends[2], status = -1;
        CHECK(pipe(ends) == 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            dup2(ends[1], STDERR_FILENO);
            free(memory_new(count, size));
            _exit(0);
        }
        close(ends[1]);
        for (ssize_t got; (got = read(ends[0], end, sizeof(said) - 1 - (size_t)(end - said))) > 0;)
            end += got;
        close(ends[0]);
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_ENVIRONMENT);
#ifdef __SANITIZE_ADDRESS__
        CHECK((size_t)(end - said) >= strlen(line));
        CHECK_TEXT(end - strlen(line), line);
#else
        CHECK_TEXT(said, line);
#endif
    }
}
