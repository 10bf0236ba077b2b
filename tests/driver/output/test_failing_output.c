/* Outputs, their folders and files, where calls fail that any file system may fail. */
#include "tests/failing.h"
#include "tests/test.h"

#include "driver/output/folder.h"
#include "driver/output/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char folder[64], a[96], b[96];
};

static void place_init(struct place *place)
{
    const char *above = getenv("TMPDIR");

    snprintf(place->folder, sizeof(place->folder), "%.40s/output-XXXXXX", above ? above : "/tmp");
    CHECK(mkdtemp(place->folder) != NULL);
    snprintf(place->a, sizeof(place->a), "%s/a.nc", place->folder);
    snprintf(place->b, sizeof(place->b), "%s/b.nc", place->folder);
}

static void place_release(const struct place *place)
{
    unlink(place->a);
    unlink(place->b);
    CHECK(rmdir(place->folder) == 0);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool has_text(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");

    if (!file)
        return false;
    size_t length = fread(found, 1, sizeof(found) - 1, file);
    fclose(file);
    return length == strlen(text) && strcmp(found, text) == 0;
}

/* ---- names ---- */

/* File systems without RENAME_NOREPLACE, or also without links. */
static const struct {
    int rename, link; /* what they fail with; 0: they succeed */
} systems[] = {{0, 0}, {EINVAL, 0}, {ENOSYS, 0}, {EINVAL, EPERM}, {EINVAL, EOPNOTSUPP}, {ENOSYS, ENOSYS}};
enum { SYSTEMS = sizeof(systems) / sizeof(*systems) };

static void fail_as(int system)
{
    if (systems[system].rename)
        failing_next("renameat2", systems[system].rename);
    if (systems[system].link)
        failing_next("link", systems[system].link);
}

TEST(output_gets_its_name_on_any_file_system)
{
    struct place place = {0};

    place_init(&place);
    for (int i = 0; i < SYSTEMS; i++) {
        write_file(place.a, "new");
        fail_as(i);
        CHECK(output_name(place.a, place.b) == 0 && failing_end());
        CHECK(has_text(place.b, "new") && access(place.a, F_OK) != 0);
        unlink(place.b);
    }
    place_release(&place);
}

TEST(output_replaces_nothing_on_any_file_system)
{
    struct place place = {0};

    place_init(&place);
    write_file(place.a, "new");
    write_file(place.b, "somebody else's");
    for (int i = 0; i < SYSTEMS; i++) {
        fail_as(i);
        CHECK(output_name(place.a, place.b) == EEXIST && failing_end());
        CHECK(has_text(place.a, "new") && has_text(place.b, "somebody else's"));
    }
    place_release(&place);
}

TEST(output_says_why_it_gets_no_name)
{
    static const struct {
        int rename, link;
        const char *last; /* the call that fails in the end */
    } cases[] = {{EIO, 0, NULL}, {EINVAL, EIO, NULL}, {EINVAL, EPERM, "lstat"}, {EINVAL, EPERM, "rename"}};
    struct place place = {0};

    place_init(&place);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        write_file(place.a, "new");
        failing_next("renameat2", cases[i].rename);
        if (cases[i].link)
            failing_next("link", cases[i].link);
        if (cases[i].last)
            failing_next(cases[i].last, EIO);
        CHECK(output_name(place.a, place.b) == EIO && failing_end());
        CHECK(has_text(place.a, "new"));
        unlink(place.b);
    }
    failing_next("renameat2", EINVAL);
    failing_next("unlink", EIO);
    CHECK(output_name(place.a, place.b) == 0 && failing_end() && has_text(place.b, "new"));
    place_release(&place);
}

/* ---- paths ---- */

static void check_resolved(const char *path, const char *expected)
{
    char *found = output_resolve(path);

    CHECK_TEXT(found ? found : strerror(errno), expected);
    free(found);
}

TEST(output_is_where_links_lead)
{
    struct place place = {0};
    char folder[128], expected[160], link_[96];

    place_init(&place);
    char *real = realpath(place.folder, NULL);
    snprintf(folder, sizeof(folder), "%s", real ? real : "");
    free(real);
    snprintf(expected, sizeof(expected), "%s/b.nc", folder);
    check_resolved(place.b, expected);
    CHECK(symlink("b.nc", place.a) == 0);
    check_resolved(place.a, expected);
    unlink(place.a);
    CHECK(symlink(place.b, place.a) == 0);
    check_resolved(place.a, expected);
    char *found = output_folder(place.a);
    CHECK_TEXT(found ? found : "", folder);
    free(found);
    snprintf(link_, sizeof(link_), "%s/c.nc", place.folder);
    CHECK(symlink("/no/such/folder/a.nc", link_) == 0);
    check_resolved(link_, "No such file or directory");
    unlink(link_);
    check_resolved("/no/such/folder/a.nc", "No such file or directory");
    unlink(place.a);
    CHECK(symlink("a.nc", place.a) == 0);
    check_resolved(place.a, "Too many levels of symbolic links");
    place_release(&place);
}

/* Links that become a loop only while they are followed. */
TEST(output_follows_no_loop_that_appears)
{
    struct place place = {0};

    place_init(&place);
    CHECK(symlink("b.nc", place.a) == 0 && symlink("a.nc", place.b) == 0);
    failing_next("realpath", ENOENT);
    check_resolved(place.a, "Too many levels of symbolic links");
    CHECK(failing_end());
    place_release(&place);
}

TEST(output_says_why_it_is_nowhere)
{
    struct place place = {0};
    struct stat status;
    bool failed;

    place_init(&place);
    CHECK(symlink("b.nc", place.a) == 0);
    for (int i = 0; i < failing_kind_count; i++, failing_forget())
        do {
            failing_anew(failing_kinds[i].calls, failing_kinds[i].cause);
            char *found = output_resolve(place.a);
            int cause = errno;
            failed = failing_end();
            CHECK(failed ? !found && cause == failing_kinds[i].cause : found != NULL);
            free(found);
            failing_anew(failing_kinds[i].calls, failing_kinds[i].cause);
            char *folder = output_folder(place.a);
            failed = failing_end() || failed;
            CHECK(folder || failed);
            free(folder);
        } while (failed);
    CHECK(lstat(place.a, &status) == 0 && S_ISLNK(status.st_mode));
    place_release(&place);
}

TEST(output_folder_has_a_fault)
{
    struct place place = {0};

    place_init(&place);
    CHECK(output_folder_fault(place.folder) == 0);
    CHECK(output_folder_fault("/no/such/folder") == ENOENT);
    write_file(place.a, "");
    CHECK(output_folder_fault(place.a) == ENOTDIR);
    failing_next("access", EACCES);
    CHECK(output_folder_fault(place.folder) == EACCES && failing_end());
    place_release(&place);
}

TEST(output_that_cannot_be_seen_may_exist)
{
    struct place place = {0};
    char below[128];
    mode_t kind = 0;

    place_init(&place);
    CHECK(output_exists(place.a, &kind) == 0);
    write_file(place.a, "");
    CHECK(output_exists(place.a, &kind) == 1 && S_ISREG(kind));
    snprintf(below, sizeof(below), "%s/b", place.a);
    CHECK(output_exists(below, &kind) == 0);
    failing_next("lstat", ESTALE);
    CHECK(output_exists(place.a, &kind) == -1 && errno == ESTALE && failing_end());
    place_release(&place);
}

/* ---- the folder beside an output ---- */

/* A folder with the files of a run and of a worker, and perhaps one of somebody else. */
static void make_folder(const char *output, const char *suffix, bool foreign)
{
    char path[192];

    snprintf(path, sizeof(path), "%s%s", output, suffix);
    CHECK(mkdir(path, 0777) == 0);
    snprintf(path, sizeof(path), "%s%s/0123456789abcdef0123456789abcdef.weights.nc", output, suffix);
    write_file(path, "weights");
    snprintf(path, sizeof(path), "%s%s/coordinator-000001-000000000001.mark", output, suffix);
    write_file(path, "");
    snprintf(path, sizeof(path), "%s%s/notes", output, suffix);
    if (foreign)
        write_file(path, "mine");
}

static bool exists(const char *output, const char *suffix)
{
    char path[192];

    snprintf(path, sizeof(path), "%s%s", output, suffix);
    return access(path, F_OK) == 0;
}

static void remove_folder(const char *output, const char *suffix)
{
    static const char *const names[] = {
        "0123456789abcdef0123456789abcdef.weights.nc", "notes", "coordinator-000001-000000000001.mark"};
    char path[192];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s%s/%s", output, suffix, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s%s", output, suffix);
    rmdir(path);
}

TEST(folder_is_set_aside)
{
    struct place place = {0};
    struct error error = {.text = ""};

    place_init(&place);
    CHECK(folder_set_aside(place.a, &error) == 0);
    make_folder(place.a, ".d", true);
    make_folder(place.a, ".old.d", false);
    CHECK(folder_set_aside(place.a, &error) == 0);
    CHECK(!exists(place.a, ".d") && exists(place.a, ".old.d/notes"));
    make_folder(place.a, ".d", false);
    CHECK(folder_set_aside(place.a, &error) == -1 && error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(error.text, ".old.d: Directory not empty"));
    CHECK(exists(place.a, ".d") && exists(place.a, ".old.d/notes"));
    remove_folder(place.a, ".d");
    remove_folder(place.a, ".old.d");
    place_release(&place);
}

/* Of states for longer runs only the remains of unfinished saves go. */
TEST(folder_is_cleared)
{
    static const char whole[] =
        ".d/states/0123456789abcdef0123456789abcdef-000007-000000000001-000000000007.nc";
    struct place place = {0};
    struct error error = {.text = ""};
    char path[256], part[264];

    place_init(&place);
    make_folder(place.a, ".d", false);
    snprintf(path, sizeof(path), "%s.d/states", place.a);
    CHECK(mkdir(path, 0777) == 0);
    snprintf(path, sizeof(path), "%s%s", place.a, whole);
    snprintf(part, sizeof(part), "%s.part", path);
    write_file(path, "state");
    write_file(part, "sta");
    CHECK(folder_clear(place.a, &error) == 0);
    CHECK(access(path, F_OK) == 0 && access(part, F_OK) != 0);
    CHECK(!exists(place.a, ".d/coordinator-000001-000000000001.mark"));
    CHECK(unlink(path) == 0);
    snprintf(path, sizeof(path), "%s.d/states", place.a);
    CHECK(rmdir(path) == 0);
    remove_folder(place.a, ".d");
    place_release(&place);
}

TEST(folder_calls_fail)
{
    struct place place = {0};
    struct error error;
    bool failed;

    place_init(&place);
    for (int i = 0; i < failing_kind_count; i++, failing_forget())
        do {
            make_folder(place.a, ".d", false);
            make_folder(place.a, ".old.d", false);
            error.text[0] = '\0';
            failing_anew(failing_kinds[i].calls, failing_kinds[i].cause);
            int cleared = folder_clear(place.a, &error);
            failed = failing_end();
            CHECK(cleared == 0 || (failed && strstr(error.text, "a.nc")));
            CHECK(exists(place.a, ".d/0123456789abcdef0123456789abcdef.weights.nc"));
            error.text[0] = '\0';
            failing_anew(failing_kinds[i].calls, failing_kinds[i].cause);
            int aside = folder_set_aside(place.a, &error);
            failed = failing_end() || failed;
            CHECK(aside == 0 || (failed && strstr(error.text, "a.nc")));
            CHECK(exists(place.a, aside == 0 ? ".old.d" : ".d"));
            remove_folder(place.a, ".d");
            remove_folder(place.a, ".old.d");
        } while (failed);
    place_release(&place);
}
