/* Checkpoints that are whole, and yet not what this program writes. */
#include "tests/failing.h"
#include "tests/test.h"
#include "tests/worker/checkpoint/life.h"

#include <netcdf.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/checkpoint/inside.h"

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

/* The attribute as a number of another type, or as several. */
static void alter_step(int file)
{
    const int step = 3;
    CHECK(nc_put_att_int(file, NC_GLOBAL, "step", NC_INT, 1, &step) == NC_NOERR);
}

static void alter_steps(int file)
{
    const long long step[2] = {3, 4};
    CHECK(nc_put_att_longlong(file, NC_GLOBAL, "step", NC_INT64, 2, step) == NC_NOERR);
}

static void alter_version(int file)
{
    const long long version = 1;
    CHECK(nc_put_att_longlong(file, NC_GLOBAL, "format_version", NC_INT64, 1, &version) == NC_NOERR);
}

static void remove_version(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "format_version") == NC_NOERR);
}

static void alter_digest(int file)
{
    const int digest = 7;
    CHECK(nc_put_att_int(file, NC_GLOBAL, "digest", NC_INT, 1, &digest) == NC_NOERR);
}

static void lengthen_scalar(int file)
{
    char text[300];
    memset(text, 'x', sizeof(text));
    CHECK(nc_put_att_text(file, NC_GLOBAL, "scalar", sizeof(text), text) == NC_NOERR);
}

static void remove_kernel(int file)
{
    CHECK(nc_del_att(file, NC_GLOBAL, "blas_kernel") == NC_NOERR);
}

/* A variable of the other's type under its name. */
static void rename_variable(int file, const char *from, const char *to)
{
    int id;
    CHECK(nc_inq_varid(file, from, &id) == NC_NOERR && nc_rename_var(file, id, to) == NC_NOERR);
}

static void swap_types(int file)
{
    rename_variable(file, "measured_norm", "other");
    rename_variable(file, "measured_step", "measured_norm");
    rename_variable(file, "other", "measured_step");
}

static void swap_ranks(int file)
{
    rename_variable(file, "kept_layer_square", "other");
    rename_variable(file, "layer_norm", "kept_layer_square");
    rename_variable(file, "other", "layer_norm");
}

static void remove_variable(int file)
{
    rename_variable(file, "measured_norm", "other");
}

static void rename_dimension(int file)
{
    int id;
    CHECK(nc_inq_dimid(file, "vocabulary", &id) == NC_NOERR);
    CHECK(nc_rename_dim(file, id, "letters") == NC_NOERR);
}

TEST(checkpoint_with_other_contents_is_not_used)
{
    static const struct {
        void (*alter)(int file);
        const char *said;
    } cases[] = {
        {alter_step, "Not a valid data type"},
        {alter_steps, "Not a valid data type"},
        {alter_version, "of another version of this program"},
        {remove_version, "Attribute not found"},
        {alter_digest, "of another run"},
        {lengthen_scalar, "made with scalar ?, here it is "},
        {remove_kernel, "made with BLAS kernel ?, here it is "},
        {swap_types, "Not a valid data type"},
        {swap_ranks, "Not a valid data type"},
        {remove_variable, "Variable not found"},
        {rename_dimension, "Invalid dimension size"},
    };
    static struct life life;
    char path[160];
    int file;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin(&life, 5, path);
        CHECK(nc_open(path, NC_WRITE, &file) == NC_NOERR && nc_redef(file) == NC_NOERR);
        cases[i].alter(file);
        CHECK(nc_close(file) == NC_NOERR && seal_put(path, NULL) == 0);
        life_train(&life);
        if (life.resumed_at != -1 || !strstr(life.said, cases[i].said) ||
            !strstr(life.said, "; the run starts anew"))
            test_fail(__FILE__, __LINE__, "case %zu: resumed at %lld: %s", i, (long long)life.resumed_at,
                life.said);
        CHECK(access(path, F_OK) == 0 && life.result.outcome == OUTCOME_DONE);
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
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    CHECK(file >= 0);
    close(file);
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
    int file;

    begin(&life, 5, path);
    CHECK(nc_open(path, NC_WRITE, &file) == NC_NOERR && nc_redef(file) == NC_NOERR);
    remove_kernel(file);
    CHECK(nc_close(file) == NC_NOERR && seal_put(path, NULL) == 0);
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
TEST(checkpoint_that_is_altered_before_its_seal_is_not_kept)
{
    static struct life life;

    life_init(&life);
    life.stop_call = 5;
    failing_before(0, "open", cut, &life);
    life_train(&life);
    CHECK(failing_end() && strstr(life.error.text, ".nc: Input/output error"));
    CHECK(rmdir(life.folder) == 0 && mkdir(life.folder, 0777) == 0);
    life_release(&life);
}
