/*
 * Attributes of a file that is being defined: those of the whole dataset follow from the sweep and its
 * corpus. A start compares some of them with its own (see read/verify.c and extend/mapping.c), so they hold
 * values with defaults filled in and not the words of the sweep file.
 */
#include "driver/dataset/form/inside.h"
#include "driver/sweep/sweep.h"
#include "driver/tables/tables.h"
#include "model/core/scalar.h"

#include <netcdf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void definition_keep(struct definition *definition, int status)
{
    if (definition->status == NC_NOERR)
        definition->status = status;
}

void definition_text(struct definition *definition, int variable, const char *name, const char *text)
{
    if (!text)
        definition_keep(definition, NC_ENOMEM);
    if (definition->status == NC_NOERR && text[0])
        definition_keep(definition, nc_put_att_text(definition->file, variable, name, strlen(text), text));
}

void definition_integer(
    struct definition *definition, int variable, const char *name, nc_type type, int64_t value)
{
    long long number = value;

    if (definition->status == NC_NOERR)
        definition_keep(definition, nc_put_att_longlong(definition->file, variable, name, type, 1, &number));
}

void definition_real(
    struct definition *definition, int variable, const char *name, nc_type type, double value)
{
    if (definition->status == NC_NOERR)
        definition_keep(definition, nc_put_att_double(definition->file, variable, name, type, 1, &value));
}

/* A parameter that is not an axis is an attribute. */
static void put_param(struct definition *definition, const struct param *param, const struct run *base)
{
    union param_value value = param_get(param, base);

    switch (param->kind) {
    case PARAM_REAL:
        definition_real(definition, NC_GLOBAL, param->name, NC_DOUBLE, value.real);
        break;
    case PARAM_WORD:
        definition_text(definition, NC_GLOBAL, param->name, param->words[value.integer]);
        break;
    case PARAM_INTEGER:
    case PARAM_BOOLEAN:
        definition_integer(
            definition, NC_GLOBAL, param->name, variable_param_type(param->kind), value.integer);
        break;
    }
}

static void put_digest(struct definition *definition, const char *name, const struct digest *digest)
{
    char text[DIGEST_TEXT];

    digest_format(digest, text);
    definition_text(definition, NC_GLOBAL, name, text);
}

void definition_history(struct definition *definition, const char *before)
{
    bool extended = before && before[0];
    char date[32], *text = NULL;
    time_t now = time(NULL);
    struct tm utc;

    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    if (asprintf(&text, "%s %s by " PROGRAM " %s%s%s", date, extended ? "extended" : "created",
            version_number, extended ? "\n" : "", extended ? before : "") < 0)
        text = NULL;
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_HISTORY, text);
    free(text);
}

/* How one measures, as far as it is measured. */
static void put_options(struct definition *definition, const struct measure *measure)
{
    for (enum measure_option i = 0; i < MEASURE_OPTION_COUNT; i = measure_option_end(i)) {
        const struct measure_option_row *row = &measure_option_table[i];
        if (!measure->group[row->group])
            continue;
        char *text = measure_option_text(measure, i);
        definition_text(definition, NC_GLOBAL, row->key, text);
        free(text);
    }
}

void definition_globals(struct definition *definition, const struct layout *layout)
{
    const struct sweep *sweep = layout->sweep;
    const char *made = sweep->title && sweep->title[0] ? sweep->title : PROGRAM;
    char *measure = layout_measure_text(&sweep->measure), *refine = layout_refine_text(sweep);
    struct digest digest;

    definition_text(definition, NC_GLOBAL, ATTRIBUTE_CONVENTIONS, DATASET_CONVENTIONS);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_TITLE, layout->title ? layout->title : made);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_SWEEP_TITLE, sweep->title ? sweep->title : "");
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_SWEEP_NOTES, sweep->notes ? sweep->notes : "");
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_SOURCE, PROGRAM);
    definition_history(definition, layout->history);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_REFERENCES, DATASET_REFERENCES);
    definition_integer(definition, NC_GLOBAL, ATTRIBUTE_FORMAT, NC_INT, FORMAT_VERSION);
    sweep_digest(layout->sweep, layout->corpus, &digest);
    put_digest(definition, ATTRIBUTE_CONFIGURATION, &digest);
    put_digest(definition, ATTRIBUTE_DATA, &layout->corpus->digest);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_PRECISION, SCALAR_TYPE);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_MEASURE, measure);
    put_options(definition, &sweep->measure);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_REFINE, refine);
    for (size_t i = 0; i < param_count; i++)
        if (!axis_find(sweep->axis_count, sweep->axis, &param_table[i]))
            put_param(definition, &param_table[i], &sweep->base);
    definition_text(definition, NC_GLOBAL, ATTRIBUTE_SWEEP, sweep->text ? sweep->text : "");
    free(measure);
    free(refine);
}
