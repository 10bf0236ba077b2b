/* Outputs, their folders and files, where calls fail that any file system may fail. */
#include "tests/driver/output/place.h"
#include "tests/failing.h"

#include "driver/output/output.h"

#include <sys/stat.h>

static bool has_text(const char *path, const char *text)
{
    size_t size;
    char *found = get_bytes(path, &size);
    bool same = found && strcmp(found, text) == 0;

    free(found);
    return same;
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

IN_PLACE(output_gets_its_name_on_any_file_system)
{
    for (int i = 0; i < SYSTEMS; i++) {
        put_text(place->output, "new");
        fail_as(i);
        CHECK(output_name(place->output, place->other) == 0 && failing_end());
        CHECK(has_text(place->other, "new") && access(place->output, F_OK) != 0);
        unlink(place->other);
    }
}

IN_PLACE(output_replaces_nothing_on_any_file_system)
{
    put_text(place->output, "new");
    put_text(place->other, "somebody else's");
    for (int i = 0; i < SYSTEMS; i++) {
        fail_as(i);
        CHECK(output_name(place->output, place->other) == EEXIST && failing_end());
        CHECK(has_text(place->output, "new") && has_text(place->other, "somebody else's"));
    }
}

IN_PLACE(output_says_why_it_gets_no_name)
{
    static const struct {
        int rename, link;
        const char *last; /* the call that fails in the end */
    } cases[] = {{EIO, 0, NULL}, {EINVAL, EIO, NULL}, {EINVAL, EPERM, "lstat"}, {EINVAL, EPERM, "rename"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        put_text(place->output, "new");
        failing_next("renameat2", cases[i].rename);
        if (cases[i].link)
            failing_next("link", cases[i].link);
        if (cases[i].last)
            failing_next(cases[i].last, EIO);
        CHECK(output_name(place->output, place->other) == EIO && failing_end());
        CHECK(has_text(place->output, "new"));
        unlink(place->other);
    }
    failing_next("renameat2", EINVAL);
    failing_next("unlink", EIO);
    CHECK(output_name(place->output, place->other) == 0 && failing_end() && has_text(place->other, "new"));
}

/* ---- paths ---- */

static void check_resolved(const char *path, const char *expected)
{
    char *found;
    int cause = output_resolve(path, &found);

    CHECK_TEXT(found ? found : strerror(cause), expected);
    free(found);
}

IN_PLACE(output_is_where_links_lead)
{
    char folder[128], expected[160], link_[96];

    char *real = realpath(place->folder, NULL);
    snprintf(folder, sizeof(folder), "%s", real ? real : "");
    free(real);
    snprintf(expected, sizeof(expected), "%s/b.nc", folder);
    check_resolved(place->other, expected);
    CHECK(symlink("b.nc", place->output) == 0);
    check_resolved(place->output, expected);
    unlink(place->output);
    CHECK(symlink(place->other, place->output) == 0);
    check_resolved(place->output, expected);
    char *found = output_folder(place->output);
    CHECK_TEXT(found ? found : "", folder);
    free(found);
    snprintf(link_, sizeof(link_), "%s/c.nc", place->folder);
    CHECK(symlink("/no/such/folder/a.nc", link_) == 0);
    check_resolved(link_, "No such file or directory");
    unlink(link_);
    check_resolved("/no/such/folder/a.nc", "No such file or directory");
    unlink(place->output);
    CHECK(symlink("a.nc", place->output) == 0);
    check_resolved(place->output, "Too many levels of symbolic links");
}

/* Links that become a loop only while they are followed. */
IN_PLACE(output_follows_no_loop_that_appears)
{
    CHECK(symlink("b.nc", place->output) == 0 && symlink("a.nc", place->other) == 0);
    failing_next("realpath", ENOENT);
    check_resolved(place->output, "Too many levels of symbolic links");
    CHECK(failing_end());
}

IN_PLACE(output_says_why_it_is_nowhere)
{
    struct stat status;

    CHECK(symlink("b.nc", place->output) == 0);
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        failing_anew(kind->calls, kind->cause);
        char *found;
        int cause = output_resolve(place->output, &found);
        bool failed = failing_end();
        CHECK(failed ? !found && cause == kind->cause : found != NULL);
        free(found);
        failing_anew(kind->calls, kind->cause);
        char *folder = output_folder(place->output);
        CHECK(failing_end() || failed || folder);
        free(folder);
    }
    CHECK(lstat(place->output, &status) == 0 && S_ISLNK(status.st_mode));
}

IN_PLACE(output_folder_has_a_fault)
{
    CHECK(output_folder_fault(place->folder) == 0);
    CHECK(output_folder_fault("/no/such/folder") == ENOENT);
    put_text(place->output, "");
    CHECK(output_folder_fault(place->output) == ENOTDIR);
    failing_next("access", EACCES);
    CHECK(output_folder_fault(place->folder) == EACCES && failing_end());
}

IN_PLACE(output_that_cannot_be_seen_may_exist)
{
    char below[128];
    mode_t kind = 0;

    CHECK(output_kind(place->output, &kind) == 0 && kind == 0);
    put_text(place->output, "");
    CHECK(output_kind(place->output, &kind) == 0 && S_ISREG(kind));
    snprintf(below, sizeof(below), "%s/b", place->output);
    CHECK(output_kind(below, &kind) == 0 && kind == 0);
    failing_next("lstat", ESTALE);
    CHECK(output_kind(place->output, &kind) == ESTALE && failing_end());
}

/* ---- the folder beside an output ---- */

/* A folder with the files of a run and of a worker, and perhaps one of somebody else. */
static void make_folder(const char *output, const char *suffix, bool foreign)
{
    char path[192];

    snprintf(path, sizeof(path), "%s%s", output, suffix);
    CHECK(mkdir(path, 0777) == 0);
    snprintf(path, sizeof(path), "%s%s/0123456789abcdef0123456789abcdef.weights.nc", output, suffix);
    put_text(path, "weights");
    snprintf(path, sizeof(path), "%s%s/coordinator-000001-000000000001.mark", output, suffix);
    put_text(path, "");
    snprintf(path, sizeof(path), "%s%s/notes", output, suffix);
    if (foreign)
        put_text(path, "mine");
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

IN_PLACE(folder_is_set_aside)
{
    CHECK(folder_set_aside(place->output, &place->error) == 0);
    make_folder(place->output, ".d", true);
    make_folder(place->output, ".old.d", false);
    CHECK(folder_set_aside(place->output, &place->error) == 0);
    CHECK(!exists(place->output, ".d") && exists(place->output, ".old.d/notes"));
    make_folder(place->output, ".d", false);
    CHECK(folder_set_aside(place->output, &place->error) == -1 && place->error.status == ERROR_ENVIRONMENT);
    CHECK(strstr(place->error.text, ".old.d: Directory not empty"));
    CHECK(exists(place->output, ".d") && exists(place->output, ".old.d/notes"));
    remove_folder(place->output, ".d");
    remove_folder(place->output, ".old.d");
}

/* Of states for longer runs only the remains of unfinished saves go. */
IN_PLACE(folder_is_cleared)
{
    static const char whole[] =
        ".d/states/0123456789abcdef0123456789abcdef-000007-000000000001-000000000007.nc";
    char path[256], part[264];

    make_folder(place->output, ".d", false);
    snprintf(path, sizeof(path), "%s.d/states", place->output);
    CHECK(mkdir(path, 0777) == 0);
    snprintf(path, sizeof(path), "%s%s", place->output, whole);
    snprintf(part, sizeof(part), "%s.part", path);
    put_text(path, "state");
    put_text(part, "sta");
    CHECK(folder_clear(place->output, false, &place->error) == 0);
    CHECK(access(path, F_OK) == 0 && access(part, F_OK) != 0);
    CHECK(!exists(place->output, ".d/coordinator-000001-000000000001.mark"));
    CHECK(unlink(path) == 0);
    snprintf(path, sizeof(path), "%s.d/states", place->output);
    CHECK(rmdir(path) == 0);
    remove_folder(place->output, ".d");
}

IN_PLACE(folder_calls_fail)
{
    for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);) {
        make_folder(place->output, ".d", false);
        make_folder(place->output, ".old.d", false);
        place->error.text[0] = '\0';
        failing_anew(kind->calls, kind->cause);
        int cleared = folder_clear(place->output, false, &place->error);
        bool failed = failing_end();
        CHECK(cleared == 0 || (failed && strstr(place->error.text, "a.nc")));
        CHECK(exists(place->output, ".d/0123456789abcdef0123456789abcdef.weights.nc"));
        place->error.text[0] = '\0';
        failing_anew(kind->calls, kind->cause);
        int aside = folder_set_aside(place->output, &place->error);
        failed = failing_end() || failed;
        CHECK(aside == 0 || (failed && strstr(place->error.text, "a.nc")));
        CHECK(exists(place->output, aside == 0 ? ".old.d" : ".d"));
        remove_folder(place->output, ".d");
        remove_folder(place->output, ".old.d");
    }
}
