"""The group hessian against the whole Hessian, by PyTorch's autograd in float64: eigenvalues, traces, the blocks of
layers, the edge of stability; the keys of hessian, and where it is measured."""
import functools
import math

import numpy as np
import pytest
import xarray as xr

import reference
import reference_measures
import reference_training
from conftest import sets, tiny, train_sweep
from parity import Run
from test_parity import BASE

pytestmark = pytest.mark.thorough("computes whole Hessians in PyTorch")

STEPS, PROBES, BATCHES, LANCZOS = 4, 3, 2, 120
TINY = BASE | {"steps": STEPS, "width": 4, "heads": 2, "feedforward": 5, "vocabulary": 7, "context": 5, "batch": 3,
               "corpus_tokens": 200, "learning_rate": 1e-2}
CASES = {
    "pre": {},
    "post-gelu": {"norm_placement": "post", "activation": "gelu"},
    "out-gelu_tanh": {"norm_placement": "out", "activation": "gelu_tanh", "init": "xavier"},
    "gated-tied": {"gated": True, "tied": True, "activation": "gelu"},
    "rmsnorm-plain-sgd": {"norm": "rmsnorm", "bias": False, "optimiser": "sgd", "momentum": 0.9},
    "multiplicative-adam": {"attention_mask": "multiplicative", "norm_placement": "post", "optimiser": "adam",
                            "warmup_steps": 3},
    "z-loss": {"z_loss": 0.1, "activation": "gelu", "tied": True},
    "mup-z-loss": {"parametrization": "mup", "base_width": 12, "z_loss": 0.03, "activation": "gelu"},
    "adafactor": {"optimiser": "adafactor", "norm_placement": "out"},
    "encoder": {"network": "encoder", "objective": "masked", "positions": "rotary", "score_scale": "none"},
    "encoder-decoder": {"network": "encoder_decoder", "objective": "spans", "positions": "relative", "layers": 1,
                        "decoder_layers": 2, "kv_heads": 1, "bias": False, "activation": "silu"},
}


class Trained(Run):
    """A run by the program, with the reference's Hessian at each of its states."""

    def __init__(self, case):
        super().__init__(TINY | CASES[case], record=1, measure=2, hessian=LANCZOS)

    @functools.lru_cache
    def hessian(self, step):
        return reference_measures.hessian(self.config, self.weights(step), self.batches[step : step + BATCHES])

    def layer(self, layer):
        shapes = reference.layout(self.config, self.vocabulary)
        return np.concatenate([np.full(math.prod(shape), at == layer) for _, at, shape in shapes])


@pytest.fixture(scope="module", params=CASES)
def trained(request):
    return Trained(request.param)


def bound(size, values):
    """hessian_bound of a matrix with these eigenvalues."""
    risk = math.sqrt(4 * math.log(2 * size / 0.05) / (size + 2) / PROBES)
    return max(12 / (LANCZOS - 0.5), risk) * (np.nanmax(values) - np.nanmin(values))


def check_spectrum(want, ritz, weight, trace, trace_error):
    """Eigenvalues and trace of one matrix; ritz, weight: [probe, lanczos]."""
    eigenvalues = np.linalg.eigvalsh(want)
    largest = np.abs(eigenvalues).max()
    assert np.nanmin(ritz) == pytest.approx(eigenvalues[0], abs=1e-6 * largest)
    assert np.nanmax(ritz) == pytest.approx(eigenvalues[-1], abs=1e-6 * largest)
    np.testing.assert_allclose(np.nansum(weight, 1), 1, rtol=1e-12)
    estimates = len(want) * np.nansum(weight * ritz, 1)
    assert trace == pytest.approx(estimates.mean(), abs=1e-10 * largest * len(want))
    spread = math.sqrt(2 * ((want ** 2).sum() - (np.diag(want) ** 2).sum()))  # of one probe, in closed form
    assert abs(trace - np.trace(want)) < 5 * spread / math.sqrt(PROBES)
    assert trace_error == pytest.approx(estimates.std(ddof=1) / math.sqrt(PROBES), rel=1e-8)
    return eigenvalues


def test_spectrum(trained):
    dump, size = trained.dump, len(trained.planes[0])
    for row, step in enumerate((0, 2, 4)):
        ritz, weight = (dump[f"hessian_{name}"][row].reshape(PROBES, LANCZOS) for name in ("ritz", "weight"))
        values = check_spectrum(trained.hessian(step), ritz, weight, dump["hessian_trace"][row][0],
                                dump["hessian_trace_error"][row][0])
        assert dump["hessian_largest"][row][0] == np.nanmax(ritz)
        assert dump["hessian_smallest"][row][0] == np.nanmin(ritz)
        assert size > LANCZOS > 12
        assert dump["hessian_bound"][row][0] == pytest.approx(bound(size, values), rel=1e-6)


def test_layers(trained):
    stacks = reference.stacks(trained.config)
    longest = max(stack.end - stack.begin for stack in stacks)
    places = [i * longest + layer for i, stack in enumerate(stacks) for layer in range(stack.end - stack.begin)]
    for row, step in enumerate((0, 2, 4)):
        whole = trained.hessian(step)
        of = {name: trained.dump[f"layer_hessian_{name}"][row].reshape(len(stacks) * longest, -1) for name in
              ("ritz", "weight", "trace", "trace_error", "bound", "largest", "smallest")}
        for layer, place in enumerate(places):
            rows, ritz = trained.layer(layer), of["ritz"][place].reshape(PROBES, LANCZOS)
            check_spectrum(whole[np.ix_(rows, rows)], ritz, of["weight"][place].reshape(PROBES, LANCZOS),
                           of["trace"][place, 0], of["trace_error"][place, 0])
            assert of["bound"][place] == pytest.approx(bound(rows.sum(), ritz), rel=1e-12)
            assert of["largest"][place] == np.nanmax(ritz)
            assert of["smallest"][place] == np.nanmin(ritz)
        assert all(np.isnan(np.delete(values, places, 0)).all() for values in of.values())


def preconditioners(trained):
    """{step: P} of adam after 2 and 4 steps of the reference."""
    config, found = trained.config, {}
    run = trained.reference()
    for t in range(1, STEPS + 1):
        run.step(t)
        second = [run.optimiser.state[tensor]["exp_avg_sq"] for tensor in run.weights.values()]
        v = reference.flat(second) / (1 - config["beta2"] ** t)
        factors = [np.full(tensor.numel(), reference_training.rate_factor(config, key, tensor))
                   for key, tensor in run.weights.items()]
        found[t] = (1 - config["beta1"] ** t) * (np.sqrt(v) + config["epsilon"]) / np.concatenate(factors)
    return found


def test_edge_of_stability(trained):
    config, dump = trained.config, trained.dump
    optimiser, kinds = config["optimiser"], ("adam", "adamw")
    p = preconditioners(trained) if optimiser in kinds else {}
    bound = {"sgd": 2 + 2 * config["momentum"]}.get(optimiser, (2 + 2 * config["beta1"]) / (1 - config["beta1"]))
    for row, step in enumerate((0, 2, 4)):
        got, stability = dump["hessian_preconditioned"][row][0], dump["hessian_stability"][row][0]
        if optimiser == "adafactor" or (optimiser in kinds and step == 0):
            assert math.isnan(got) and math.isnan(stability)
            continue
        root = np.ones(len(trained.planes[0]))
        if optimiser in kinds:
            root = np.where(p[step] > 2 * config["epsilon"], p[step] ** -0.5, 0)
        want = np.linalg.eigvalsh(root[:, None] * trained.hessian(step) * root)[-1]
        assert got == pytest.approx(want, rel=1e-6)
        rate = reference_training.schedule_rate(config, min(step + 1, STEPS), STEPS)
        assert stability == pytest.approx(want * rate / bound, rel=1e-6)


SWEEP = tiny(vocabulary=16, corpus_tokens=2000, layers=[1, 2], feedforward=12) + """\
steps: 40
measure: {every: 10, metrics: [hessian, hessian_layers]}
hessian: {probes: 2, steps: 5, every: 20}
"""


def test_steps_of_measurements(tmp_path):
    for every, steps in {"20": [0, 20, 40], "start": [0], "ends": [0, 40]}.items():
        path = train_sweep(tmp_path, SWEEP, "--set", f"hessian={{probes: 1, steps: 2, every: {every}}}", name=every)
        with xr.open_dataset(path) as ds:
            assert (ds.hessian_trace.notnull() == ds["step"].isin(steps)).all()
            assert ds.hessian_trace_error.isnull().all()


@pytest.mark.parametrize("line, words", {
    "hessian: {every: 15}": "hessian.every: 15 is not a multiple of measure.every 10",
    "hessian: {probes: 0}": "hessian.probes: 0 is below 1",
    "hessian: {steps: many}": "hessian.steps: 'many' is not an integer",
    "hessian: {tokens: 5}": "tokens",
}.items())
def test_wrong_keys_are_refused(normsweep, tmp_path, line, words):
    lines = SWEEP.splitlines()[:-1] + [line]
    (tmp_path / "sweep.yaml").write_text("\n".join(lines) + "\n")
    refused = normsweep("check", "sweep.yaml", status=2).stderr
    assert refused.startswith("sweep.yaml:12:") and words in refused and refused.count("\n") == 1


@pytest.mark.parametrize("settings, words", [
    (["measure={metrics: [hessian_layers]}", "hessian=null"], "hessian_layers needs hessian as well"),
    (["measure=null"], "hessian: without effect")])
def test_groups_that_lack_hessian_are_refused(normsweep, sweep, settings, words):
    assert words in normsweep("check", sweep, *sets(*settings), status=2).stderr
