#include "tests/test.h"
#include "worker/wire/inside.h"

static struct setup example(void)
{
    static int64_t steps[] = {0, 10, 1000};
    static char folder[] = "out.nc.d", first[] = "a.nc", second[] = "b.nc";
    static struct start_weights files[] = {{.name = 5, .path = first}, {.name = 6, .path = second}};
    struct setup setup = {
        .source = {.kind = CORPUS_TEXT,
            .vocabulary = 7,
            .train_path = "a file.txt",
            .valid_path = NULL,
            .valid_source_path = "b",
            .share = 0.25},
        .corpus = {1, 2},
        .starts = {2, files},
        .threads = 2,
        .folder = folder,
        .host = "n1",
    };

    measure_init(&setup.measure);
    setup.measure.every = 0;
    setup.measure.step_count = 3;
    setup.measure.steps = steps;
    return setup;
}

TEST(setup_arrives_as_it_was_sent)
{
    struct setup sent = example(), got = {0};
    size_t size;
    unsigned char *bytes = setup_encode(&sent, &size);

    int failed = bytes ? setup_decode(&got, bytes, size) : -1;
    free(bytes);
    CHECK(!failed);
    if (failed)
        return;
    CHECK_TEXT(got.source.train_path, "a file.txt");
    CHECK(got.source.valid_path == NULL && got.source.vocabulary == 7 && got.source.share == 0.25);
    CHECK(got.source.train_source_path == NULL);
    CHECK_TEXT(got.source.valid_source_path, "b");
    CHECK_TEXT(got.folder, "out.nc.d");
    CHECK_TEXT(got.host, "n1");
    CHECK(got.starts.count == 2 && got.starts.file[0].name == 5 && got.starts.file[1].name == 6);
    CHECK_TEXT(got.starts.file[1].path, "b.nc");
    CHECK(got.threads == 2 && memcmp(&got.corpus, &sent.corpus, sizeof(got.corpus)) == 0);
    CHECK(got.measure.step_count == 3 && got.measure.steps[2] == 1000);
    setup_release(&got);
}

TEST(setup_cut_short_is_refused)
{
    struct setup sent = example(), got = {0};
    size_t size;
    unsigned char *bytes = setup_encode(&sent, &size);

    for (size_t cut = 0; cut < size; cut++)
        CHECK(setup_decode(&got, bytes, cut) == -1);
    free(bytes);
}

/* As many steps as these take a few bytes only if the multiplication wraps. */
TEST(setup_with_a_wrong_count_is_refused)
{
    static const int64_t counts[] = {-1, 2, 4, INT64_MAX, (INT64_C(1) << 61) + 3};
    struct setup sent = example(), got = {0};

    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        size_t size;
        unsigned char *bytes = setup_encode(&sent, &size);
        CHECK(bytes != NULL);
        if (!bytes)
            return;
        memcpy(bytes + offsetof(struct setup, measure.step_count), &counts[i], sizeof(counts[i]));
        CHECK(setup_decode(&got, bytes, size) == -1);
        free(bytes);
    }
}
