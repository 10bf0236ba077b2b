/*
 * `together`: axes whose values are labels, each of which sets several parameters.
 *
 * The first label says which parameters the axis moves; the others set the same ones, and no two the same
 * values.
 */
#include "driver/sweep/inside.h"
#include "driver/tables/tables.h"
#include "driver/text/text.h"

#include <stdlib.h>
#include <string.h>

/* Letters, digits and underscores, starting with a letter: a name that netCDF, xarray and Python all accept.
 */
static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t length = strspn(text, letters);

    return length > 0 && length <= TOGETHER_NAME_LONGEST && !text[length] && text[0] != '_' &&
           !(text[0] >= '0' && text[0] <= '9');
}

/* xarray's ds.sel(method="a") would silently select nothing along an axis named "method". */
static bool is_argument_of_sel(const char *name)
{
    static const char *const arguments[] = {"indexers", "method", "tolerance", "drop", "missing_dims"};

    for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++)
        if (strcmp(name, arguments[i]) == 0)
            return true;
    return false;
}

static int check_name(struct reader *reader, const struct node *key)
{
    char excerpt[EXCERPT_SIZE];
    const char *name = key->text;

    place_excerpt(name, excerpt);
    if (!is_name(name))
        return reader_fault(reader, key->position,
            "together: '%s' is not a name: use at most %d letters, digits and underscores, a letter first",
            excerpt, TOGETHER_NAME_LONGEST);
    if (param_find(name) || key_find(name) < KEY_COUNT)
        return reader_fault(reader, key->position, "together: axis '%s' has the name of a key", excerpt);
    if (dataset_reserves(name))
        return reader_fault(reader, key->position,
            "together: axis '%s' has the name of a variable or dimension of the dataset", excerpt);
    if (is_argument_of_sel(name))
        return reader_fault(reader, key->position,
            "together: axis '%s' has the name of an argument of xarray's sel, which could not select along "
            "it",
            excerpt);
    return 0;
}

static int check_label(struct reader *reader, const char *axis, const struct node *key)
{
    char excerpt[EXCERPT_SIZE];

    place_excerpt(key->text, excerpt);
    if (!key->text[0])
        return reader_fault(reader, key->position, "%s: an empty label", axis);
    if (strlen(key->text) > TOGETHER_LABEL_LONGEST)
        return reader_fault(reader, key->position, "%s: label '%s' is longer than %d bytes", axis, excerpt,
            TOGETHER_LABEL_LONGEST);
    for (const unsigned char *byte = (const unsigned char *)key->text; *byte; byte++)
        if (*byte < 0x20 || *byte == 0x7f)
            return reader_fault(
                reader, key->position, "%s: a control character in label '%s'", axis, excerpt);
    return 0;
}

static int check_body(struct reader *reader, const char *name, const struct node *body)
{
    if (body->kind != NODE_MAP)
        return reader_fault(reader, body->position, "%s: takes {key: value, ...}", name);
    if (body->count == 0)
        return reader_fault(reader, body->position, "%s: empty", name);
    return 0;
}

/* The parameter of a key inside a label; NULL with the error set. */
static const struct param *find_param(struct reader *reader, const struct node *key)
{
    const struct param *param = param_find(key->text);

    if (param && param->axis)
        return param;
    if (param || key_find(key->text) < KEY_COUNT)
        reader_fault(
            reader, key->position, "%s: has one value in a sweep and cannot be part of together", key->text);
    else
        reader_unknown(reader, key);
    return NULL;
}

/* The first label determines the parameters of the axis. */
static int claim_params(struct reader *reader, struct axis *axis, const struct node *first)
{
    for (int64_t i = 0; i < first->count; i++) {
        axis->param[i] = find_param(reader, &first->key[i]);
        if (!axis->param[i] || reader_claim(reader, axis->param[i], first->child[i].position, true) < 0)
            return -1;
    }
    return 0;
}

/* Refuses a label that sets fewer keys than the first one. */
static int check_missing(
    struct reader *reader, const struct axis *axis, const struct node *key, const struct node *body)
{
    char here[EXCERPT_SIZE], first[EXCERPT_SIZE];

    for (int64_t p = 0; p < axis->param_count; p++) {
        int64_t i = 0;
        while (i < body->count && strcmp(body->key[i].text, axis->param[p]->name) != 0)
            i++;
        if (i == body->count)
            return reader_fault(reader, key->position, "%s: '%s' does not set %s, which '%s' sets",
                axis->name, place_excerpt(key->text, here), axis->param[p]->name,
                place_excerpt(axis->label[0], first));
    }
    return 0;
}

/* Reads what label number `index` sets. */
static int read_label(
    struct reader *reader, struct axis *axis, int64_t index, const struct node *key, const struct node *body)
{
    char here[EXCERPT_SIZE], first[EXCERPT_SIZE];

    for (int64_t i = 0; i < body->count; i++) {
        int64_t p = axis_row(axis, param_find(body->key[i].text));
        if (p < 0 && !find_param(reader, &body->key[i]))
            return -1;
        if (p < 0)
            return reader_fault(reader, body->key[i].position, "%s: '%s' sets %s, which '%s' does not",
                axis->name, place_excerpt(key->text, here), body->key[i].text,
                place_excerpt(axis->label[0], first));
        int64_t slot = p * axis->length + index;
        if (value_param(reader, axis->param[p], &body->child[i], &axis->value[slot]) < 0)
            return -1;
        axis->written[slot] = body->child[i].position;
    }
    return check_missing(reader, axis, key, body);
}

/* Orders two labels, given by their indices, by the values that they set. */
static int compare_values(const struct axis *axis, int64_t a, int64_t b)
{
    int order = 0;

    for (int64_t p = 0; p < axis->param_count && order == 0; p++) {
        const union param_value *value = &axis->value[p * axis->length];
        order = value_compare(axis->param[p], value[a], value[b]);
    }
    return order;
}

static int compare_labels(const void *a, const void *b, void *axis)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    int order = compare_values(axis, left, right);

    return order ? order : (left > right) - (left < right);
}

/* Two labels that set the same values would train every run twice. */
static int check_repeated(struct reader *reader, const struct axis *axis, const struct node *labels)
{
    int64_t *sorted = memory_new((size_t)axis->length, sizeof(*sorted));
    char a[EXCERPT_SIZE], b[EXCERPT_SIZE];
    int status = 0;

    for (int64_t i = 0; i < axis->length; i++)
        sorted[i] = i;
    qsort_r(sorted, (size_t)axis->length, sizeof(*sorted), compare_labels, (void *)axis);
    for (int64_t i = 1; i < axis->length && status == 0; i++)
        if (compare_values(axis, sorted[i - 1], sorted[i]) == 0)
            status = reader_fault(reader, labels->key[sorted[i]].position,
                "%s: '%s' and '%s' set the same values", axis->name,
                place_excerpt(axis->label[sorted[i - 1]], a), place_excerpt(axis->label[sorted[i]], b));
    free(sorted);
    return status;
}

static int read_labels(struct reader *reader, struct axis *axis, const struct node *labels)
{
    if (claim_params(reader, axis, &labels->child[0]) < 0)
        return -1;
    for (int64_t i = 0; i < labels->count; i++) {
        axis->label[i] = memory_copy(labels->key[i].text);
        if (check_label(reader, axis->name, &labels->key[i]) < 0 ||
            check_body(reader, axis->label[i], &labels->child[i]) < 0 ||
            read_label(reader, axis, i, &labels->key[i], &labels->child[i]) < 0)
            return -1;
    }
    return check_repeated(reader, axis, labels);
}

static int read_axis(struct reader *reader, const struct node *key, const struct node *labels)
{
    char excerpt[EXCERPT_SIZE];

    if (check_name(reader, key) < 0 || check_body(reader, key->text, labels) < 0 ||
        check_body(reader, place_excerpt(labels->key[0].text, excerpt), &labels->child[0]) < 0)
        return -1;
    int64_t params = labels->child[0].count;
    struct axis *axis = reader_axis(reader, key->text, key->position, labels->count, params);
    if (!axis)
        return -1;
    axis->label = memory_zero((size_t)axis->length + 1, sizeof(*axis->label)); /* ends with NULL */
    axis->value = memory_zero((size_t)(params * axis->length), sizeof(*axis->value));
    axis->written = memory_zero((size_t)(params * axis->length), sizeof(*axis->written));
    return read_labels(reader, axis, labels);
}

int together_read(struct reader *reader, const struct node *node)
{
    if (check_body(reader, "together", node) < 0)
        return -1;
    for (int64_t i = 0; i < node->count; i++)
        if (read_axis(reader, &node->key[i], &node->child[i]) < 0)
            return -1;
    return 0;
}
