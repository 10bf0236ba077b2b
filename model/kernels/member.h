#ifndef NORMSWEEP_MODEL_KERNELS_MEMBER_H
#define NORMSWEEP_MODEL_KERNELS_MEMBER_H

#include "model/kernels/bed.h"

/* A thread of the pool, as the others see it. {.processor = NOWHERE} at first. */
struct member {
    struct bed bed;
    _Atomic int processor; /* on which it works; or NOWHERE */
    _Atomic bool called; /* it may claim shares */
    _Atomic int64_t rested; /* the time from which on it is called again */
};

enum { NOWHERE = -1 };

/* Says that the member, the calling thread, works on this processor from now on; that it does not work. */
void member_begin(struct member *member);
void member_end(struct member *member);

/* Does the member work on the processor of the calling thread? */
bool member_is_here(const struct member *member);

/* Calls the member to a job that begins now, and wakes it, unless it rests. */
void member_call(struct member *member, int64_t now);

/* The member has made its caller wait for so many nanoseconds longer than a member should: rests it for many
 * times as long, so that the team loses little against one thread. */
void member_rest(struct member *member, int64_t waited);

/* The member, the calling thread, is on its caller's processor: goes to another one, and rests for a moment.
 */
void member_leave(struct member *member);

#endif
