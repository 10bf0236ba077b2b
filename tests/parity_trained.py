"""`normsweep inspect` beside the library that defines the families of trained networks: see tests/trained.py.

    parity_trained.py [-v] [FAMILY ...]    prints the worst differences of each family, in double and float; -v: where
"""
import argparse
import copy
import math
import pathlib
import tempfile

import netCDF4
import numpy as np
import torch

import trained
from conftest import BUILD, run, script

PROGRAMS = {"double": "normsweep-double", "float": "normsweep"}
QUANTITIES = {
    "states": ("state",),
    "loss": ("valid_loss", "accuracy", "predicted_entropy"),
    "saturation": ("saturation", "saturation_final", "hard_saturation", "hard_saturation_final"),
    "heads": ("positions_attended", "fraction_attended", "share_above_one"),
    "norms": ("layer_norm",),
}
QUANTITY = {name: quantity for quantity, names in QUANTITIES.items() for name in names}
PER_STACK = {name for name, quantity in QUANTITY.items() if quantity not in ("states", "loss")}


def save(model, folder, dtype=torch.float32, **options):
    copy.deepcopy(model).to(dtype).save_pretrained(folder, **options)
    return model


def write_ids(folder, lines):
    (folder / "ids.txt").write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))


def options_of(family):
    special = {"masked": ["--mask", trained.MASK], "spans": ["--sentinel", trained.vocabulary(family) - 1]}
    return ["--context", trained.context(family), *special.get(trained.objective(family), [])]


def read_states(path):
    """Of each stack its states after so many blocks, and its output, [rows, C] each."""
    with netCDF4.Dataset(path) as data:
        state, output, token = (np.ma.filled(data[name][:], np.nan if name != "token" else -1)
                                for name in ("state", "output", "token"))
    if token.ndim == 1:
        state, output, token = state[None], output[None], token[None]
    out = []
    for stack in range(len(token)):
        rows = token[stack] >= 0
        depths = [state[stack][rows, depth] for depth in range(state.shape[2])]
        out.append([depth for depth in depths if not np.isnan(depth).all()] + [output[stack][rows]])
    return out


def read_dataset(path):
    """{(name, stack, layer, head): value} of the file's variables that are compared."""
    out = {}
    with netCDF4.Dataset(path) as data:
        for name in QUANTITY.keys() & data.variables.keys() - {"state"}:
            dimensions = data[name].dimensions
            for index, value in np.ndenumerate(np.ma.filled(data[name][...], np.nan)):
                at = dict(zip(dimensions, index))
                alone = 0 if name in PER_STACK else "-"
                if not np.isnan(value):
                    out[name, at.get("stack", alone), at.get("layer", "-"), at.get("head", "-")] = float(value)
    return out


def inspect(scalar, folder, *options):
    """(values, states) of the model in a folder, on its ids.txt."""
    out, weights = folder / f"{scalar}.nc", folder / "net.weights.nc"
    script("weights", "import", folder, "-o", weights)
    run(BUILD / PROGRAMS[scalar], "inspect", weights, "--tokens", folder / "ids.txt", "-o", out, "--states", *options)
    return read_dataset(out), read_states(out)


def block_norms(model):
    """{(name, stack, layer, head): norm} of each block; T5's table of positions is not one of its first block."""
    out = {}
    for stack, blocks in enumerate(trained.stacks_of(model)):
        for layer, block in enumerate(blocks):
            squares = [float((tensor.double()**2).sum()) for name, tensor in block.named_parameters()
                       if not any(word in name for word in ("relative_attention_bias", "r_s_bias", "seg_embed"))]
            out["layer_norm", stack, layer, "-"] = math.sqrt(sum(squares))
    return out


def state_differences(found, states):
    """[(where, difference)]; the program keeps the states of the first sequences."""
    assert len(found) == len(states)
    for stack, (mine, there) in enumerate(zip(found, states)):
        assert len(mine) == len(there), (len(mine), len(there))
        for depth, (a, b) in enumerate(zip(mine, there)):
            b = b[:len(a)].numpy()
            assert len(a) and a.shape == b.shape
            yield ("state", stack, depth, "-"), np.abs(a - b).max() / np.abs(b).max()


def value_differences(values, expected):
    assert values.keys() == expected.keys(), values.keys() ^ expected.keys()
    for where, want in expected.items():
        scale = want if where[0] == "layer_norm" else max(1, abs(want))
        yield where, abs(values[where] - want) / scale


def compare(family, model, scalar, folder, lines=None):
    """[(where, difference)] of everything that the program says of a model that is saved in a folder, on a stream of
    words or on lines, each a sequence."""
    if lines:
        write_ids(folder, lines)
        pieces = trained.cut(family, lines)
    else:
        ids = trained.text(family)
        write_ids(folder, [ids[i:i + 20] for i in range(0, len(ids), 20)])
        pieces = trained.windows(family, ids)
    states, expected = trained.measure(model, family, pieces)
    values, found = inspect(scalar, folder, *options_of(family), *(["--lines"] if lines else []))
    return [*state_differences(found, states), *value_differences(values, expected | block_norms(model))]


def worst(differences):
    """{quantity: (difference, where)}"""
    out = {}
    for where, difference in differences:
        difference = math.inf if math.isnan(difference) else difference
        quantity = QUANTITY[where[0]]
        out[quantity] = max(out.get(quantity, (-1, None)), (difference, where), key=lambda pair: pair[0])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("family", nargs="*")
    options = parser.parse_args()
    print(f"{'family':20}" + "".join(f"{name:>11}" for name in QUANTITIES) + "  program")
    for family in options.family or trained.FAMILIES:
        for scalar in PROGRAMS:
            with tempfile.TemporaryDirectory() as folder:
                model = trained.make(family)
                found = worst(compare(family, save(model, folder), scalar, pathlib.Path(folder)))
            cells = "".join(f"{found[name][0]:11.1e}" if name in found else f"{'-':>11}" for name in QUANTITIES)
            print(f"{family:20}{cells}  {scalar}", flush=True)
            if options.v:
                print("\n".join(f"    {name}: {found[name]}" for name in found))


if __name__ == "__main__":
    main()
