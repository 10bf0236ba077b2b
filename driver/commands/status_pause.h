#ifndef NORMSWEEP_DRIVER_COMMANDS_STATUS_PAUSE_H
#define NORMSWEEP_DRIVER_COMMANDS_STATUS_PAUSE_H

/* The pauses of a command that keeps looking at a dataset, which a signal ends at once. */
enum pause_end { PAUSE_OVER, PAUSE_RESIZED, PAUSE_INTERRUPTED };

/* From now on SIGINT and changes of the terminal's size end pauses. A SIGINT that was ignored when the
 * program started stays ignored. */
void status_pause_begin(void);

/* Sleeps for so many seconds, or until a signal comes or has come since the last pause. */
enum pause_end status_pause(double seconds);

#endif
