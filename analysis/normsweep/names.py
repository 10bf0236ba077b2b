"""Names that a dataset has and this package has to know, each once; tests hold them to the program's tables."""

SOURCE = "normsweep"  # the global attribute `source` of every dataset of ours
OUTCOMES = ("pending", "running", "done", "diverged", "failed", "skipped")
DONE = OUTCOMES.index("done")
PHASE_AXES = ("learning_rate", "weight_decay")
REPEAT = "seed"  # runs that differ in it alone are one run, repeated
RATIOS = ("norm_growth",)  # their mean is geometric: a half and a double make no growth
OF_RUNS = frozenset((  # what every run has, however it ended; whatever else there is was measured of its model
    "outcome", "phase", "last_step", "diverged_step", "seconds", "tokens_per_second", "attempts", "deaths", "session",
    "host", "reason"))
