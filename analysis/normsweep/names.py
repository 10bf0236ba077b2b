"""Names that a dataset has and this package has to know, each once; tests hold them to the program's tables."""

SOURCE = "normsweep"  # the global attribute `source` of every dataset of ours
OUTCOMES = ("pending", "running", "done", "diverged", "failed", "skipped")
DONE = OUTCOMES.index("done")
PHASE_AXES = ("learning_rate", "weight_decay")
REPEAT = "seed"  # runs that differ in it alone are one run, repeated
NATURE = "nature"  # the attribute that says what kind of number a variable is
NATURES = {  # of each: is its scale never logarithmic, is its mean geometric (a half and a double make no growth)?
    "record": (False, False), "fresh": (True, False), "magnitude": (False, False), "ratio": (False, True),
    "share": (True, False), "r_squared": (False, False)}
BEFORE_NATURES = {"norm_growth": "ratio"}  # of datasets without that attribute; the rest is drawn as its numbers are
FLAGS, NUMBERS, TEXTS = "iu", "iuf", "OSTU"  # numpy's kinds of values; whole numbers with a fill value come as reals
OF_RUNS = {  # what every run has, however it ended; whatever else there is was measured of its model
    "outcome": FLAGS, "phase": FLAGS, "last_step": NUMBERS, "diverged_step": NUMBERS, "seconds": NUMBERS,
    "tokens_per_second": NUMBERS, "attempts": NUMBERS, "deaths": NUMBERS, "session": NUMBERS, "host": TEXTS,
    "reason": TEXTS}
FITTED = {"dynamics": FLAGS}  # of its norms, in words
SESSION_NUMBERS = ("session_seconds_left", "session_tokens_per_second", "session_workers")  # the others are texts
SESSIONS, SESSION = "sessions", "session_"  # their dimension, and what the names of their variables begin with
