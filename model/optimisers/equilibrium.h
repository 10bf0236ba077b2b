#ifndef NORMSWEEP_MODEL_OPTIMISERS_EQUILIBRIUM_H
#define NORMSWEEP_MODEL_OPTIMISERS_EQUILIBRIUM_H

/*
 * What momentum and decay do by themselves, when gradients are white noise. Updates u of neighbouring steps
 * are alike then, because both hold gradients of the same steps, and weights hold past updates: theta points
 * along -u by chance. Decay d = eta lambda, d << 1, and the random walk of the updates come to a balance
 * after some 1 / (2 d) steps (Kosson, Messmer, Jaggi 2024).
 *
 * The memory S of an optimiser is the sum over j >= 1 of (1 - d)^(j-1) times the correlation of updates that
 * are j steps apart; after few steps, over as many j. From it follow
 *   E[-theta.u] = S eta |u|^2,
 *   E[|theta|^2] = (eta |u|)^2 (1 + 2 (1 - d) S) / (2 d - d^2) in the balance.
 */

/* S of an update that is a running mean of gradients, m = beta m + .. g: adam's and sgd's. `steps` taken so
 * far, or INFINITY. */
double memory_of_mean(double beta, double decayed, double steps);

/* S of lion's update, sign(beta1 m + (1 - beta1) g) with m the running mean by beta2 of the steps before: the
 * signs of normal numbers of correlation r have 2 / pi asin(r). */
double memory_of_sign(double beta1, double beta2, double decayed, double steps);

/* A tensor in balance. */
struct equilibrium {
    double rotation; /* angle between theta of successive steps, in radians */
    double rms; /* root mean square of an element of theta */
};

/* Of an optimiser with memory S whose updates have the root mean square `update`, at this rate. Without
 * decay, or with d >= 2, which makes weights swing ever further, there is none. */
struct equilibrium equilibrium_of_walk(double memory, double decayed, double update, double rate);

/* In place of a balance that is not known, or does not exist. */
struct equilibrium equilibrium_unknown(void);

#endif
