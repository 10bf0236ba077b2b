#ifndef NORMSWEEP_DRIVER_TABLES_NATURE_H
#define NORMSWEEP_DRIVER_TABLES_NATURE_H

/* What kind of number a variable of the dataset is, as far as pictures have to know. */
enum nature {
    NATURE_OF_RUN, /* no matter of training: the same of a run however it ended */
    NATURE_PLAIN, /* a metric of training */
    NATURE_RATIO, /* a metric that is a factor: its mean is the geometric one */
    NATURE_SHARE, /* a metric within -1 and 1, as cosines, shares and R^2 are: its scales are linear */
};

enum nature nature_of(const char *variable);

#endif
