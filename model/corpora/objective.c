#include "model/corpora/objective.h"

/* Of the tokens of a sequence, the share in spans, and the mean length of a span: those of T5. */
static const double SPAN_SHARE = 0.15, SPAN_LENGTH = 3;

/* The spans of a sequence of `length` tokens. */
static int64_t span_count(int64_t length)
{
    int64_t noise = (int64_t)((double)length * SPAN_SHARE + 0.5);
    int64_t spans = (int64_t)((double)noise / SPAN_LENGTH + 0.5);

    return spans > 1 ? spans : 1;
}

int64_t objective_words_added(enum objective objective, int64_t context)
{
    switch (objective) {
    case OBJECTIVE_NEXT:
        return 0;
    case OBJECTIVE_SPANS:
        return span_count(context);
    case OBJECTIVE_MASKED:
        return 1;
    }
    return 0;
}
