#ifndef NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATED_H
#define NORMSWEEP_TESTS_DRIVER_SCHEDULE_SIMULATED_H

#include "tests/driver/schedule/simulation.h"

enum { HOLD_MAX = 16, LIE_MAX = 3, NODE_SIZE = 4, KILLS_OF_STUBBORN = 5 };

/* What happens at a moment of virtual time. */
enum happening_kind {
    MESSAGE, /* to the coordinator */
    ORDER, /* to a worker */
    DONE, /* a worker ends its run */
    BEAT, /* a worker sends a sign of life */
    SAVE, /* a worker makes a checkpoint */
    FATE, /* the fate of the run that a worker has begun, or of an idle worker */
    WAKE,
    RESPAWN,
    NODE_FALLS, /* some nodes, with all their workers */
    DECISION, /* of the owner */
};

struct happening {
    double time;
    uint64_t sequence; /* breaks ties: the order of planning */
    enum happening_kind kind;
    int worker;
    uint64_t serial; /* when it was planned: DONE, BEAT, SAVE, FATE: of the worker's activity; ORDER, WAKE,
                        RESPAWN: of the worker's life; MESSAGE: of its node's life */
    bool lost; /* ORDER: its worker was dead when it was sent */
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
    uint64_t life; /* counts its births and deaths */
    uint64_t serial; /* counts its activities; plans for older ones are void */
    double patience; /* the one that it announces */
    double wakes; /* asleep until then; 0: awake */
    double arrives; /* when its last message arrives; messages do not overtake each other */
    uint64_t heard_of[LIE_MAX]; /* old tickets to lie about */
    /* What the coordinator must know of it: */
    int holds; /* valid tickets */
    bool given_up; /* and silent since then */
    double known; /* when its last message arrived, or it got its first order */
};

/* The next random number, uniform on [0, 1). */
double simulated_draw(struct simulation *s);

/* Handles the next happening; there is one. */
struct happening simulated_next(struct simulation *s);

/* The worker is born, idle. */
void simulated_arrive(struct simulation *s, int worker);

/* Sends an order to its worker. */
void simulated_send(struct simulation *s, const struct order *order);

void simulated_plan_fall(struct simulation *s);
void simulated_plan_decision(struct simulation *s);

/* Handles a happening that is neither a message nor a decision. */
void simulated_happens(struct simulation *s, const struct happening *it);

/* The owner decides something by itself, or in response to an order, while others have yet to be taken. */
void owner_decides(struct simulation *s);
void owner_responds(struct simulation *s, const struct order *order);

#endif
