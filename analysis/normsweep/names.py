"""The names in a dataset that this package has to know, each once; tests compare them with the program's tables."""

SOURCE = "normsweep"  # the global attribute `source` of every dataset
FORMAT = 15  # `format_version` of datasets and weights files; a file of another one is refused
NETWORK_SOURCE = "normsweep inspect"  # that of a network of others
OUTCOMES = ("pending", "running", "done", "diverged", "failed", "skipped")
DONE = OUTCOMES.index("done")
PHASE_AXES = ("learning_rate", "weight_decay")
DERIVED, TIMESCALE = "weight_decay", "timescale"  # in a sweep of the latter, the former is a coordinate that follows
REPEAT = "seed"  # runs that differ only in it are repeats of one run
NATURE = "nature"  # the attribute that says what kind of number a variable is
NATURES = {  # for each: is its scale never logarithmic, is its mean geometric (1/2 and 2 cancel)?
    "record": (False, False), "fresh": (True, False), "magnitude": (False, False), "ratio": (False, True),
    "share": (True, False), "r_squared": (False, False)}
FLAGS, NUMBERS, TEXTS = "iu", "iuf", "OSTU"  # numpy's kinds; xarray reads integers with a fill value as reals
OF_RUNS = {  # what every run has, however it ended; all other variables were measured on its model
    "outcome": FLAGS, "phase": FLAGS, "last_step": NUMBERS, "diverged_step": NUMBERS, "ended_early": FLAGS,
    "seconds": NUMBERS, "tokens_per_second": NUMBERS, "attempts": NUMBERS, "deaths": NUMBERS, "session": NUMBERS,
    "worker": NUMBERS, "begin": NUMBERS, "end": NUMBERS, "host": TEXTS, "reason": TEXTS}
FITTED = {"dynamics": FLAGS}  # fitted to a run's norms, in words
GENERAL = (  # attributes that are not settings of a run
    "Conventions", "title", "sweep_title", "sweep_notes", "source", "history", "references", "format_version",
    "configuration_digest", "data_digest", "refine", "part", "sweep")
PART = "part"  # the attribute of a part of a sweep
DIGEST = "data_digest"  # of them, the one that numbers depend on
PRECISION = "training_precision"  # float32 or float64: the program's, and not a key either; numbers depend on it
MEASURING = (  # what is measured, and when: keys that are no parameters of runs
    "measure", "validate", "gradient_batches", "hessian", "spectra", "lyapunov_exponents", "lyapunov_sweeps")
FIXED = (  # attributes whose keys cannot be an axis, though numbers depend on them
    "format_version", "data_digest", *MEASURING, "corpus", "min_count", "vocabulary", "corpus_tokens", "train_share",
    "corpus_seed", PRECISION)
TRUTHS = ("qk_norm", "gated", "bias", "output_bias", "tied", "zero_query_key")  # keys of true or false
SESSION_NUMBERS = (  # the others are texts
    "session_begin", "session_end", "session_seconds_left", "session_tokens_per_second", "session_workers",
    "session_runs")
TIMES = ("worker", "begin", "end")  # of a run's last attempt
SESSION_TIMES, SESSION_WORKERS = ("session_begin", "session_end"), "session_workers"
SESSION_START = "session_start"  # "" in rows of the table that no session has used
SESSIONS, SESSION = "sessions", "session_"  # the dimension of sessions, and the prefix of their variables
