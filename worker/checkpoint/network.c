/*
 * One table of attributes, for both directions. What is read passes the bounds of its row, and then the
 * conditions on several values that the passes of a network rely on: the file may come from anybody.
 */
#include "worker/checkpoint/inside.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define VARIABLE "architecture"

enum { WORD_MOST = 24 };

enum field_kind { FIELD_WHOLE, FIELD_REAL, FIELD_WORD, FIELD_TRUTH, FIELD_BIAS };

/* An attribute, and the field of struct architecture that has its value. */
struct described {
    const char *name;
    size_t offset;
    double least, most; /* of numbers */
    const char *const *words; /* in the order of the enum, NULL at the end */
    enum field_kind kind;
    unsigned bias; /* of enum biases */
};

static const char *const truth_words[] = {"false", "true", NULL};
static const char *const network_words[] = {"decoder", "encoder", "encoder_decoder", NULL};
static const char *const placement_words[] = {"post", "pre", "out", NULL};
static const char *const qk_norm_words[] = {"none", "head", "together", NULL};
static const char *const positions_words[] = {
    "learned", "sinusoidal", "rotary", "relative", "none", "distance", NULL};
static const char *const scale_words[] = {"sqrt", "none", "depth", NULL};
static const char *const precision_words[] = {"float", "bfloat16", NULL};
static const char *const mask_words[] = {"causal", "multiplicative", NULL};

#define SMALLEST 0x1p-1022
#define NUMBERS_MOST 1e12

/* clang-format off */
#define FIELD(its_field, ...) {.offset = offsetof(struct architecture, its_field), __VA_ARGS__}
#define WHOLE(field, at_least) \
    FIELD(field, .name = #field, .kind = FIELD_WHOLE, .least = (at_least), .most = INT32_MAX)
#define REAL(its_name, field, at_least) \
    FIELD(field, .name = (its_name), .kind = FIELD_REAL, .least = (at_least), .most = NUMBERS_MOST)
#define WORD(field, its_words) FIELD(field, .name = #field, .kind = FIELD_WORD, .words = (its_words))
#define TRUTH(field) FIELD(field, .name = #field, .kind = FIELD_TRUTH, .words = truth_words)
#define BIAS(its_name, bit) \
    FIELD(biases, .name = (its_name), .kind = FIELD_BIAS, .words = truth_words, .bias = (bit))
/* clang-format on */

static const struct described fields[] = {
    WORD(network, network_words),
    WHOLE(vocabulary, 1),
    WHOLE(context, 1),
    WHOLE(width, 1),
    WHOLE(heads, 1),
    WHOLE(kv_heads, 1),
    WHOLE(head_width, 1),
    WHOLE(feedforward, 1),
    WHOLE(layers, 1),
    WHOLE(decoder_layers, 0),
    WORD(norm_placement, placement_words),
    WORD(norm, norm_words),
    REAL("norm_epsilon", norm_epsilon, SMALLEST),
    TRUTH(final_norm),
    WORD(qk_norm, qk_norm_words),
    WORD(positions, positions_words),
    REAL("rotary_base", rotary_base, 1),
    REAL("rotary_factor", rotary_scaling.factor, 0),
    REAL("rotary_low", rotary_scaling.low, 0),
    REAL("rotary_high", rotary_scaling.high, 0),
    REAL("rotary_context", rotary_scaling.context, 0),
    WORD(score_scale, scale_words),
    WORD(attention_mask, mask_words),
    WORD(activation, activation_words),
    TRUTH(gated),
    BIAS("qkv_bias", BIAS_QKV),
    BIAS("o_bias", BIAS_O),
    BIAS("feedforward_bias", BIAS_FEEDFORWARD),
    BIAS("norm_bias", BIAS_NORM),
    BIAS("output_bias", BIAS_OUTPUT),
    TRUTH(tied),
    REAL("residual_scale", residual_scale, SMALLEST),
    REAL("output_scale", output_scale, 0),
    WORD(precision, precision_words),
    WHOLE(token_types, 0),
    TRUTH(embedding_norm),
    TRUTH(transform),
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

_Static_assert(sizeof(enum network) == sizeof(unsigned) && sizeof(enum precision) == sizeof(unsigned),
    "a field that is a word is read as an unsigned number");

/* ---- values ---- */

/* The word of a field that has words, as a number. */
static unsigned word_of(const struct described *field, const void *at)
{
    const unsigned *word = at;
    const bool *truth = at;

    switch (field->kind) {
    case FIELD_WORD:
        return *word;
    case FIELD_TRUTH:
        return *truth;
    default:
        return (*word & field->bias) != 0;
    }
}

static void set_word(const struct described *field, void *at, unsigned value)
{
    unsigned *word = at;
    bool *truth = at;

    if (field->kind == FIELD_TRUTH)
        *truth = value;
    else if (field->kind == FIELD_WORD)
        *word = value;
    else
        *word = value ? *word | field->bias : *word & ~field->bias;
}

/* With every size and number written out. */
static struct architecture resolved(const struct architecture *architecture)
{
    struct architecture a = *architecture;

    a.kv_heads = architecture_kv_heads(architecture);
    a.head_width = architecture_depth(architecture);
    a.norm_epsilon = architecture_norm_epsilon(architecture);
    a.rotary_base = architecture_rotary_base(architecture);
    if (a.network == NETWORK_ENCODER_DECODER && !a.decoder_layers)
        a.decoder_layers = a.layers;
    return a;
}

/* ---- networks compared ---- */

enum { FIELD_TEXT = 32 };

static void format_field(const struct described *field, const void *at, char text[FIELD_TEXT])
{
    const int64_t *whole = at;
    const double *real = at;

    if (field->kind == FIELD_WHOLE)
        snprintf(text, FIELD_TEXT, "%" PRId64, *whole);
    else if (field->kind == FIELD_REAL)
        snprintf(text, FIELD_TEXT, "%.12g", *real);
    else
        snprintf(text, FIELD_TEXT, "%s", field->words[word_of(field, at)]);
}

void network_digest(const struct architecture *architecture, struct digest *digest)
{
    const struct architecture a = resolved(architecture);
    char text[FIELD_TEXT];

    for (int i = 0; i < FIELDS; i++) {
        format_field(&fields[i], (const char *)&a + fields[i].offset, text);
        digest_add_string(digest, text);
    }
}

bool start_differs(const struct start_weights *start, const struct architecture *run, char text[START_TEXT])
{
    char was[FIELD_TEXT], is[FIELD_TEXT];
    int length = 0;
    struct architecture there = resolved(&start->architecture), here = resolved(run);

    there.output_scale += there.output_scale == 0; /* 0 is 1 */
    here.output_scale += here.output_scale == 0;
    here.precision = there.precision;
    if (here.positions != POSITIONS_LEARNED)
        here.context = there.context;
    for (int i = 0; i < FIELDS; i++) {
        format_field(&fields[i], (const char *)&there + fields[i].offset, was);
        format_field(&fields[i], (const char *)&here + fields[i].offset, is);
        if (strcmp(was, is) != 0 && length < START_TEXT)
            length += snprintf(text + length, (size_t)(START_TEXT - length), "%s%s is %s there and %s here",
                length ? ", " : "", fields[i].name, was, is);
    }
    return length > 0;
}

/* ---- writing ---- */

void network_visit(struct form *form, const struct architecture *architecture)
{
    const struct architecture a = resolved(architecture);
    const int value = 0;
    int variable;

    if (form->status == NC_NOERR && form->pass == DEFINE)
        form->status = nc_def_var(form->file, VARIABLE, NC_INT, 0, NULL, &variable);
    else if (form->status == NC_NOERR)
        form->status = nc_inq_varid(form->file, VARIABLE, &variable);
    for (int i = 0; i < FIELDS && form->status == NC_NOERR && form->pass == DEFINE; i++) {
        const struct described *field = &fields[i];
        const void *at = (const char *)&a + field->offset;
        if (field->words) {
            const char *word = field->words[word_of(field, at)];
            form->status = nc_put_att_text(form->file, variable, field->name, strlen(word), word);
        } else {
            nc_type type = field->kind == FIELD_WHOLE ? NC_INT64 : NC_DOUBLE;
            form->status = nc_put_att(form->file, variable, field->name, type, 1, at);
        }
    }
    if (form->status == NC_NOERR && form->pass == PUT)
        form->status = nc_put_var_int(form->file, variable, &value);
}

/* ---- reading ---- */

/* False: the attribute is not there, or has a value that the field cannot have. */
static bool get_field(int file, int variable, const struct described *field, void *at)
{
    const int64_t *whole = at;
    const double *real = at;
    char text[WORD_MOST] = "";
    nc_type type;
    size_t length;

    if (nc_inq_att(file, variable, field->name, &type, &length) != NC_NOERR)
        return false;
    if (!field->words) {
        if (length != 1 || type != (field->kind == FIELD_WHOLE ? NC_INT64 : NC_DOUBLE) ||
            nc_get_att(file, variable, field->name, at) != NC_NOERR)
            return false;
        double value = field->kind == FIELD_WHOLE ? (double)*whole : *real;
        return value >= field->least && value <= field->most;
    }
    if (type != NC_CHAR || length >= sizeof(text) ||
        nc_get_att_text(file, variable, field->name, text) != NC_NOERR)
        return false;
    for (unsigned i = 0; field->words[i]; i++)
        if (strcmp(field->words[i], text) == 0) {
            set_word(field, at, i);
            return true;
        }
    return false;
}

static int check_together(const struct architecture *a, struct error *error)
{
    const double most = 0x1p50; /* far below any overflow, here and in what is computed of the sizes */
    double width = (double)a->width, layers = (double)a->layers + (double)a->decoder_layers;
    double queries = (double)a->heads * (double)a->head_width;
    double outside = 2 * (double)a->vocabulary + (double)a->token_types + width;

    if (a->positions == POSITIONS_LEARNED)
        outside += 2 * (double)a->context;
    if (layers > LAYERS_MOST ||
        width * (layers * (10 * (queries + 2) + 3 * ((double)a->feedforward + 2)) + outside) > most)
        return error_set(error, ERROR_INPUT, "damaged: a network of these sizes is too large");
    if (a->heads % a->kv_heads)
        return error_set(error, ERROR_INPUT,
            "%" PRId64 " heads of keys and values do not divide the %" PRId64 " heads", a->kv_heads,
            a->heads);
    if (a->positions == POSITIONS_ROTARY && a->head_width % 2)
        return error_set(error, ERROR_INPUT, "rotary positions need an even width of heads");
    if (a->positions == POSITIONS_DISTANCE && (a->network != NETWORK_ENCODER || a->qk_norm || a->width % 2))
        return error_set(
            error, ERROR_INPUT, "positions distance need an encoder without qk_norm, of an even width");
    if ((a->network == NETWORK_ENCODER_DECODER) != (a->decoder_layers > 0))
        return error_set(error, ERROR_INPUT, "decoder_layers are for an encoder_decoder, which needs them");
    return 0;
}

int network_read(int file, struct architecture *architecture, struct error *error)
{
    int variable;

    *architecture = (struct architecture){.init_scale = 1};
    if (nc_inq_varid(file, VARIABLE, &variable) != NC_NOERR)
        return error_set(error, ERROR_INPUT, "damaged: it has no variable " VARIABLE);
    for (int i = 0; i < FIELDS; i++)
        if (!get_field(file, variable, &fields[i], (char *)architecture + fields[i].offset))
            return error_set(error, ERROR_INPUT, "the attribute " VARIABLE ":%s is missing or not %s",
                fields[i].name, fields[i].words ? "one of its words" : "within its bounds");
    return check_together(architecture, error);
}
