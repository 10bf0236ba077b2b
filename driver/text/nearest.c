/*
 * The name that a mistyped or shortened one means.
 *
 * Names are compared as typing errors, by the letters that differ, and as short forms, part by part between
 * underscores; distance_of orders the two kinds.
 */
#include "driver/text/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 }; /* longer words are not compared */

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* The least number of insertions, deletions, substitutions and swaps of neighbours that turns one word into
 * the other. */
static int edit_distance(const char *a, const char *b)
{
    int row[3][LONGEST + 1];
    int *above2 = row[0], *above = row[1], *here = row[2];
    int width = (int)strlen(b);

    for (int j = 0; j <= width; j++)
        above[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        here[0] = i;
        for (int j = 1; j <= width; j++) {
            here[j] = smaller(smaller(above[j], here[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here[j] = smaller(here[j], above2[j - 2] + 1);
        }
        int *oldest = above2;
        above2 = above;
        above = here;
        here = oldest;
    }
    return above[width];
}

/* Does a word begin with the letters up to the next '_' of another? */
static bool begins(const char *word, const char *part)
{
    size_t length = strcspn(part, "_");

    return length > 0 && strncmp(word, part, length) == 0;
}

static const char *next_part(const char *text)
{
    const char *end = strchr(text, '_');

    return end ? end + 1 : text + strlen(text);
}

/* Do all parts of a name begin parts of the other, in their order? warmup: warmup_steps; grad_clip:
 * gradient_clip; final_loss: final_train_loss. */
static bool is_within(const char *word, const char *offer)
{
    while (*word && *offer) {
        if (begins(offer, word))
            word = next_part(word);
        offer = next_part(offer);
    }
    return !*word;
}

/* lr: learning_rate */
static bool is_initials(const char *word, const char *offer)
{
    while (*word && *word == *offer) {
        word++;
        offer = next_part(offer);
    }
    return !*word && !*offer;
}

/* How far an offer is from a word; -1: too far. A typing error is nearer than a name of which the word is
 * short, this one nearer than a name to which the word adds parts (n_layers, batch_size), and last come words
 * of which a third differs. A word of which half differs is another word (clip, skip). Of several names of
 * one kind, the shortest is nearest. */
static int distance_of(const char *word, const char *offer)
{
    enum { TYPING_MOST = 2, KIND = 2 * LONGEST };
    int edits = edit_distance(word, offer), most = (int)(strlen(word) + 2) / 3;
    bool several = strlen(word) >= 2, close = edits <= most && 2 * edits < (int)strlen(word);

    if (close && edits <= TYPING_MOST)
        return edits;
    if (several && (is_within(word, offer) || is_initials(word, offer)))
        return KIND + (int)strlen(offer);
    if (several && is_within(offer, word))
        return 2 * KIND + (int)strlen(offer);
    return close ? 3 * KIND + edits : -1;
}

void nearest_init(struct nearest *nearest, const char *word)
{
    *nearest = (struct nearest){.word = word};
}

void nearest_offer(struct nearest *nearest, const char *offer)
{
    size_t length = strlen(nearest->word);

    if (length == 0 || length > LONGEST || strlen(offer) > LONGEST)
        return;
    int distance = distance_of(nearest->word, offer);
    if (distance < 0)
        return;
    if (!nearest->best || distance < nearest->distance) {
        nearest->best = offer;
        nearest->distance = distance;
    }
}

struct hint nearest_hint(const struct nearest *nearest)
{
    struct hint hint = {""};

    if (nearest->best)
        snprintf(hint.text, sizeof(hint.text), "; did you mean '%s'?", nearest->best);
    return hint;
}
