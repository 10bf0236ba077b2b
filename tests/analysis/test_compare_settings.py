"""What two sweeps differ in: keys, keys of a `together` axis, the boundary that they looked for; not texts."""

import numpy as np
import pytest
import xarray as xr
from compared import made
from normsweep import compare, comparison_text, names
from normsweep.join import FREE
from normsweep.shared_grid import NOT_SETTINGS

pytestmark = pytest.mark.thorough("compares many whole datasets")

SAME = "All keys of the sweep file are the same"


def differ(a, b):
    found = compare(a, b)
    assert (SAME in comparison_text(found)) == (not found.attrs["differ"])
    return found.attrs["differ"]


@pytest.mark.parametrize("name, one, two, text", [
    ("optimiser", "adamw", "sgd", "optimiser (adamw, sgd)"), ("steps", np.int64(10), np.int64(20), "steps (10, 20)"),
    ("bias", np.int8(0), np.int8(1), "bias (false, true)"), ("threads", np.int64(1), np.int64(1), ""),
    ("beta1", 0.9, 0.95, "beta1 (0.9, 0.95)")])
def test_keys_that_differ(name, one, two, text):
    assert differ(made().assign_attrs({name: one}), made().assign_attrs({name: two})) == text


@pytest.mark.parametrize("one, two, names", [
    ({"seeds": (0,)}, {}, "seed"), ({}, {"seeds": (2, 1, 0)}, ""), ({"seeds": (3, 4, 5)}, {}, "seed"),
    ({"rates": [0.1, 0.01]}, {"seeds": (0, 1)}, "learning_rate, seed"),
    ({"rates": [0.1 * (1 + 1e-12), 0.01, 0.001]}, {}, ""), ({"decays": [10.0, 1.0]}, {"decays": [10.0, 0.1]},
                                                            "weight_decay")])
def test_values_of_axes_that_differ(one, two, names):
    """Axes of which only a part is compared are not said to be the same."""
    found = compare(made(**one), made(**two))
    assert found.attrs["differ"] == "" and found.attrs["differ_in_values"] == names
    line = comparison_text(found).splitlines()[0]
    assert line == f"{SAME}, but for the values of {names}." if names else line == f"{SAME}."
    other = compare(made(**one).assign_attrs(optimiser="adamw"), made(**two).assign_attrs(optimiser="sgd"))
    said = "They differ in optimiser (adamw, sgd)" + (f", and in the values of {names}." if names else ".")
    assert comparison_text(other).splitlines()[0] == said


def test_an_axis_of_one_value_and_a_fixed_key_are_the_same():
    both = made(seeds=(0,))
    fixed = both.isel(seed=0, drop=True).assign_attrs(seed=np.int64(0))
    assert compare(both, fixed).attrs["differ_in_values"] == "" == compare(fixed, both).attrs["differ_in_values"]
    assert [compare(*pair).attrs["differ_in_values"] for pair in ((made(), fixed), (fixed, made()))] == ["seed"] * 2


def test_texts_are_not_keys():
    """The same attributes are left out here, where files are joined, and in reports."""
    texts = [name for name in names.GENERAL if name not in ("source", names.DIGEST)]
    a, b = (made().assign_attrs({name: f"{name} {side}" for name in texts}) for side in "ab")
    assert differ(a, b) == "" and {"sweep_notes", "sweep_title", "title"} <= NOT_SETTINGS
    assert NOT_SETTINGS == {*names.GENERAL} - {names.DIGEST}
    assert FREE == NOT_SETTINGS - {"format_version"} | {"save_weights"}
    assert differ(a.assign_attrs(data_digest="12345678ab", vocabulary=9),
                  b.assign_attrs(data_digest="87654321ab", vocabulary=7)) == (
        "vocabulary (9, 7), the content of the corpus (12345678…, 87654321…)"), "digests come last"


def models(labels, widths, **attributes):
    """A sweep over a `together` axis."""
    dims = xr.DataArray(np.array(labels, object), dims="model", name="model")
    whole = xr.concat([made(boundary=1.0 + place) for place in range(len(labels))], dims)
    whole.attrs = {**made().attrs, **attributes}
    return whole.assign_coords(width=("model", widths)).transpose(..., "model")


def test_labels_that_mean_other_values():
    a = models(["small", "large"], [8, 16])
    assert differ(a, a) == ""
    apart = "width of model small (8, 4), width of model large (16, 32)"
    assert differ(a, models(["large", "small"], [32, 4])) == apart
    assert differ(a, models(["small", "other"], [8, 99])) == ""
    assert differ(a.sel(model="small"), models(["small", "large"], [4, 16]).sel(model="small")) == "width (8, 4)"


def test_a_key_of_labels_that_is_fixed_in_the_other():
    a = models(["small", "large"], [8, 16])
    b = models(["small", "large"], [8, 16]).drop_vars("width").assign_attrs(width=np.int64(8))
    assert differ(a, b) == "width of model large (16, 8)" and differ(b, a) == "width of model large (8, 16)"


def test_a_truth_value_of_an_axis_and_of_an_attribute():
    both = xr.concat([made(), made()], xr.DataArray([False, True], dims="bias", name="bias"))
    assert differ(both, made().assign_attrs(bias=np.int8(0))) == ""
    assert differ(both.sel(bias=True), made().assign_attrs(bias=np.int8(0))) == "bias (true, false)"
