"""Are steps orthogonal to the parameters? Their mean cosine, for four optimisers, and AdamW's beside chance."""

import numpy as np

from study import number, small

SWEEPS = {"small": small("figure5-alignment")}
ROOM = 0.005  # of a mean cosine with one seed


def numbers(small):
    for recipe in small.recipe.values:
        cosine = small.update_alignment.sel(recipe=recipe)
        yield mean_cosine(f"mean cosine, {recipe}", cosine)
        largest = np.abs(cosine).max("step")
        yield number(f"largest cosine, {recipe}", largest, 0.7 * largest, 1.3 * largest, "± 30 %")
    adamw = small.sel(recipe="adamw")
    late = adamw.isel(step=adamw.step > adamw.step[-1].item() / 2)
    yield mean_cosine("mean cosine by chance, adamw", adamw.update_alignment_null)
    yield mean_cosine("mean cosine in the second half, adamw", late.update_alignment)
    yield mean_cosine("mean cosine by chance in the second half, adamw", late.update_alignment_null)
    yield number("largest error of the balance", small.balance_error.max(), 0, 1e-13, "at most 1e-13")


def mean_cosine(name, values):
    mean = values.mean("step")
    return number(name, mean, mean - ROOM, mean + ROOM, f"± {ROOM}")
