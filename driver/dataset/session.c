#include "driver/dataset/inside.h"

#include <netcdf.h>

#include <time.h>

int session_find(const struct view *view, int64_t *session)
{
    size_t start[2] = {0, 0}, count[2] = {1, 1};
    char first = '\0';
    int variable,
        status = lookup_variable(view->file, session_variable_table[SESSION_VARIABLE_start].name, &variable);

    for (*session = 0; status == NC_NOERR && *session < view->sessions; ++*session) {
        start[0] = (size_t)*session;
        status = nc_get_vara_text(view->file, variable, start, count, &first);
        if (first == '\0')
            break;
    }
    return status;
}

int session_write(const struct dataset *dataset, int file, const struct session *session)
{
    char now[STRING_SHORT];
    time_t clock = time(NULL);
    struct tm date;
    const char *text[SESSION_NUMBER_FIRST] = {
#define X(field, ...) [SESSION_VARIABLE_##field] = session->field,
        SESSION_VARIABLES(X)
#undef X
            [SESSION_VARIABLE_start] = now,
    };
    int status = NC_NOERR;

    strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&clock, &date));
    for (int i = 0; status == NC_NOERR && i < SESSION_NUMBER_FIRST; i++) {
        const struct session_variable_row *row = &session_variable_table[i];
        size_t start[2] = {(size_t)dataset->session, 0}, count[2] = {1, (size_t)row->width};
        char field[STRING_LONG];
        int variable;
        dataset_field(field, (size_t)row->width, text[i] ? text[i] : "");
        status = lookup_variable(file, row->name, &variable);
        if (status == NC_NOERR)
            status = nc_put_vara_text(file, variable, start, count, field);
    }
    return status;
}
