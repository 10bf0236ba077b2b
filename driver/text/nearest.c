#include "driver/text/nearest.h"

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

/* How far a name is from one that means it without being a typing error; always further than such an error.
 * 0: it does not mean it. Of several, the shortest is nearest. */
static int related_distance(const char *word, const char *offer)
{
    bool related = is_within(word, offer) || is_initials(word, offer) || is_within(offer, word);

    return related && strlen(word) >= 2 ? LONGEST + (int)strlen(offer) : 0;
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
    int distance = edit_distance(nearest->word, offer);
    if (distance > (int)(length + 2) / 3)
        distance = related_distance(nearest->word, offer);
    if (distance == 0 && strcmp(nearest->word, offer) != 0)
        return;
    if (!nearest->best || distance < nearest->distance) {
        nearest->best = offer;
        nearest->distance = distance;
    }
}

const char *nearest_hint(const struct nearest *nearest, char text[NEAREST_SIZE])
{
    text[0] = 0;
    if (nearest->best)
        snprintf(text, NEAREST_SIZE, "; did you mean '%s'?", nearest->best);
    return text;
}
