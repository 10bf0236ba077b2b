/*
 * The switch for denormal numbers, which each thread has for itself: a run sets it for its own thread, and
 * the team for the threads that it starts. One pair of functions reads and writes the control register of
 * each kind of processor; where no register is known, FLUSHING is 0 and nothing changes. denormals_why_not
 * says that, so that tests can skip what needs the switch.
 */
#include "model/core/denormals.h"

#include <stddef.h>
#include <stdint.h>

/* The register that controls the floating-point unit of this thread, and its bits that flush denormals. */
#if defined(__x86_64__)
#include <xmmintrin.h>

enum { FLUSHING = 0x8040 }; /* of results (FTZ) and of operands (DAZ), which all processors of 64 bits have */

static uint64_t read_control(void)
{
    return _mm_getcsr();
}

static void write_control(uint64_t control)
{
    _mm_setcsr((unsigned)control);
}
#elif defined(__aarch64__)
enum { FLUSHING = 1 << 24 }; /* FPCR.FZ: both */

static uint64_t read_control(void)
{
    uint64_t control;

    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}

static void write_control(uint64_t control)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#else
enum { FLUSHING = 0 };

static uint64_t read_control(void)
{
    return 0;
}

static void write_control(uint64_t control)
{
    (void)control;
}
#endif

bool denormals_flushed(void)
{
    return FLUSHING != 0 && (read_control() & FLUSHING) == FLUSHING;
}

bool denormals_flush(bool flush)
{
    uint64_t control = read_control(), wanted = flush ? control | FLUSHING : control & ~(uint64_t)FLUSHING;
    bool before = denormals_flushed();

    if (wanted != control)
        write_control(wanted);
    return before;
}

const char *denormals_why_not(void)
{
    return FLUSHING != 0 ? NULL : "only x86-64 and aarch64 have a known switch for it";
}
