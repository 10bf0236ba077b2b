/* How the corpus of a run is read: sequences, objective and vocabulary have to agree. */
#include "model/corpora/corpora.h"
#include "worker/run/inside.h"

#include <stdbool.h>

int run_check_reading(const struct run *run, const struct param **at, struct error *error)
{
    *at = param_find("sequences");
    if (run->corpus == CORPUS_TOKENS && run->sequences != SEQUENCES_STREAM)
        return error_set(error, ERROR_INPUT,
            "sequences: corpus tokens has stream alone: a file of tokens does not say where lines end");
    *at = param_find("vocabulary");
    int64_t added = objective_words_added((enum objective)run->objective, run->context);
    if (run->vocabulary > INT32_MAX - added)
        return error_set(error, ERROR_INPUT,
            "vocabulary: %lld, and %lld words of the objective, are too many", (long long)run->vocabulary,
            (long long)added);
    *at = param_find("context");
    if (run->corpus == CORPUS_MODULAR && run->context < MODULAR_INPUTS)
        return error_set(error, ERROR_INPUT,
            "context: %lld is below %d, the tokens of a sum: a, b and =", (long long)run->context,
            MODULAR_INPUTS);
    if (run->objective == OBJECTIVE_SPANS && run->context < SPANS_CONTEXT_LEAST)
        return error_set(error, ERROR_INPUT,
            "context: %lld is below %d, which a span takes: its sentinel, a token and <eos>",
            (long long)run->context, SPANS_CONTEXT_LEAST);
    return 0;
}

struct reading run_reading(const struct run *run, const struct corpus *corpus)
{
    static const enum task tasks[] = {
        [OBJECTIVE_NEXT] = TASK_NEXT, [OBJECTIVE_SPANS] = TASK_SPANS, [OBJECTIVE_MASKED] = TASK_MASKED};
    bool pairs = run->corpus == CORPUS_PAIRS, modular = run->corpus == CORPUS_MODULAR;

    return (struct reading){
        .sequences = pairs || modular ? SEQUENCES_LINES : (enum sequences)run->sequences,
        .task = pairs     ? TASK_PAIR
                : modular ? TASK_LAST
                          : tasks[run->objective],
        .context = run->context,
        .vocabulary = corpus->vocabulary,
        .end_of_line = corpus->end_of_line,
        .seed = run->seed,
    };
}
