/* The built-in corpora. */
#include "tests/test.h"

#include "model/corpora/inside.h"

/* What was loaded last, or why it was not. */
static struct corpus corpus;
static enum corpus_fault fault;
static struct error error;

static void load(const struct corpus_source *source)
{
    if (corpus_load(&corpus, source, &fault, &error) != 0)
        test_fail(__FILE__, __LINE__, "%s", error.text);
}

/* Every row and every column of the joint distribution has its Zipf weight, exactly; rows are in order. */
static void check_marginals(const struct markov *markov)
{
    uint64_t *column = calloc((size_t)markov->words, sizeof(*column));

    for (int64_t from = 0; from < markov->words; from++) {
        uint64_t before = 0;
        for (int64_t i = markov->row[from]; i < markov->row[from + 1]; i++) {
            CHECK(markov->mass[i] > before);
            CHECK(i == markov->row[from] || markov->next[i] > markov->next[i - 1]);
            column[markov->next[i]] += markov->mass[i] - before;
            before = markov->mass[i];
        }
        CHECK(before == MARKOV_COUPLINGS * markov->weight[from]);
    }
    for (int64_t word = 0; word < markov->words; word++)
        CHECK(column[word] == MARKOV_COUPLINGS * markov->weight[word]);
    free(column);
}

static int descending(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first < second) - (first > second);
}

/* The weights are in proportion 1, 1/2, 1/3, ...; words other than the end of a line in that order. */
static void check_zipf(const struct markov *markov)
{
    uint64_t *sorted = malloc((size_t)markov->words * sizeof(*sorted)), total = 0;

    memcpy(sorted, markov->weight, (size_t)markov->words * sizeof(*sorted));
    for (int64_t i = 1; i < markov->words - 1; i++)
        CHECK(sorted[i] < sorted[i - 1]);
    qsort(sorted, (size_t)markov->words, sizeof(*sorted), descending);
    for (int64_t i = 0; i < markov->words; i++) {
        total += sorted[i];
        CHECK_CLOSE((double)sorted[i] * (double)(i + 1) / (double)sorted[0], 1, 1e-10);
    }
    CHECK(total == markov->total);
    free(sorted);
}

/* Words that one can come to from `word`, itself among them. */
static int64_t reachable(const struct markov *markov, int32_t word)
{
    int32_t *stack = malloc((size_t)markov->words * sizeof(*stack));
    char *seen = calloc((size_t)markov->words, 1);
    int64_t count = 1, height = 1;

    stack[0] = word;
    seen[word] = 1;
    while (height > 0) {
        int32_t from = stack[--height];
        for (int64_t i = markov->row[from]; i < markov->row[from + 1]; i++) {
            int32_t to = markov->next[i];
            if (!seen[to]) {
                seen[to] = 1;
                stack[height++] = to;
                count++;
            }
        }
    }
    free(stack);
    free(seen);
    return count;
}

TEST(markov_chain)
{
    static const int64_t vocabularies[] = {2, 3, 4, 7, 64, 129, 512, 5000};

    for (size_t v = 0; v < sizeof(vocabularies) / sizeof(vocabularies[0]); v++) {
        for (int64_t seed = 0; seed < 20; seed++) {
            struct markov markov;
            if (seed > 1 && vocabularies[v] > 500)
                continue;
            CHECK(markov_init(&markov, vocabularies[v], seed, &error) == 0);
            check_marginals(&markov);
            check_zipf(&markov);
            for (int32_t word = 0; word < markov.words && word < 8; word++)
                CHECK(reachable(&markov, word) == markov.words);
            double line = (double)markov.total / (double)markov.weight[markov.words - 1];
            CHECK(vocabularies[v] < 64 || (line >= 24 && line <= 36));
            CHECK(markov.row[markov.words] < 2 * MARKOV_COUPLINGS * markov.words);
            markov_release(&markov);
        }
    }
}

TEST(markov_entropy_is_below_that_of_its_frequencies)
{
    for (int64_t words = 64; words <= 512; words *= 2) {
        struct corpus_source source = {.kind = CORPUS_MARKOV, .vocabulary = words, .tokens = 1};
        struct markov markov;
        double unigram = 0;
        CHECK(markov_init(&markov, words, 0, &error) == 0);
        for (int64_t i = 0; i < words; i++) {
            double frequency = (double)markov.weight[i] / (double)markov.total;
            unigram -= frequency * log(frequency);
        }
        markov_release(&markov);
        CHECK(corpus_entropy_rate(&source) > 1);
        CHECK(corpus_entropy_rate(&source) < unigram - 1);
    }
}

/* Two words, one coupling of them crossed, gives the chain in the head: checks the closed form. */
TEST(markov_entropy_by_hand)
{
    uint64_t weight[] = {2, 1}, mass[] = {5, 8, 3, 4};
    int64_t row[] = {0, 2, 4};
    int32_t next[] = {0, 1, 0, 1};
    struct markov markov = {.words = 2, .weight = weight, .total = 3, .row = row, .next = next, .mass = mass};
    double rate = -(5 * log(5. / 8) + 3 * log(3. / 8) + 3 * log(3. / 4) + log(1. / 4)) / 12;

    CHECK_CLOSE(markov_entropy_rate(&markov), rate, 1e-14);
    CHECK_CLOSE(markov_loss(&markov, 0, 1), -log(3. / 8), 1e-14);
    CHECK_CLOSE(markov_loss(&markov, 1, 1), -log(1. / 4), 1e-14);
}

/* Mean of the source's loss and its standard error, from blocks of a thousand tokens: they depend little on
 * each other. */
static double mean_loss(const double *loss, int64_t count, double *standard_error)
{
    const int64_t block = 1000, blocks = count / block;
    double sum = 0, squares = 0;

    for (int64_t b = 0; b < blocks; b++) {
        double mean = 0;
        for (int64_t i = 0; i < block; i++)
            mean += loss[b * block + i] / (double)block;
        sum += mean;
        squares += mean * mean;
    }
    double mean = sum / (double)blocks;
    *standard_error = sqrt((squares / (double)blocks - mean * mean) / (double)(blocks - 1));
    return mean;
}

static void check_source_loss(const struct corpus_source *source, const struct text *text)
{
    double *loss = calloc((size_t)text->token_count, sizeof(*loss)), standard_error;

    CHECK(corpus_source_loss(source, text, loss) == 0);
    double mean = mean_loss(loss + 1, text->token_count - 1, &standard_error);
    CHECK_CLOSE(mean, corpus_entropy_rate(source), 4 * standard_error);
    CHECK(standard_error > 0 && standard_error < 0.01);
    free(loss);
}

TEST(markov_loss_meets_the_entropy_rate)
{
    for (int64_t words = 8; words <= 512; words *= 4) {
        struct corpus_source source = {
            .kind = CORPUS_MARKOV, .vocabulary = words, .tokens = 200000, .seed = words};
        load(&source);
        check_source_loss(&source, &corpus.train);
        check_source_loss(&source, &corpus.valid);
        corpus_release(&corpus);
    }
}

TEST(markov_frequencies)
{
    struct corpus_source source = {.kind = CORPUS_MARKOV, .vocabulary = 129, .tokens = 500000, .seed = 5};
    struct markov markov;
    double count[129] = {0}, chi_square = 0;

    load(&source);
    CHECK(markov_init(&markov, 129, 5, &error) == 0);
    for (int64_t i = 0; i < corpus.train.token_count; i++)
        count[corpus.train.tokens[i]]++;
    for (int64_t word = 0; word < 129; word++) {
        double expected = 500000. * (double)markov.weight[word] / (double)markov.total;
        chi_square += (count[word] - expected) * (count[word] - expected) / expected;
    }
    CHECK(chi_square < 2 * 128); /* successive words depend on each other: wider than the law's own 3 sigma */
    markov_release(&markov);
    corpus_release(&corpus);
}

/* loss[i] is of the transition i-1 -> i, and a transition that cannot be is infinitely unlikely. */
TEST(markov_source_loss_refuses)
{
    struct corpus_source source = {.kind = CORPUS_MARKOV, .vocabulary = 512, .tokens = 1};
    struct corpus_source dyck = {.kind = CORPUS_DYCK, .vocabulary = 5, .tokens = 1};
    struct corpus_source unsound = {.kind = CORPUS_MARKOV, .vocabulary = 1, .tokens = 1};
    int32_t all[512], outside[] = {0, 512};
    double loss[512];

    for (int32_t i = 0; i < 512; i++)
        all[i] = i;
    CHECK(corpus_source_loss(&source, &(struct text){.token_count = 512, .tokens = all}, loss) == 0);
    int64_t infinite = 0;
    for (int64_t i = 1; i < 512; i++)
        infinite += isinf(loss[i]) && loss[i] > 0;
    CHECK(infinite > 256);
    CHECK(corpus_source_loss(&source, &(struct text){.token_count = 2, .tokens = outside}, loss) == -1);
    CHECK(corpus_source_loss(&dyck, &(struct text){.token_count = 2, .tokens = all}, loss) == -1);
    CHECK(isnan(corpus_entropy_rate(&dyck)) && isnan(corpus_entropy_rate(&unsound)));
}

/* Equal sources give equal corpora; every parameter matters, and validation is not training. */
TEST(sources_are_functions_of_their_parameters)
{
    static const enum corpus_kind kinds[] = {CORPUS_MARKOV, CORPUS_DYCK, CORPUS_COUNTER};

    for (size_t k = 0; k < 3; k++) {
        struct corpus_source source = {.kind = kinds[k], .vocabulary = 65, .tokens = 40000, .seed = 3};
        struct corpus_source other = {.kind = kinds[k], .vocabulary = 65, .tokens = 40000, .seed = 4};
        struct corpus first, again;
        load(&source);
        first = corpus;
        load(&source);
        again = corpus;
        load(&other);
        CHECK(first.train.token_count == 40000 && first.valid.token_count == 32768);
        CHECK(first.vocabulary == (kinds[k] == CORPUS_COUNTER ? 4 : 65));
        CHECK(first.end_of_line == first.vocabulary - 1);
        CHECK(memcmp(first.train.tokens, again.train.tokens, 40000 * sizeof(int32_t)) == 0);
        CHECK(memcmp(first.valid.tokens, again.valid.tokens, 32768 * sizeof(int32_t)) == 0);
        CHECK(memcmp(&first.digest, &again.digest, sizeof(first.digest)) == 0);
        CHECK(memcmp(first.train.tokens, first.valid.tokens, 32768 * sizeof(int32_t)) != 0);
        CHECK(memcmp(first.train.tokens, corpus.train.tokens, 40000 * sizeof(int32_t)) != 0);
        CHECK(memcmp(&first.digest, &corpus.digest, sizeof(first.digest)) != 0);
        corpus_release(&first);
        corpus_release(&again);
        corpus_release(&corpus);
    }
}

TEST(sources_size_of_validation)
{
    struct corpus_source source = {.kind = CORPUS_COUNTER, .tokens = 500000};

    load(&source);
    CHECK(corpus.valid.token_count == 50000);
    corpus_release(&corpus);
    source.tokens = 1;
    load(&source);
    CHECK(corpus.train.token_count == 1 && corpus.train.line_count == 0);
    CHECK(corpus.valid.token_count == 32768);
    corpus_release(&corpus);
}

/* Every line is well nested, not empty, at most DYCK_DEPTH deep; all depths and kinds occur. */
TEST(dyck_is_well_nested)
{
    const int64_t kinds = 3;
    struct corpus_source source = {.kind = CORPUS_DYCK, .vocabulary = 7, .tokens = 100000, .seed = 1};
    int64_t of_word[7] = {0}, deepest = 0;

    load(&source);
    for (int64_t l = 0; l < corpus.train.line_count; l++) {
        int64_t stack[DYCK_DEPTH + 1], depth = 0;
        struct line line = corpus.train.line[l];
        for (int64_t i = line.first; i < line.first + line.words && depth <= DYCK_DEPTH; i++) {
            int32_t word = corpus.train.tokens[i];
            of_word[word]++;
            if (word < kinds)
                stack[depth++] = word;
            else
                CHECK(depth > 0 && word - kinds == stack[--depth]);
            deepest = depth > deepest ? depth : deepest;
        }
        CHECK(depth == 0);
        CHECK(line.first == (l ? corpus.train.line[l - 1].first + corpus.train.line[l - 1].words + 1 : 0));
    }
    CHECK(deepest == DYCK_DEPTH);
    for (int64_t word = 0; word < 2 * kinds; word++)
        CHECK(of_word[word] > 14000 && of_word[word] < 18000);
    CHECK(of_word[6] == 0);
    CHECK(corpus.train.line_count > 2500 && corpus.train.line_count < 3600);
    corpus_release(&corpus);
}

TEST(counter_counts)
{
    struct corpus_source source = {.kind = CORPUS_COUNTER, .tokens = 20000, .seed = 1};
    int64_t of_n[COUNTER_MOST + 1] = {0};

    load(&source);
    for (int64_t l = 0; l < corpus.train.line_count; l++) {
        struct line line = corpus.train.line[l];
        int64_t n = line.words / 3;
        CHECK(line.words % 3 == 0 && n >= 1 && n <= COUNTER_MOST);
        if (n <= COUNTER_MOST)
            of_n[n]++;
        for (int64_t i = 0; i < line.words; i++)
            CHECK(corpus.train.tokens[line.first + i] == i / n);
        CHECK(line.first == (l ? corpus.train.line[l - 1].first + corpus.train.line[l - 1].words + 1 : 0));
    }
    for (int64_t n = 1; n <= COUNTER_MOST; n++)
        CHECK(of_n[n] > 20);
    corpus_release(&corpus);
}

static void check_refused(
    enum corpus_kind kind, int64_t vocabulary, int64_t tokens, enum error_status status, const char *expected)
{
    struct corpus_source source = {.kind = kind, .vocabulary = vocabulary, .tokens = tokens};

    fault = CORPUS_FAULT_VALID;
    CHECK(corpus_load(&corpus, &source, &fault, &error) == -1);
    CHECK(fault == CORPUS_FAULT_SOURCE && error.status == status);
    CHECK_TEXT(error.text, expected);
    CHECK(corpus.train.tokens == NULL && corpus.valid.tokens == NULL);
}

TEST(sources_refuse)
{
    check_refused(CORPUS_MARKOV, 1, 10, ERROR_INPUT, "vocabulary: 1 is below 2, the least for markov");
    check_refused(CORPUS_MARKOV, INT64_MIN, 10, ERROR_INPUT,
        "vocabulary: -9223372036854775808 is below 2, the least for markov");
    check_refused(CORPUS_DYCK, 2, 10, ERROR_INPUT, "vocabulary: 2 is below 3, the least for dyck");
    check_refused(CORPUS_DYCK, 8, 10, ERROR_INPUT,
        "vocabulary: 8 is even; dyck has two words for each kind of bracket and one for the end of a line");
    check_refused(
        CORPUS_MARKOV, INT64_MAX, 10, ERROR_INPUT, "vocabulary: 9223372036854775807 is above 2147483647");
    check_refused(CORPUS_COUNTER, 4, 0, ERROR_INPUT, "corpus_tokens: 0 is below 1");
    check_refused(CORPUS_DYCK, 5, -7, ERROR_INPUT, "corpus_tokens: -7 is below 1");
    check_refused(CORPUS_DYCK, 5, INT64_MAX, ERROR_ENVIRONMENT,
        "corpus_tokens: no memory for 9223372036854775807 times 4 bytes");
}

TEST(dyck_with_the_largest_vocabulary)
{
    struct corpus_source source = {.kind = CORPUS_DYCK, .vocabulary = INT32_MAX, .tokens = 1000};

    load(&source);
    CHECK(corpus.end_of_line == INT32_MAX - 1);
    for (int64_t i = 0; i < 1000; i++)
        CHECK(corpus.train.tokens[i] >= 0 && corpus.train.tokens[i] < INT32_MAX);
    corpus_release(&corpus);
}
