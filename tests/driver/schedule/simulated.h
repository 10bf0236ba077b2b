#ifndef NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATED_H
#define NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATED_H

#include "tests/driver/schedule/simulation.h"

enum { HOLD_MAX = 8, LIE_MAX = 3, NODE_SIZE = 4, KILLS_OF_STUBBORN = 5 };

/* What is to happen at a moment of virtual time. */
enum happening_kind {
    MESSAGE, /* to the coordinator */
    ORDER, /* to a worker */
    DONE, /* a worker ends what it trains */
    BEAT, /* a worker gives a sign of life */
    SAVE, /* a worker makes a checkpoint */
    FATE, /* the fate of the run that a worker has begun, or of an idle worker */
    WAKE,
    RESPAWN,
    NODE_FALLS, /* some node, with all its workers */
};

struct happening {
    double time;
    uint64_t sequence; /* ties: in the order they were planned */
    enum happening_kind kind;
    int worker;
    uint64_t serial; /* DONE, BEAT, SAVE, FATE: of what the worker did then; ORDER, WAKE, RESPAWN: of its
                        life; MESSAGE: of the life of its node */
    union {
        struct event event;
        struct order order;
    } as;
};

struct simulated {
    struct order held[HOLD_MAX]; /* held[0] is trained */
    int used;
    bool alive;
    int node;
    uint64_t life; /* how often it was born or died */
    uint64_t serial; /* counts what it begins: older plans are void */
    double patience; /* what it says */
    double wakes; /* asleep until then; 0: awake */
    double arrives; /* when its last message does: messages do not overtake each other */
    uint64_t heard_of[LIE_MAX]; /* old tickets to lie about */
    /* As the coordinator must see it: */
    int holds; /* valid tickets */
    bool given_up; /* and not heard since */
    double known; /* the last time that a word of it arrived, or that it was given the first order */
};

/* The next thing that happens; there is one. */
struct happening simulated_next(struct simulation *s);

/* The worker is born, now and idle. */
void simulated_arrive(struct simulation *s, int worker);

/* An order on its way. */
void simulated_send(struct simulation *s, const struct order *order);

void simulated_plan_fall(struct simulation *s);

/* Anything but a message happens. */
void simulated_happens(struct simulation *s, const struct happening *it);

#endif
