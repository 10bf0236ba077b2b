#ifndef NORMSWEEP_WORKER_WIRE_INSIDE_H
#define NORMSWEEP_WORKER_WIRE_INSIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/wire/wire.h"

/* The setup from bytes; it owns all it points to. -1: no memory, or setup_encode has not made the bytes. */
int setup_decode(struct setup *setup, const unsigned char *bytes, size_t size);
void setup_release(struct setup *setup);

/* Are these `size` bytes a message: of a known kind, with as many bytes as its kind and count say? */
bool message_is_whole(const struct message *message, size_t size);

/* The other end of a message is a rank: 0 is the coordinator, 1 .. wire_size - 1 are workers and spares. */
enum { ADDRESS_COORDINATOR = 0 };

/* Waits until at most `most` sent messages are under way. False: `seconds` have passed before. */
bool wire_drain(struct wire *wire, size_t most, double seconds);

#endif
