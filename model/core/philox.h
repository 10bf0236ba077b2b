#ifndef NORMSWEEP_MODEL_CORE_PHILOX_H
#define NORMSWEEP_MODEL_CORE_PHILOX_H

#include <stdint.h>

/*
 * The numbers of Philox4x32-10 (see random.h), for the generator itself and for the kernels that compute many
 * of its blocks at once. Each of 10 rounds multiplies two of the four words of a block, combines the
 * upper halves of the products with the other two words and the keys by exclusive or, and then raises each
 * key by its weight.
 */
enum { PHILOX_ROUNDS = 10 };
#define PHILOX_MULTIPLIER_0 UINT32_C(0xD2511F53)
#define PHILOX_MULTIPLIER_2 UINT32_C(0xCD9E8D57)
#define PHILOX_WEIGHT_0 UINT32_C(0x9E3779B9)
#define PHILOX_WEIGHT_1 UINT32_C(0xBB67AE85)

#endif
