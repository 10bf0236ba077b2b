"""A dataset of encoder-decoders, made up: in xarray, in `show`, `status` and the scripts, and altered."""


import numpy as np
import pytest
import xarray as xr
from altered import Content
from conftest import NORMSWEEP, run
from test_dataset import sample
from normsweep import open_sweep

pytestmark = pytest.mark.thorough("starts the program for every picture")

RUN = "steps: 20\nwidth: 8\nheads: 2\nlayers: 2\n"
SWEEP = "title: Two stacks\ncorpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 8\nbatch: 2\n" + RUN + (
    "learning_rate: [0.1, 0.01]\n"
    "together:\n"
    "  kind:\n"
    "    left: {network: decoder, objective: next, decoder_layers: 0}\n"
    "    right: {network: encoder, objective: masked, decoder_layers: 0}\n"
    "    both: {network: encoder_decoder, objective: spans, decoder_layers: 3}\n"
    "measure: {every: 10, metrics: [norms, residual]}\n")
GRID = ("learning_rate", "kind")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return sample(tmp_path_factory.mktemp("stacks") / "a.nc", SWEEP)


@pytest.fixture
def ds(path):
    with xr.open_dataset(path) as dataset:
        yield dataset


def test_dimensions(ds):
    assert list(ds["stack"].values) == ["encoder", "decoder"] and ds.sizes["layer"] == 3 and ds.sizes["depth"] == 4
    assert ds.layer_norm.dims == (*GRID, "step", "stack", "layer")
    assert ds.tensor_norm.dims == (*GRID, "step", "stack", "layer", "tensor")
    assert ds.stack_norm.dims == ds.residual_growth.dims == (*GRID, "step", "stack")
    assert ds.param_norm.dims == (*GRID, "step")
    assert ds["tensor"].values[-1] == "cross_ln_bias"


def test_each_network_has_its_own_places(ds):
    def seen(kind, stack):
        return ds.layer_norm.sel(kind=kind, stack=stack).isel(learning_rate=0, step=0).notnull().values.tolist()

    assert seen("left", "encoder") == seen("right", "decoder") == [False] * 3
    assert seen("left", "decoder") == seen("right", "encoder") == [True, True, False]
    assert seen("both", "decoder") == [True] * 3
    first = ds.isel(learning_rate=0, step=0)  # a made-up row counts its values
    assert np.diff(first.stack_norm.sel(kind="both").values) == 1
    assert np.isnan(first.stack_norm.sel(kind="left", stack="encoder"))


def test_words_are_coordinates(path):
    content = Content(path)
    words = content["tensor_norm"].attributes["coordinates"].split()
    assert words[-2:] == ["stack", "tensor"] and content["layer_norm"].attributes["coordinates"].split()[-1] == "stack"
    assert "stack" not in content["param_norm"].attributes["coordinates"].split()
    assert content["stack"].attributes["long_name"] == "stack"


def test_show_and_status(path):
    shown = run(NORMSWEEP, "show", path, "stack_norm", "--over", "kind,stack").stdout
    assert "encoder" in shown and "decoder" in shown and "\nlearning_rate=0.01\n" in shown
    shown = run(NORMSWEEP, "show", path, "layer_norm", "--over", "kind").stdout
    assert "at the last step that has a value\nmean over stack, layer\n" in shown
    shown = run(NORMSWEEP, "show", path, "layer_norm", "--at", "stack=decoder,layer=2", "--over", "kind,step").stdout
    assert "layer_norm at stack=decoder, layer=2: Two stacks\n" in shown
    error = run(NORMSWEEP, "show", path, "layer_norm", "--at", "stack=left", status=2).stderr
    assert "no stack 'left'; it is one of encoder, decoder" in error
    assert "intact" in run(NORMSWEEP, "status", path).stdout


def test_in_the_module(path):
    with open_sweep(path) as dataset:
        plane = dataset.sweep.pivot("stack_norm", stack="decoder")
        assert np.isnan(plane.sel(kind="right")).all() and np.isfinite(plane.sel(kind="left", learning_rate=0.1))
        frame = dataset.sweep.table()
        last = dataset.stack_norm.isel(step=-1).sel(stack="encoder").values.ravel()
        assert frame["stack_norm_encoder_last"].values.tobytes() == last.tobytes()
        assert "residual_growth_decoder_last" in frame and "stack_norm_last" not in frame
        assert "layer_norm_encoder_last" not in frame


@pytest.mark.parametrize("word, fault", [(b"decoding", "stack is 'decoding' at place 1 and not 'decoder'"),
                                         (b"encoder", "stack is 'encoder' at place 1 and not 'decoder'")])
def test_altered_words_are_refused(path, tmp_path, word, fault):
    content = Content(path)
    letters = content["stack"].values
    content.dimensions[content["stack"].dimensions[1]] = 8
    content["stack"].values = np.array([list("encoder\0"), list(word.decode().ljust(8, "\0"))], "S1")
    assert letters.shape[0] == 2
    content.write(tmp_path / "a.nc")
    (tmp_path / "a.yaml").write_text(SWEEP)
    error = run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=tmp_path, status=2).stderr
    assert fault in error
