#ifndef NORMSWEEP_DRIVER_TEXT_NEAREST_H
#define NORMSWEEP_DRIVER_TEXT_NEAREST_H

/* Which of the words that are offered a mistyped one was meant to be. */
struct nearest {
    const char *word; /* borrowed */
    const char *best; /* borrowed from the offers; NULL: none is near */
    int distance;
};

void nearest_init(struct nearest *nearest, const char *word);
void nearest_offer(struct nearest *nearest, const char *offer);

/* "; did you mean 'learning_rate'?", or nothing. Returns text. */
#define NEAREST_SIZE 96
const char *nearest_hint(const struct nearest *nearest, char text[NEAREST_SIZE]);

#endif
