/* Checkpoints that are whole, and yet not what this program writes. */
#include "tests/failing.h"
#include "tests/test.h"
#include "tests/worker/checkpoint/edit.h"
#include "tests/worker/checkpoint/life.h"

#include <sys/stat.h>

/* A life that has saved itself once. */
static void begin(struct life *life, int64_t stop_call, char path[160])
{
    life_init(life);
    life->stop_call = stop_call;
    life_train(life);
    CHECK(life->result.outcome == OUTCOME_PENDING && life->error.text[0] == '\0');
    life_path(life, life->result.last_step, path);
    life->stop_call = 0;
    life->resumes = true;
}

/* ---- other contents under a good seal ---- */

TEST(checkpoint_with_other_contents_is_not_used)
{
    static const struct {
        struct edit edits[EDITS_MOST];
        const char *said;
    } cases[] = {
        {{{NULL, "step", .type = NC_INT, .whole = 3}}, "Not a valid data type"},
        {{{NULL, "step", .type = NC_INT64, .whole = 3, .twice = true}}, "Not a valid data type"},
        {{{NULL, "format_version", .type = NC_INT64, .whole = 1}}, "of another version of this program"},
        {{{NULL, .attribute = "format_version"}}, "Attribute not found"},
        {{{NULL, "digest", .type = NC_INT, .whole = 7}}, "of another run"},
        {{{NULL, "scalar", .type = NC_CHAR}}, "made with scalar ?, here it is "},
        {{{NULL, .attribute = "blas_kernel"}}, "made with BLAS kernel ?, here it is "},
        /* variables of another type, and of another rank, under their names */
        {{{"measured_norm", .renamed = "other"}, {"measured_step", .renamed = "measured_norm"},
             {"other", .renamed = "measured_step"}},
            "Not a valid data type"},
        {{{"kept_layer_square", .renamed = "other"}, {"layer_norm", .renamed = "kept_layer_square"},
             {"other", .renamed = "layer_norm"}},
            "Not a valid data type"},
        {{{"measured_norm", .renamed = "other"}}, "Variable not found"},
        {{{.dimension = "vocabulary", .renamed = "letters"}}, "Invalid dimension size"},
    };
    static struct life life;
    char path[160];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin(&life, 5, path);
        edit_file(path, cases[i].edits);
        life_train(&life);
        if (life.resumed_at != -1 || !strstr(life.said, cases[i].said) ||
            !strstr(life.said, "; the run starts anew"))
            test_fail(__FILE__, __LINE__, "case %zu: resumed at %lld: %s", i, (long long)life.resumed_at,
                life.said);
        CHECK(file_exists(path) && life.result.outcome == OUTCOME_DONE);
        life_release(&life);
    }
}

/* The file has more rows than the run will have. */
TEST(checkpoint_with_more_rows_than_the_run_is_not_used)
{
    static struct life life;
    char path[160];

    begin(&life, 12, path);
    CHECK(life.row_count > 2);
    life.measure.every = 100;
    life.measure.validate_every = VALIDATE_END;
    life_train(&life);
    CHECK(life.resumed_at == -1 && strstr(life.said, "Invalid dimension size; the run starts anew"));
    life_release(&life);
}

/* ---- what else is in the folder ---- */

static void put_empty(const struct life *life, const char *name)
{
    char path[400];

    snprintf(path, sizeof(path), "%s/%s", life->folder, name);
    put_text(path, "");
}

/* Parts and names that are too long are no checkpoints, and many damaged ones are told apart from it. */
TEST(checkpoint_is_found_among_other_files)
{
    static struct life life;
    char path[160], text[CHECKPOINT_NAME_SIZE], name[256];
    struct checkpoint_name newer;
    int lines = 0;

    begin(&life, 5, path);
    memset(name, 'a', 120);
    snprintf(name + 120, sizeof(name) - 120, ".nc");
    put_empty(&life, name);
    snprintf(name + 120, sizeof(name) - 120, ".nc" PART_SUFFIX);
    put_empty(&life, name);
    for (int i = 0; i < 12; i++) {
        newer = (struct checkpoint_name){life.owner.digest, 3, 7, i};
        snprintf(name, sizeof(name), "%s%s", checkpoint_format(&newer, text), i % 2 ? PART_SUFFIX : "");
        put_empty(&life, name);
    }
    life_train(&life);
    CHECK(life.resumed_at > 0 && life.result.outcome == OUTCOME_DONE);
    for (const char *line = life.said; (line = strstr(line, "damaged (checksum); an earlier")); line++)
        lines++;
    CHECK(lines == 6);
    life_release(&life);
}

/* Two sound ones that cannot be used are one line; without memory for it, none. */
TEST(checkpoint_says_once_that_it_cannot_be_used)
{
    static struct life life;
    char path[160], other[160];

    begin(&life, 5, path);
    edit_file(path, (const struct edit[EDITS_MOST]){{NULL, .attribute = "blas_kernel"}});
    life.owner.ticket++;
    life_path(&life, 1, other);
    CHECK(link(path, other) == 0);
    life_train(&life);
    CHECK(life.resumed_at == -1 && strchr(life.said, '\n') && strchr(life.said, '\n')[1] == '\0');
    failing_after(2, "asprintf", ENOMEM); /* after the paths of both files */
    life_train(&life);
    CHECK(failing_end() && !life.said[0]);
    CHECK(life.resumed_at == -1 && life.result.outcome == OUTCOME_DONE);
    life_release(&life);
}

static void cut(void *context)
{
    struct life *life = context;
    const struct checkpoint_name name = {
        life->owner.digest, life->owner.session, life->owner.ticket, life->asked[life->calls - 1]};
    char text[CHECKPOINT_NAME_SIZE], path[200];

    snprintf(path, sizeof(path), "%s/%s" PART_SUFFIX, life->folder, checkpoint_format(&name, text));
    CHECK(truncate(path, 20) == 0);
}

/* A file that was altered before it is sealed is not sealed. */
IN_LIFE(checkpoint_that_is_altered_before_its_seal_is_not_kept)
{
    life->stop_call = 5;
    failing_before(0, "open", cut, life);
    life_train(life);
    CHECK(failing_end() && strstr(life->error.text, ".nc: Input/output error"));
    CHECK(rmdir(life->folder) == 0 && mkdir(life->folder, 0777) == 0);
}
