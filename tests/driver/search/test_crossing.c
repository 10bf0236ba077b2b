/* Searches along lines of every length, with the crossing at every place, steered by guesses of every kind.
 */
#include "driver/search/inside.h"
#include "model/core/random.h"
#include "tests/test.h"

enum { LENGTH_MOST = 80, DRAWS = 20, LONG = 4096 };

enum guess_kind {
    EXACT,
    LOW, /* too low by a part of the place */
    HIGH,
    NOTHING,
    BEGIN,
    END,
    ALTERNATING,
    ANYWHERE,
    ABSURD, /* infinite, NaN, or far outside */
    NEAR_LOW, /* the run after the lower one: the range hardly shrinks */
    NEAR_HIGH,
    WORST, /* steps as short as may be, from the side that is farther from the crossing */
    KINDS,
};

struct crossed {
    int64_t length, place; /* runs from `place` on are on another side than those before */
    enum side side[LONG];
    signed char known[LONG]; /* the side of runs that were trained */
    bool trained[LONG];
    int64_t at_once; /* 0: 1 */
    int64_t waiting[LONG]; /* [waits] the round */
    int64_t waits, runs, rounds;
    enum guess_kind kind;
    uint64_t draws, choices; /* choices: a digest of the runs in the order in which they were trained */
};

static double drawn(struct crossed *line)
{
    return random_uniform(1, RANDOM_TEST, line->draws++);
}

static double guess(void *context, int64_t a, int64_t b)
{
    static const double absurd[] = {NAN, INFINITY, -INFINITY, -1e300, 1e300, -0.5, 79.5, 0};
    struct crossed *line = context;
    double exact = (double)line->place - 0.5, last = (double)line->length - 1;

    CHECK(a >= 0 && b < line->length && a != b);
    if (a < 0)
        return NAN;
    CHECK(line->trained[a] && (b == -1 || line->trained[b]));
    if (line->side[a] == SIDE_DIVERGED) /* it says nothing */
        return NAN;
    switch (line->kind) {
    case EXACT:
        return line->place > 0 ? exact + 0.998 * (drawn(line) - 0.5) : NAN;
    case LOW:
        return 0.7 * exact;
    case HIGH:
        return 1.3 * exact;
    case NOTHING:
    case KINDS:
        return NAN;
    case BEGIN:
        return 0;
    case END:
        return last;
    case ALTERNATING:
        return line->runs % 2 ? 0 : last;
    case ANYWHERE:
        return last * drawn(line);
    case NEAR_LOW:
        return (double)(a < b || b < 0 ? a : b) + 1;
    case NEAR_HIGH:
        return (double)(b > a ? b : line->length) - 1;
    case WORST:
        return b < a || 2 * line->place > a + b ? 0 : (double)b - 1;
    case ABSURD:
        break;
    }
    return absurd[(int)(8 * drawn(line))];
}

static void want(void *context, int64_t run)
{
    struct crossed *line = context;
    bool fits = run >= 0 && run < line->length && !line->trained[run];

    CHECK(fits);
    if (!fits)
        return;
    line->trained[run] = true;
    line->waiting[line->waits++] = run;
    line->choices = (line->choices ^ (uint64_t)run) * 1099511628211u;
}

/* Trains what the search wants. */
static struct crossing search(struct crossed *line)
{
    int64_t at_once = line->at_once > 0 ? line->at_once : 1;
    struct crossing crossing = {
        .length = line->length, .at_once = at_once, .side = line->known, .want = want, .context = line};

    memset(line->trained, 0, (size_t)line->length * sizeof(*line->trained));
    memset(line->known, SIDE_OPEN, (size_t)line->length);
    line->runs = line->rounds = line->waits = 0;
    crossing_begin(&crossing);
    while (line->waits > 0) {
        CHECK(crossing.end == CROSSING_SEARCHES && line->waits <= at_once);
        for (int64_t i = 0; i < line->waits; i++)
            line->known[line->waiting[i]] = (signed char)line->side[line->waiting[i]];
        line->runs += line->waits;
        line->rounds++;
        line->waits = 0;
        crossing_take(&crossing, guess);
    }
    CHECK(crossing.end != CROSSING_SEARCHES);
    return crossing;
}

static void fill(struct crossed *line, enum side before, enum side after)
{
    for (int64_t i = 0; i < line->length; i++)
        line->side[i] = i < line->place ? before : after;
}

static void check_pair(const struct crossed *line, const struct crossing *crossing)
{
    bool crosses = line->place > 0 && line->place < line->length;

    CHECK(crossing->end == (crosses ? CROSSING_FOUND : CROSSING_SAME));
    if (crosses)
        CHECK(crossing->low == line->place - 1 && crossing->high == line->place);
    CHECK(!crosses || (line->trained[line->place - 1] && line->trained[line->place]));
    CHECK(line->trained[0]);
}

static int64_t runs_at_most(int64_t length, enum guess_kind kind)
{
    if (kind == EXACT)
        return 4;
    if (kind == NOTHING) /* both ends, then bisection */
        return 2 + (int64_t)ceil(log2((double)length));
    return (int64_t)fmax(3 * log2((double)length) + 4, 4 * log2((double)length) - 6);
}

TEST(crossing_finds_the_pair_on_every_line_with_any_guess)
{
    for (enum guess_kind kind = EXACT; kind < KINDS; kind++)
        for (int64_t length = 1; length <= LENGTH_MOST; length++)
            for (int64_t place = 0; place <= length; place++)
                for (int draw = 0; draw < (kind == ANYWHERE || kind == ABSURD || kind == EXACT ? DRAWS : 1);
                     draw++) {
                    struct crossed line = {.length = length, .place = place, .kind = kind};
                    line.draws = (uint64_t)(((kind * 100 + length) * 100 + place) * 100 + draw) * 1000;
                    fill(&line, SIDE_ABOVE, SIDE_BELOW);
                    const struct crossing crossing = search(&line);
                    check_pair(&line, &crossing);
                    if (line.runs > runs_at_most(length, kind))
                        test_fail(__FILE__, __LINE__, "guess %d, length %lld, place %lld: %lld runs", kind,
                            (long long)length, (long long)place, (long long)line.runs);
                }
}

TEST(crossing_finds_the_pair_on_a_long_line)
{
    static struct crossed line;

    for (enum guess_kind kind = EXACT; kind < KINDS; kind++)
        for (int64_t place = 0; place <= LONG; place += place % 64 < 3 ? 1 : 61) {
            line.length = LONG;
            line.place = place;
            line.kind = kind;
            fill(&line, SIDE_ABOVE, SIDE_BELOW);
            const struct crossing crossing = search(&line);
            check_pair(&line, &crossing);
            CHECK(line.runs <= runs_at_most(LONG, kind));
        }
}

/* Rounds of several runs; as many as are left, if these are fewer. */
TEST(crossing_of_several_runs_at_once_takes_fewer_rounds)
{
    static const int64_t counts[] = {1, 2, 3, 4, 7, 64};
    int64_t rounds[6][KINDS] = {{0}};

    for (int i = 0; i < 6; i++)
        for (enum guess_kind kind = EXACT; kind < KINDS; kind++)
            for (int64_t length = 1; length <= LENGTH_MOST; length++)
                for (int64_t place = 0; place <= length; place++) {
                    struct crossed line = {.length = length,
                        .place = place,
                        .kind = kind,
                        .at_once = counts[i],
                        .draws = (uint64_t)(length * 100 + place) * 1000};
                    double halvings = log2((double)length);
                    fill(&line, SIDE_ABOVE, SIDE_BELOW);
                    const struct crossing crossing = search(&line);
                    check_pair(&line, &crossing);
                    CHECK(line.rounds <= runs_at_most(length, kind));
                    if (kind == EXACT && i > 0)
                        CHECK(line.rounds <= 2);
                    if (kind == NOTHING)
                        CHECK((double)line.rounds <= 2 + ceil(halvings / log2((double)counts[i] + 1) - 1e-9));
                    rounds[i][kind] += line.rounds;
                }
    for (int i = 1; i < 6; i++)
        for (enum guess_kind kind = EXACT; kind < KINDS; kind++)
            CHECK(rounds[i][kind] < rounds[i - 1][kind]);
}

/* The numbers are those of a search that knows nothing of divergence. */
TEST(crossing_chooses_on_lines_without_divergence_as_if_there_were_none)
{
    uint64_t choices = 1469598103934665603u;
    int64_t runs = 0;

    for (enum guess_kind kind = EXACT; kind < KINDS; kind++)
        for (int64_t length = 1; length <= LENGTH_MOST; length++) {
            for (int64_t place = 0; place <= length; place++) {
                struct crossed line = {.length = length, .place = place, .kind = kind, .choices = choices};
                line.choices = (choices ^ (uint64_t)length) * 1099511628211u;
                fill(&line, SIDE_ABOVE, SIDE_BELOW);
                search(&line);
                choices = line.choices;
                runs += line.runs;
            }
        }
    CHECK(choices == 0x5acbce373d3bb9cdu && runs == 339785);
}

/* ---- divergence ---- */

/* Fills a line with stretches of these lengths; the first one diverges, as does every second. */
static void fill_stretches(struct crossed *line, const int64_t stretch[5])
{
    static const enum side sides[5] = {SIDE_DIVERGED, SIDE_ABOVE, SIDE_DIVERGED, SIDE_BELOW, SIDE_DIVERGED};

    line->length = 0;
    for (int i = 0; i < 5; i++)
        for (int64_t j = 0; j < stretch[i]; j++)
            line->side[line->length++] = sides[i];
    line->place = stretch[0] + stretch[1]; /* what guesses aim at */
}

/* The runs on both sides of the last crossing from above to below, among those that were trained or all; runs
 * that diverged, or were not trained, do not count. False: there is none. */
static bool last_falling(const struct crossed *line, bool all, int64_t pair[2])
{
    int64_t above = -1, last = -1;

    for (int64_t i = 0; i < line->length; i++) {
        if (line->side[i] == SIDE_DIVERGED || !(all || line->trained[i]))
            continue;
        if (line->side[i] == SIDE_BELOW && last >= 0 && line->side[last] == SIDE_ABOVE) {
            above = last;
            pair[0] = last;
            pair[1] = i;
        }
        last = i;
    }
    return above >= 0;
}

/* What a search of this line finds is what the whole line shows; every stretch of divergence that it has to
 * pass costs it a halving. What begins and ends in divergence is taken to have diverged as a whole. */
static void check_stretches(struct crossed *line, const int64_t stretch[5])
{
    int64_t found[2] = {-1, -1}, whole[2] = {-1, -1}, length, passes = 0;

    fill_stretches(line, stretch);
    length = line->length;
    if (length == 0)
        return;
    const struct crossing c = search(line);
    for (int i = 0; i < 5; i += 2)
        passes += stretch[i] > 0;
    CHECK(
        line->runs <= runs_at_most(length, line->kind) + passes * (2 + (int64_t)ceil(log2((double)length))));
    if (line->side[0] == SIDE_DIVERGED && line->side[length - 1] == SIDE_DIVERGED) {
        CHECK(c.end == CROSSING_SAME && line->runs == (length > 1 ? 2 : 1));
        return;
    }
    if (passes > 1) /* what is between them may be missed */
        return;
    CHECK(last_falling(line, false, found) == last_falling(line, true, whole));
    CHECK(found[0] == whole[0] && found[1] == whole[1]);
    if (whole[0] >= 0)
        CHECK(c.end == CROSSING_FOUND && (stretch[4] > 0 || (c.low == whole[0] && c.high == whole[1])));
    else if (line->side[0] != line->side[length - 1])
        CHECK(c.end == CROSSING_FOUND && c.high == c.low + 1 && line->side[c.low] != line->side[c.high]);
    else
        CHECK(c.end == CROSSING_SAME);
}

/* At every length of each stretch: no, all and some runs diverge before growth, between growth and shrinking,
 * and after it. */
TEST(crossing_passes_divergence)
{
    enum { MOST = 6 };
    int64_t stretch[5], lines = 0;

    for (enum guess_kind kind = EXACT; kind < KINDS; kind++)
        for (int i = 0; i < MOST * MOST * MOST * MOST * 3; i++) {
            static const int64_t lengths[MOST] = {0, 1, 2, 3, 7, 20};
            struct crossed line = {.kind = kind, .draws = (uint64_t)i * 1000};
            int rest = i;
            for (int part = 0; part < 4; part++, rest /= MOST)
                stretch[part] = lengths[rest % MOST];
            stretch[4] = lengths[rest];
            check_stretches(&line, stretch);
            lines++;
        }
    CHECK(lines == KINDS * 3888);
}

/* In a column of several falls, which may begin with runs that diverge, the pair is the last one between
 * trained runs. */
TEST(crossing_finds_the_last_fall_between_trained_runs)
{
    int several = 0;

    for (uint64_t seed = 0; seed < 6000; seed++) {
        struct crossed line = {.draws = seed * 1000,
            .kind = (enum guess_kind)(seed % KINDS),
            .at_once = seed < 3000 ? 1 : 2 + (int64_t)seed % 5};
        int64_t pair[2] = {-1, -1}, falls = 0;
        line.length = 2 + (int64_t)(LENGTH_MOST * drawn(&line));
        line.place = (int64_t)((double)line.length * drawn(&line));
        for (int64_t i = 0; i < line.length; i++)
            line.side[i] = i > 0 && drawn(&line) < 0.8 ? line.side[i - 1]
                           : drawn(&line) < 0.5        ? SIDE_ABOVE
                                                       : SIDE_BELOW;
        int64_t begin = (int64_t)((double)(line.length - 1) * fmax(0, drawn(&line) - 0.5));
        for (int64_t i = 0; i < begin; i++)
            line.side[i] = SIDE_DIVERGED;
        line.side[begin] = SIDE_ABOVE;
        line.side[line.length - 1] = SIDE_BELOW;
        const struct crossing c = search(&line);
        CHECK(last_falling(&line, false, pair) && c.end == CROSSING_FOUND);
        CHECK(pair[0] == c.low && pair[1] == c.high && c.high == c.low + 1);
        for (int64_t i = 0; i + 1 < line.length; i++)
            falls += line.side[i] == SIDE_ABOVE && line.side[i + 1] == SIDE_BELOW;
        several += falls > 1;
    }
    CHECK(several > 2000);
}

/* Of several at once, behind runs that diverge, one that rises to the last run of the line. */
TEST(crossing_finds_the_last_change_if_the_line_has_been_trained)
{
    struct crossed line = {.length = 4, .at_once = 4, .kind = NOTHING};
    static const enum side sides[] = {SIDE_DIVERGED, SIDE_ABOVE, SIDE_BELOW, SIDE_ABOVE};

    memcpy(line.side, sides, sizeof(sides));
    const struct crossing c = search(&line);
    CHECK(c.end == CROSSING_FOUND && c.low == 2 && c.high == 3 && line.runs == 4);
}

/* Wherever the failed run is, the search finds the pair without it or ends there. */
TEST(crossing_ends_at_a_run_that_failed)
{
    int lacking = 0, found = 0;

    for (enum guess_kind kind = EXACT; kind < KINDS; kind++)
        for (int64_t failed = 0; failed < 30; failed++)
            for (int64_t place = 0; place <= 30; place++) {
                struct crossed line = {.length = 30, .place = place, .kind = kind};
                fill(&line, SIDE_ABOVE, SIDE_DIVERGED);
                line.side[failed] = SIDE_NONE;
                const struct crossing c = search(&line);
                CHECK((c.end == CROSSING_LACKS) == line.trained[failed]);
                if (c.end == CROSSING_LACKS)
                    CHECK(c.lacking == failed);
                else
                    check_pair(&line, &c);
                lacking += c.end == CROSSING_LACKS;
                found += c.end == CROSSING_FOUND;
            }
    CHECK(lacking > 0 && found > lacking);
}

TEST(crossing_expects_no_more_runs_than_there_are)
{
    for (int64_t at_once = 1; at_once <= 64; at_once++) {
        double before = 0;
        for (int64_t length = 1; length < 1 << 20; length += 1 + length / 3) {
            double expected = crossing_expected(length, at_once);
            CHECK(expected >= 1 && expected <= (double)length && expected >= before);
            CHECK(expected < 16 * (double)at_once && (at_once < 3 || expected < 7 * (double)at_once));
            before = expected;
        }
    }
}
