#ifndef NORMSWEEP_DRIVER_TEXT_NEAREST_H
#define NORMSWEEP_DRIVER_TEXT_NEAREST_H

/* Finds the offered name that is closest to a mistyped one, or else one that a shorter or longer name means:
 * its initials (lr), beginnings of its parts (grad_clip, final_loss), or more parts (n_layers, batch_size).
 */
struct nearest {
    const char *word; /* borrowed */
    const char *best; /* borrowed from the offers; NULL: none is close */
    int distance;
};

void nearest_init(struct nearest *nearest, const char *word);
void nearest_offer(struct nearest *nearest, const char *offer);

/* "; did you mean 'learning_rate'?", or "" without a close word. Returns text. */
#define NEAREST_SIZE 96
const char *nearest_hint(const struct nearest *nearest, char text[NEAREST_SIZE]);

#endif
