/* The text of `inspect`: what a network reads of it and predicts, and in which batches. */
#include "driver/inspect/inside.h"

#include "model/corpora/corpora.h"

#include <inttypes.h>

/* Rows of a batch, at least: short sequences share one. A model of many blocks is converted from its file
 * once for each batch. The longest window by default; rows of which states are kept, unless one window has
 * more. */
enum { ROWS_LEAST = 1024, WINDOW_MOST = 1024, KEPT_ROWS = 256 };

static const char no_mask[] =
    "no loss: give --mask ID, the id of the tokenizer's mask token, for that of masked words";
static const char no_output[] = "no loss: the files have no output layer for words";
static const char no_stream[] =
    "no loss: this family predicts words in a second stream, which is not computed here";

static bool reads_spans(const struct architecture *a)
{
    return a->network == NETWORK_ENCODER_DECODER;
}

/* ---- what is asked for ---- */

/* Refuses options that have no meaning for this network, or without a text. */
static int check_options(
    const struct saved *network, const struct inspect_request *request, struct error *error)
{
    const struct architecture *a = &network->architecture;
    const char *path = network->path;
    if (request->mask >= 0 && a->network != NETWORK_ENCODER)
        return error_set(error, ERROR_INPUT, "%s: --mask is for encoders; this is not one", path);
    if (request->mask >= 0 && a->positions == POSITIONS_DISTANCE)
        return error_set(
            error, ERROR_INPUT, "%s: --mask is for a loss, which is not computed for this family", path);
    if (request->sentinel >= 0 && !reads_spans(a))
        return error_set(error, ERROR_INPUT, "%s: --sentinel is for encoder-decoders; this is not one", path);
    if (request->tokens && reads_spans(a) && network->of_run)
        return error_set(error, ERROR_INPUT,
            "%s: an encoder-decoder of a run reads the sentinels of its corpus: "
            "measure saturation and heads in the sweep; without --tokens, norms are printed",
            path);
    if (request->tokens && reads_spans(a) && request->sentinel < 0)
        return error_set(error, ERROR_INPUT,
            "%s: text of an encoder-decoder needs --sentinel ID, the id of the tokenizer's first sentinel "
            "(T5: 32099)",
            path);
    return 0;
}

/* The context that a window of tokens needs: a source has one more token, and its end. */
static int64_t context_of(const struct architecture *a, int64_t window)
{
    if (!reads_spans(a))
        return window;
    return (window > SPANS_CONTEXT_LEAST ? window : SPANS_CONTEXT_LEAST) + 1;
}

static int choose_window(struct inspect_text *text, const struct saved *network,
    const struct inspect_request *request, struct error *error)
{
    const struct architecture *a = &network->architecture;
    int64_t most = a->context;

    if (a->positions == POSITIONS_LEARNED)
        most -= context_of(a, most) - most;
    text->window = most < WINDOW_MOST ? most : WINDOW_MOST;
    if (request->context)
        text->window = request->context;
    if (text->window <= most)
        return 0;
    return error_set(error, ERROR_INPUT, "%s: --context %" PRId64 " is larger than the model's %" PRId64,
        network->path, text->window, most);
}

/* ---- words that are not of the text ---- */

static int check_word(
    const char *path, const char *what, int64_t word, int64_t vocabulary, struct error *error)
{
    if (word < vocabulary)
        return 0;
    return error_set(error, ERROR_INPUT, "%s: %s %" PRId64 " is not below the vocabulary of %" PRId64, path,
        what, word, vocabulary);
}

static int choose_mask(struct inspect_text *text, const struct saved *network,
    const struct inspect_request *request, struct error *error)
{
    const char *path = network->path;

    if (request->mask < 0)
        return 0;
    text->foreign.mask = request->mask;
    if (request->mask == network->special.padding)
        return error_set(error, ERROR_INPUT, "%s: --mask %d is the id of padding", path, request->mask);
    return check_word(path, "--mask", request->mask, network->architecture.vocabulary, error);
}

static int choose_spans(struct inspect_text *text, const struct saved *network,
    const struct inspect_request *request, struct error *error)
{
    const char *path = network->path;

    text->foreign = (struct foreign_words){
        .sentinel = request->sentinel, .start = network->special.start, .end = network->special.end};
    bool start = text->foreign.start < 0, end = text->foreign.end < 0;
    if (start || end)
        return error_set(error, ERROR_INPUT, "%s: its config.json had no %s%s%s", path,
            start ? "decoder_start_token_id" : "", start && end ? " and no " : "", end ? "eos_token_id" : "");
    return check_word(path, "--sentinel", request->sentinel, network->architecture.vocabulary, error);
}

/* Chooses what the network reads and predicts. */
static int choose_readings(struct inspect_text *text, const struct saved *network,
    const struct inspect_request *request, struct error *error)
{
    const struct architecture *a = &network->architecture;

    text->compared = (struct reading){
        .sequences = request->lines ? SEQUENCES_LINES : SEQUENCES_STREAM,
        .task = reads_spans(a) ? TASK_SPANS : TASK_NEXT,
        .context = text->window,
        .vocabulary = a->vocabulary,
        .foreign = &text->foreign,
    };
    text->predicted = text->compared;
    text->reads_spans = reads_spans(a);
    text->is_masked = a->network == NETWORK_ENCODER;
    if (text->is_masked)
        text->predicted.task = TASK_MASKED;
    if (a->positions == POSITIONS_DISTANCE)
        text->note = no_stream;
    else if (!network->has_output)
        text->note = no_output;
    else if (text->is_masked && request->mask < 0)
        text->note = no_mask;
    text->has_loss = !text->note;
    if (choose_mask(text, network, request, error) < 0)
        return -1;
    return reads_spans(a) ? choose_spans(text, network, request, error) : 0;
}

/* ---- the text ---- */

static int read_tokens(
    struct inspect_text *text, const struct saved *network, const char *path, struct error *error)
{
    const struct architecture *a = &network->architecture;
    bool next = a->network == NETWORK_DECODER; /* the last token of a sequence is a target only */
    const struct token_ids how = {.vocabulary = a->vocabulary,
        .padding = network->special.padding,
        .lines = text->compared.sequences == SEQUENCES_LINES,
        .behind = next};

    if (token_ids_read(&text->text, path, &how, error) < 0)
        return -1;
    int64_t tokens = text->text.token_count;
    if (!how.lines && !next)
        text->text.token_count++; /* the token behind the last, so that the last window is whole */
    int64_t sequences = reading_sequences(&text->compared, &text->text);
    text->left_out = how.lines ? 0 : tokens - sequences * text->window - next;
    for (int64_t i = 0; i < text->text.line_count; i++)
        text->lines_cut += text->text.line[i].words > text->window;
    if (sequences > 0)
        return 0;
    inspect_text_release(text);
    if (tokens < 1 + next)
        return error_set(
            error, ERROR_INPUT, "%s: a text needs a token and its target, but has one token", path);
    return error_set(error, ERROR_INPUT,
        "%s: %" PRId64 " token%s not fill one window of %" PRId64 "%s; give a smaller --context", path,
        tokens, tokens > 1 ? "s do" : " does", text->window, next ? " and its target" : "");
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The rows of all sequences; notes the largest. */
static void sum_rows(struct inspect_text *text, struct batch_rows *all)
{
    for (int64_t i = 0; i < text->sequences; i++) {
        struct batch_rows one = reading_extent(&text->compared, &text->text, i);
        int64_t tokens = reading_counted(&text->compared, &text->text, i);
        text->tokens += tokens;
        text->longest = larger(text->longest, tokens);
        all->rows += one.rows;
        all->source += one.source;
        text->largest.rows = larger(text->largest.rows, one.rows);
        text->largest.source = larger(text->largest.source, one.source);
        if (i == text->kept && (i == 0 || (all->rows <= KEPT_ROWS && all->source <= KEPT_ROWS))) {
            text->kept++;
            text->kept_rows = *all;
        }
    }
}

static int64_t room_of(int64_t all, int64_t largest)
{
    int64_t most = larger(largest, ROWS_LEAST);

    return all < most ? all : most;
}

/* Counts as validation_next packs. */
static void count_batches(struct inspect_text *text)
{
    struct batch_rows used = {0, 0};

    text->batches = 1;
    for (int64_t i = 0; i < text->sequences; i++) {
        struct batch_rows one = reading_extent(&text->compared, &text->text, i);
        if (used.rows &&
            (used.rows + one.rows > text->room.rows || used.source + one.source > text->room.source)) {
            text->batches++;
            used = (struct batch_rows){0, 0};
        }
        used.rows += one.rows;
        used.source += one.source;
    }
}

/* Are there sentinels for all spans of the longest sequence? */
static int check_sentinels(const struct inspect_text *text, const char *path, struct error *error)
{
    int64_t spans = spans_count(text->longest);

    if (text->compared.task != TASK_SPANS || spans <= text->foreign.sentinel + (int64_t)1)
        return 0;
    return error_set(error, ERROR_INPUT,
        "%s: a sequence of %" PRId64 " tokens has %" PRId64
        " spans, but there are no such sentinels below %d; give a smaller --context",
        path, text->longest, spans, text->foreign.sentinel);
}

int inspect_text_read(struct inspect_text *text, const struct saved *network,
    const struct inspect_request *request, struct error *error)
{
    struct batch_rows all = {0, 0};

    *text = (struct inspect_text){0};
    if (check_options(network, request, error) < 0 || choose_window(text, network, request, error) < 0)
        return -1;
    if (!request->tokens)
        return 0;
    if (choose_readings(text, network, request, error) < 0 ||
        read_tokens(text, network, request->tokens, error) < 0)
        return -1;
    text->sequences = reading_sequences(&text->compared, &text->text);
    sum_rows(text, &all);
    text->room =
        (struct batch_rows){room_of(all.rows, text->largest.rows), room_of(all.source, text->largest.source)};
    count_batches(text);
    if (check_sentinels(text, network->path, error) == 0)
        return 0;
    inspect_text_release(text);
    return -1;
}

bool inspect_text_shrink(struct inspect_text *text)
{
    const struct batch_rows room = text->room, least = text->largest;

    text->room = (struct batch_rows){
        larger(room.rows / 2, least.rows),
        larger(room.source / 2, least.source),
    };
    count_batches(text);
    return text->room.rows < room.rows || text->room.source < room.source;
}

void inspect_text_release(struct inspect_text *text)
{
    token_ids_release(&text->text);
}

struct architecture inspect_text_architecture(
    const struct inspect_text *text, const struct architecture *architecture)
{
    struct architecture a = *architecture;

    if (text->text.token_count)
        a.context = context_of(architecture, text->window);
    return a;
}
