"""How often do the norms of one run, or of two, predict the boundary of their column to 20 %?"""

import numpy as np
from scipy.stats import binomtest

from study import number, small

LONGER = "steps=480", "measure={every: 16}"
BYTES = ("corpus=bytes", "vocabulary=null", "corpus_tokens=null", "train_text=wiki.valid.tokens",
         "valid_text=wiki.test.tokens")
SWEEPS = {"markov_120": small("boundary-study"), "markov_480": small("boundary-study", *LONGER),
          "bytes_120": small("boundary-study", *BYTES), "bytes_480": small("boundary-study", *BYTES, *LONGER)}
METHODS = {"one run": dict(runs=1), "two runs": dict(runs=2), "two runs, linear in the decay":
           dict(runs=2, linear_in="decay")}


def numbers(**datasets):
    found = [columns(dataset) for dataset in datasets.values()]
    for method in METHODS:
        for name, column in zip(datasets, found):
            yield share(f"columns within 20 %, {method}, {name}", column[method])
        yield share(f"columns within 20 %, {method}", np.concatenate([column[method] for column in found]))
    sure = np.concatenate([column["sure"] for column in found])
    near = np.concatenate([column["two runs"] for column in found])
    yield share("columns within 20 % whose prediction is 1 to 2 times the second decay", near[sure])
    yield share("columns within 20 % of the others", near[~sure])


def columns(dataset):
    """Of the columns that learn: is each prediction within 20 %, and that of two runs 1 to 2 times the second decay?"""
    runs = dataset.sweep.with_axes("norm_placement", "learning_rate", "weight_decay", "seed").sortby("weight_decay")
    measured = runs.sweep.boundary().each
    gain = runs.unigram_loss - runs.final_valid_loss
    near = gain.sel(weight_decay=measured.fillna(runs.weight_decay.min()), method="pad")
    learns = (gain.isel(weight_decay=0) > 0.1) & (near > 0.1) & measured.notnull()
    chosen = learns.values.ravel()
    found = {}
    for name, options in METHODS.items():
        predicted = runs.sweep.predicted_boundary(**options)
        ratio = (predicted.each / measured).transpose(*learns.dims)
        found[name] = (np.abs(ratio - 1) < 0.2).values.ravel()[chosen]
        if name == "two runs":
            times = (predicted.each / predicted.second).transpose(*learns.dims).values.ravel()[chosen]
            found["sure"] = (times >= 1) & (times <= 2)
    return found


def share(name, hits):
    low, high = binomtest(int(hits.sum()), hits.size).proportion_ci(method="exact")
    return number(name, hits.mean(), low, high, f"Clopper and Pearson's 95 % of {hits.size} columns")
