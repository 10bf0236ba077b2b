"""What `normsweep inspect` writes, and how it reads a text: a page, lines, JSON and a dataset of the same values."""
import json

import gpt2
import netCDF4
import numpy as np
import pytest
import torch
import xarray as xr
import reference
from conftest import BUILD, PROJECT, run
from test_inspect import CONFIG, CONTEXT, HEADS, IDS, table, write

pytestmark = pytest.mark.thorough("measures networks of every family in PyTorch as well")

NAMES = ("net.weights.nc", "--tokens", "ids.txt")


def inspect(folder, *arguments, program="normsweep", **options):
    return run(BUILD / program, "inspect", *arguments, cwd=folder, **options)


@pytest.fixture(name="model")
def model_of(tmp_path):
    return write(tmp_path, gpt2.random_weights(), config=CONFIG)


def flat(data):
    return [number for part in data for number in flat(part)] if isinstance(data, list) else [data]


def test_the_same_everywhere(tmp_path, model):
    text = json.loads(inspect(tmp_path, *NAMES, "--json", "-o", "out.nc").stdout)
    told = xr.Dataset.from_dict(text).astype(float)
    numbers = [number for one in text["data_vars"].values() for number in flat(one["data"])]
    assert {type(number) for number in numbers} <= {float, type(None)}
    assert all(type(number) is int for number in text["coords"]["layer"]["data"])
    with xr.open_dataset(tmp_path / "out.nc") as written:
        assert set(told) == set(written) and dict(told.sizes) == dict(written.sizes)
        for name in written:
            assert told[name].dims == written[name].dims
            np.testing.assert_array_equal(told[name].values, written[name].values)
        for name in written.coords:
            assert list(told[name].values) == list(written[name].values)
        assert written.attrs["parameters"] == sum(tensor.numel() for tensor in model.values())
        assert {name: written.attrs[name] for name in text["attrs"]} == text["attrs"]


def test_dataset(tmp_path, model):
    inspect(tmp_path, *NAMES, "-o", "out.nc")
    (tmp_path / "sweep.yaml").write_text("corpus: markov\nlayers: 1\nwidth: 8\nheads: 2\nfeedforward: 8\ncontext: 8\n"
                                         "batch: 2\nvocabulary: 9\ncorpus_tokens: 99\nsteps: 1\n"
                                         "measure: {metrics: [norms, saturation, heads]}\n")
    run(BUILD / "normsweep", "run", "sweep.yaml", "-o", "sweep.nc", "-j", "0", cwd=tmp_path)
    with netCDF4.Dataset(tmp_path / "out.nc") as ours, netCDF4.Dataset(tmp_path / "sweep.nc") as sweep:
        assert ours.data_model == "NETCDF3_64BIT_DATA" and ours.Conventions == sweep.Conventions
        assert (ours.source, ours.family, ours.file, ours.text) == (
            "normsweep inspect", "gpt2", "net.weights.nc", "ids.txt")
        assert (ours.references, ours.title) == (sweep.references, "gpt2, net.weights.nc")
        for name, variable in ours.variables.items():
            like = sweep.variables[name]
            assert [dim for dim in like.dimensions if dim != "step"] == list(variable.dimensions) or (
                name in ours.dimensions and name == "tensor")
            assert (variable.dtype, variable.units) == (like.dtype, like.units)
            for attribute in ("long_name", "comment", "nature"):
                assert getattr(variable, attribute, "") == getattr(like, attribute, "")


def test_norms_alone(tmp_path, model):
    inspect(tmp_path, "net.weights.nc", "-o", "out.nc")
    with xr.open_dataset(tmp_path / "out.nc") as written:
        assert set(written) == {"param_norm", "embedding_norm", "output_norm", "total_norm", "layer_norm",
                                "tensor_norm"}
        assert set(written.dims) == {"layer", "tensor"} and "tokens" not in written.attrs
        assert written.attrs["heads"] == HEADS and "lines" not in written.attrs


@pytest.mark.parametrize("output", [None, "zero", "own"])
def test_output_of_a_page(tmp_path, output):
    weights = gpt2.random_weights(tied=output != "own")
    write(tmp_path, weights, prefix="transformer.", config=CONFIG)
    page = inspect(tmp_path, "net.weights.nc").stdout
    norm = "tied" if output != "own" else f"{weights['lm_head.weight'].norm():.6g}"
    assert f", output {norm}, everything " in page


def test_other_commands_on_a_network(tmp_path, model):
    inspect(tmp_path, "net.weights.nc", "-o", "out.nc")
    for command in ("show", "status"):
        assert run(BUILD / "normsweep", command, "out.nc", cwd=tmp_path, status=2).stderr == (
            "out.nc: of normsweep inspect, not of a sweep; draw it with analysis/figures\n")


def test_states(tmp_path, model):
    """Of the first windows, as many as fit in 256 rows: here all nine."""
    inspect(tmp_path, *NAMES, "-o", "out.nc", "--states", program="normsweep-double")
    inputs = torch.tensor(IDS[: 9 * CONTEXT]).view(9, CONTEXT)
    real = torch.ones(inputs.shape, dtype=torch.bool)
    passed, = reference.forward(*gpt2.as_reference(model, HEADS), [reference.Sequences(inputs, real)])
    expected = torch.stack(passed.states).flatten(1, 2).transpose(0, 1)
    with xr.open_dataset(tmp_path / "out.nc") as written:
        assert written.state.dims == ("position", "depth", "width")
        np.testing.assert_allclose(written.state.values, expected.numpy(), rtol=0, atol=1e-10)
        np.testing.assert_allclose(written.output.values, passed.final.flatten(0, 1).numpy(), rtol=0, atol=1e-10)
        assert written.token.values.tolist() == inputs.flatten().tolist()
        assert written.sequence.values.tolist() == [i // CONTEXT for i in range(9 * CONTEXT)]


def test_names_before_the_end(tmp_path, model):
    """What a killed process of the same number left stays, and a link there is not followed."""
    (tmp_path / "target").write_text("mine")
    script = 'echo left > out.nc.$$.new && ln -s target out.nc.$$.1.new && exec "$@"'
    run("sh", "-c", script, "sh", BUILD / "normsweep", "inspect", *NAMES, "-o", "out.nc", cwd=tmp_path)
    left = sorted(tmp_path.glob("out.nc.*"))
    assert [path.read_text() for path in left] == ["mine", "left\n"] and left[0].is_symlink()
    assert (tmp_path / "target").read_text() == "mine" and xr.open_dataset(tmp_path / "out.nc").window == CONTEXT


def test_an_output_is_replaced(tmp_path, model):
    inspect(tmp_path, "net.weights.nc", "-o", "out.nc")
    inspect(tmp_path, *NAMES, "-o", "out.nc")
    with netCDF4.Dataset(tmp_path / "out.nc") as written:
        assert "saturation" in written.variables
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "config.json", "ids.txt", "model.safetensors", "net.weights.nc", "out.nc"]


def foreign(path):
    path.write_text("mine")


def folder(path):
    path.mkdir()


def sweep(path):
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as made:
        made.source = "normsweep"


NOT_OURS = "out.nc: exists, and normsweep inspect did not write it; give another -o"
OUTPUTS_REFUSED = {foreign: NOT_OURS, sweep: NOT_OURS, folder: "out.nc: Is a directory"}


@pytest.mark.parametrize("make", OUTPUTS_REFUSED)
def test_refused_outputs(tmp_path, model, make):
    make(tmp_path / "out.nc")
    done = inspect(tmp_path, *NAMES, "-o", "out.nc", status=2)
    assert (done.stdout, done.stderr) == ("", OUTPUTS_REFUSED[make] + "\n")


REFUSED = {
    ("-o", "none/out.nc"): "none/out.nc: No such file or directory",
    ("--states",): "normsweep inspect: --states needs -o OUT.nc, too",
    ("--mask", "3"): "net.weights.nc: --mask is for encoders; this is not one",
    ("--sentinel", "3"): "net.weights.nc: --sentinel is for encoder-decoders; this is not one",
    ("--mask", "x"): "normsweep inspect: --mask takes a token id and not 'x'",
}


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_refused_options(tmp_path, model, arguments):
    done = inspect(tmp_path, *NAMES, *arguments, status=2)
    assert (done.stdout, done.stderr) == ("", REFUSED[arguments] + "\n")


def test_options_of_a_text_need_one(tmp_path, model):
    for option in (("--lines",), ("--mask", "3"), ("--sentinel", "3"), ("--states", "-o", "out.nc"),
                   ("--context", "3")):
        done = inspect(tmp_path, "net.weights.nc", *option, status=2)
        assert done.stderr == f"normsweep inspect: {option[0]} needs a text; give --tokens IDS, too\n"


# The text


def test_lines(tmp_path, model):
    """Each line is a sequence, cut to the window; one of a single token has nothing to predict."""
    lines = [IDS[:5], IDS[5:6], [], IDS[6:30], IDS[30:32]]
    (tmp_path / "ids.txt").write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
    found = table(inspect(tmp_path, *NAMES, "--lines", "--json", program="normsweep-double").stdout)
    parts = [(line[: min(len(line), CONTEXT + 1)]) for line in lines if len(line) > 1]
    measured = [gpt2.text_measures(model, part, HEADS, "gelu_new", len(part) - 1) for part in parts]
    rows = [len(part) - 1 for part in parts]
    assert found["tokens", "-", "-", "-"] == sum(rows)
    mean = np.mean([one["valid_loss", "-", "-", "-"] for one in measured])
    assert abs(found["valid_loss", "-", "-", "-"] - mean) < 1e-8
    for key in measured[0]:
        if key[0] in ("saturation", "hard_saturation", "saturation_final", "positions_attended", "fraction_attended",
                      "share_above_one", "accuracy"):
            assert abs(found[key] - np.average([one[key] for one in measured], weights=rows)) < 1e-8, key


def test_what_is_left_out_is_said(tmp_path, model):
    """Of a stream, 9 windows and a last target; of lines, what lies behind the window."""
    assert f"108 tokens in 9 sequences of at most 12; the last {len(IDS) - 109} tokens left out\n" in inspect(
        tmp_path, *NAMES).stdout
    attrs = json.loads(inspect(tmp_path, *NAMES, "--json").stdout)["attrs"]
    assert (attrs["tokens_left_out"], attrs["lines"]) == (len(IDS) - 109, "false") and "lines_cut" not in attrs
    (tmp_path / "ids.txt").write_text("1 " * 13 + "\n" + "1 " * 14 + "\n" + "1 " * 5)
    assert "28 tokens in 3 sequences of at most 12; 1 line cut\n" in inspect(tmp_path, *NAMES, "--lines").stdout
    attrs = json.loads(inspect(tmp_path, *NAMES, "--lines", "--json").stdout)["attrs"]
    assert (attrs["lines_cut"], attrs["lines"]) == (1, "true") and "tokens_left_out" not in attrs
    (tmp_path / "ids.txt").write_text("1 " * 13)
    assert "12 tokens in 1 sequence of at most 12\n" in inspect(tmp_path, *NAMES).stdout


def test_a_loss_worse_than_guessing(tmp_path):
    """Equal words are guessed exactly, which is not worse; one that is never predicted is."""
    weights = gpt2.random_weights(tied=False)
    weights["lm_head.weight"] *= 0
    note = "the loss is worse than guessing: are the ids those of this network's tokenizer?"
    for bad in (False, True):
        if bad:
            weights["ln_f.weight"] *= 0
            weights["lm_head.weight"][7] = -weights["ln_f.bias"]
        write(tmp_path, weights, prefix="transformer.", config=CONFIG, ids=[7] * 30)
        done = inspect(tmp_path, *NAMES, "--json")
        assert (json.loads(done.stdout)["attrs"].get("comment") == note) == bad
        assert (f"note        {note}\n" in inspect(tmp_path, *NAMES).stdout) == bad


def test_lines_without_a_target(tmp_path, model):
    (tmp_path / "ids.txt").write_text("1\n\n2\n")
    done = inspect(tmp_path, *NAMES, "--lines", status=2)
    assert done.stderr == "ids.txt: no line has 2 tokens, which a sequence needs\n"


def test_page(tmp_path, model):
    page = inspect(tmp_path, *NAMES).stdout
    values = table(inspect(tmp_path, *NAMES, "--json").stdout)
    rows = [line.split() for line in page.splitlines()]
    head, layers = rows[rows.index([]) + 1], rows[rows.index([]) + 2 :]
    assert head == "layer norm saturation hard positions fraction above one".split()
    for layer, row in enumerate(layers[:3]):
        means = [np.mean([values[name, layer, "-", head] for head in range(HEADS)])
                 for name in ("positions_attended", "fraction_attended", "share_above_one")]
        expected = [values[name, layer, "-", "-"] for name in ("layer_norm", "saturation", "hard_saturation")] + means
        assert row[0] == str(layer)
        np.testing.assert_allclose([float(text) for text in row[1:]], expected, rtol=1e-3, atol=1e-4)
    assert layers[3][0] == "final" and len(layers) == 4
    assert "net.weights.nc" not in page and "gpt2, decoder, 3 layers, width 16, 4 heads" in page


def test_broken_pipe_of_a_page(tmp_path, model):
    done = run("sh", "-c", f"{BUILD / 'normsweep'} inspect net.weights.nc -o out.nc >/dev/full", cwd=tmp_path,
               status=3)
    assert done.stderr == "normsweep: output: No space left on device\n"
    assert (tmp_path / "out.nc").exists()


# Figures


def test_figures(tmp_path, model):
    for name in ("a", "b"):
        inspect(tmp_path, *NAMES, "-o", f"{name}.nc", "--context", "12" if name == "a" else "5")
    script = PROJECT / "analysis" / "figures"
    drawn = run(script, "a.nc", "b.nc", "--format", "svg", cwd=tmp_path).stdout.splitlines()
    assert drawn == ["./a+b-saturation.svg", "./a+b-heads.svg"]
    for path in drawn:
        picture = (tmp_path / path).read_text()
        assert all(f">{name}</text>" in picture for name in ("a, window 12", "b, window 5"))
    drawn = run(script, "a.nc", "--only", "heads", "-o", "f", "--format", "svg", cwd=tmp_path).stdout
    assert drawn == "f/a-heads.svg\n" and ">gpt2</text>" in (tmp_path / "f" / "a-heads.svg").read_text()


def test_labels_tell_networks_apart(tmp_path, model):
    """Files of one name in different folders; a file without a text is named and left out."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        inspect(tmp_path, *NAMES, "-o", f"{name}/g.nc")
    inspect(tmp_path, "net.weights.nc", "-o", "norms.nc")
    done = run(PROJECT / "analysis" / "figures", "a/g.nc", "b/g.nc", "--format", "svg", cwd=tmp_path)
    assert done.stdout.split() == ["./g+g-saturation.svg", "./g+g-heads.svg"] and done.stderr == ""
    assert all(f">{name}/g</text>" in (tmp_path / "g+g-heads.svg").read_text() for name in ("a", "b"))
    done = run(PROJECT / "analysis" / "figures", "a/g.nc", "norms.nc", "--format", "svg", cwd=tmp_path)
    assert len(done.stdout.split()) == 2
    assert done.stderr == "figures: norms.nc: nothing to draw: it was measured without --tokens\n"


def test_figures_that_are_refused(tmp_path, model):
    inspect(tmp_path, "net.weights.nc", "-o", "a.nc")
    sweep(tmp_path / "b.nc")
    script = PROJECT / "analysis" / "figures"
    for only in ((), ("--only", "heads")):
        done = run(script, "a.nc", *only, cwd=tmp_path, status=1)
        assert (done.stdout, done.stderr) == ("", "figures: a.nc: nothing to draw: it was measured without --tokens\n")
    assert run(script, "a.nc", "b.nc", cwd=tmp_path, status=1).stderr == (
        "figures: b.nc: not a file of normsweep inspect\n")
    assert run(script, "a.nc", "--at", "seed=0", cwd=tmp_path, status=1).stderr == "figures: --at is for sweeps\n"
