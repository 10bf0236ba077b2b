#ifndef NORMSWEEP_MODEL_INSTRUMENTS_HOMOGENEITY_H
#define NORMSWEEP_MODEL_INSTRUMENTS_HOMOGENEITY_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/network/transformer.h"

/*
 * How close a network is to a homogeneous one, f(x; c theta) = c^k f(x; theta), before training: a fresh
 * model of an architecture, but with few words and positions, runs on a few random sequences with every
 * parameter multiplied by c = 1 .. 10. f is the input of the output layer, flattened over all rows.
 */
enum {
    HOMOGENEITY_VOCABULARY = 10,
    HOMOGENEITY_CONTEXT = 10,
    HOMOGENEITY_SEQUENCES = 10,
    HOMOGENEITY_SCALES = 20,
    HOMOGENEITY_LIMIT = 1000, /* the scale that stands for the limit of large c */
};

struct homogeneity {
    double cosine[HOMOGENEITY_SCALES]; /* of f at each scale with f at HOMOGENEITY_LIMIT; 0 if either is 0 */
    /* k of f and of the logits: the slope of ln|f| over ln c, and the R^2 of the fit. */
    double degree, degree_r2;
    double output_degree, output_degree_r2;
};

struct homogeneity_model {
    struct transformer model;
    struct batch batch;
    scalar *weights, *scaled; /* planes: theta and c theta */
    scalar *limit; /* [rows, C] f at HOMOGENEITY_LIMIT */
    scalar *logits; /* [rows, V] */
};

/* The scales c: evenly spaced from 1 to 10, i = 0 .. HOMOGENEITY_SCALES - 1. */
double homogeneity_scale(int64_t i);

/* Lays out a model of the architecture except for vocabulary and context. homogeneity_measure draws the rest.
 */
void homogeneity_layout(
    struct homogeneity_model *h, const struct architecture *architecture, struct arena *arena);

/* Draws weights and sequences, both functions of the seed, and measures. */
void homogeneity_measure(struct homogeneity_model *h, int64_t seed, struct homogeneity *result);

#endif
