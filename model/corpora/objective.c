#include "model/corpora/objective.h"

#include "model/corpora/spans.h"

int64_t objective_words_added(enum objective objective, int64_t context)
{
    switch (objective) {
    case OBJECTIVE_NEXT:
        return 0;
    case OBJECTIVE_SPANS:
        return spans_count(context);
    case OBJECTIVE_MASKED:
        return 1;
    }
    return 0;
}

int64_t objective_noise(int64_t length)
{
    int64_t whole = 3 * length / 20, rest = 3 * length % 20; /* 15 % in integers, so that ties are exact */

    return whole + (rest > 10 || (rest == 10 && whole % 2 == 1));
}
