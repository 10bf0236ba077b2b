"""`analysis/weights export`: logits of exported files against the run's, by a second implementation; refusals."""
import json

import missing
import netCDF4
import pytest
import torch

import exported
import gpt2
import reference
from conftest import NORMSWEEP, names_in, run, script, tables

pytestmark = pytest.mark.thorough("exports and reads networks of every family")

TOLERANCE = {"normsweep": 1e-5, "normsweep-double": 1e-12}


@pytest.mark.parametrize("program", TOLERANCE)
@pytest.mark.parametrize("name", exported.CASES)
def test_logits(tmp_path, name, program):
    home, keys = exported.CASES[name]
    saved = exported.train(tmp_path, program=program, **keys)
    done = exported.export(saved, tmp_path / "out")
    config, weights = exported.read_run(saved)
    theirs, ours, written = exported.read_home(tmp_path / "out")
    inputs = exported.tokens()
    want = exported.logits(config, weights, inputs)
    assert theirs["model_type"] == home and want.std() > 0.05
    assert exported.apart(exported.logits(ours, written, inputs), want) <= TOLERANCE[program]
    count = sum(tensor.numel() for tensor in written.values())
    kind = {"normsweep": "float32", "normsweep-double": "float64"}[program]
    assert done.stdout == f"{tmp_path / 'out'}: {theirs['architectures'][0]}, {count} parameters, {kind}\n"
    assert done.stderr == "" and {path.name for path in (tmp_path / "out").iterdir()} == {
        "model.safetensors", "config.json"}


def test_what_is_not_folded_is_the_same_bits(tmp_path):
    saved = exported.train(tmp_path, kv_heads=2, residual_scale=0.6)
    exported.export(saved, tmp_path / "out")
    _, weights = exported.read_run(saved)
    _, _, written = exported.read_home(tmp_path / "out")
    folded = {"o", "o_bias", "w2", "w2_bias"}
    for (name, layer), tensor in written.items():
        own = weights[name, layer]
        if name in ("k", "v", "k_bias", "v_bias"):
            own = own.reshape(2, 4, -1).repeat_interleave(2, 0).reshape(tensor.shape)
        if name in folded:
            own = (own * 0.6).float().double()
        assert torch.equal(tensor, own), name


@pytest.mark.parametrize("corpus", ["text", "bytes", "markov", "modular"])
def test_end_of_a_text(tmp_path, corpus):
    """The last word but for bytes; the sums of modular are not lines that end."""
    (tmp_path / "train.txt").write_text("a b c\nd e\n" * 100)
    keys = {"text": {"train_text": "train.txt"}, "bytes": {"train_text": "train.txt"}, "modular": {"vocabulary": 6}}
    unused = {"vocabulary", "corpus_tokens"} - set(keys.get(corpus, exported.BASE))
    saved = exported.train(tmp_path, unused, corpus=corpus, **keys.get(corpus, {}))
    exported.export(saved, tmp_path / "out")
    theirs, _, weights = exported.read_home(tmp_path / "out")
    words, end = {"text": (6, 5), "bytes": (256, 10), "markov": (23, 22), "modular": (6, None)}[corpus]
    assert theirs["vocab_size"] == words == len(weights["token", -1])
    assert theirs["eos_token_id"] == theirs["bos_token_id"] == end


@pytest.mark.parametrize("keys", [{"activation": "gelu_tanh"}, exported.LLAMA | {"kv_heads": 2, "bias": False}],
                         ids=["gpt2", "llama"])
def test_inspect_measures_the_same_norms(tmp_path, keys):
    """Of a run in which nothing is folded."""
    saved = exported.train(tmp_path, **keys, measure={"every": 12, "metrics": ["norms"]})
    exported.export(saved, tmp_path / "out")
    script("weights", "import", tmp_path / "out", "-o", tmp_path / "back.weights.nc")
    found = gpt2.printed(run(NORMSWEEP, "inspect", tmp_path / "back.weights.nc", "--json").stdout)
    with netCDF4.Dataset(tmp_path / "sweep.nc") as file:
        for name in ("param_norm", "embedding_norm", "output_norm", "total_norm"):
            norm = found[name, "-", "-", "-", "-"]
            assert abs(norm - float(file[name][..., -1])) <= 1e-6 * norm


# The folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return exported.train(tmp_path_factory.mktemp("saved"))


def test_other_files_of_a_folder_stay(saved, tmp_path):
    (tmp_path / "out").mkdir()
    others = {"tokenizer.json", "model.safetensors.part", "config.json.new"}
    for name in others:
        (tmp_path / "out" / name).write_text("mine")
    exported.export(saved, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"model.safetensors", "config.json"} | others
    assert {(tmp_path / "out" / name).read_text() for name in others} == {"mine"}


# What is refused

ENCODER = {"network": "encoder", "objective": "masked"}
NO_BIAS = "output_bias: true fits neither gpt2 nor llama, whose logits have no bias; train with output_bias: false"
REFUSED = {
    "encoder": (ENCODER, "network: encoder fits neither gpt2 nor llama, which need decoder"),
    "encoder-decoder": (
        {"network": "encoder_decoder", "objective": "spans"},
        "network: encoder_decoder fits neither gpt2 nor llama, which need decoder"),
    "post": ({"norm_placement": "post"}, "norm_placement: post fits neither gpt2 nor llama, which need pre"),
    "out": ({"norm_placement": "out"}, "norm_placement: out fits neither gpt2 nor llama, which need pre"),
    "llama, but out": (
        exported.LLAMA | {"norm_placement": "out"}, "norm_placement: out fits neither gpt2 nor llama, which need pre"),
    "qk_norm": ({"qk_norm": True}, "qk_norm: true fits neither gpt2 nor llama, which need false"),
    "mask": (
        {"attention_mask": "multiplicative"},
        "attention_mask: multiplicative fits neither gpt2 nor llama, which need causal"),
    "relative": (
        {"positions": "relative"},
        "positions: relative fits neither gpt2, which needs learned or sinusoidal or none, nor llama, which needs "
        "rotary"),
    "rmsnorm with learned positions": (
        {"norm": "rmsnorm"},
        "gpt2 needs norm: layernorm, not rmsnorm; llama needs positions: rotary, not learned"),
    "no norm": (
        {"norm": "none"},
        "norm: none fits neither gpt2, which needs layernorm, nor llama, which needs rmsnorm"),
    "rmsnorm without gates": (
        {"norm": "rmsnorm", "positions": "rotary"},
        "gpt2 needs positions: learned or sinusoidal or none, not rotary; llama needs gated: true, not false"),
    "layernorm with rotary positions": (
        {"positions": "rotary", "gated": True},
        "gpt2 needs positions: learned or sinusoidal or none, not rotary; llama needs norm: rmsnorm, not layernorm"),
    "gates with layernorm": (
        {"gated": True}, "gpt2 needs gated: false, not true; llama needs positions: rotary, not learned"),
    "gates without positions": (
        {"gated": True, "norm": "rmsnorm", "positions": "none"},
        "gpt2 needs norm: layernorm, not rmsnorm; llama needs positions: rotary, not none"),
    "output bias": ({"output_bias": True}, NO_BIAS),
    "output bias of a llama": (exported.LLAMA | {"output_bias": True}, NO_BIAS),
}


@pytest.mark.parametrize("name", REFUSED)
def test_networks_without_a_home(tmp_path, name):
    keys, line = REFUSED[name]
    saved = exported.train(tmp_path, **keys)
    done = exported.export(saved, tmp_path / "out", status=1)
    assert done.stderr == f"weights: {saved}: {line}\n" and done.stdout == ""
    assert not (tmp_path / "out").exists()


def words():
    """{key: its words} of the parameters of the network that are words or truth values."""
    rows = tables()["parameters"][:names_in("parameters").index("corpus")]
    return {row["name"]: row.get("words", ["true", "false"]) for row in rows if row["kind"] in ("word", "boolean")}


def test_every_word_of_a_network_is_exported_or_refused():
    """A new key belongs into the table of what homes need, or into these cases."""
    tried = {(key, json.dumps(value).strip('"')) for keys in [
        *(exported.BASE | keys for _, keys in exported.CASES.values()), *(keys for keys, _ in REFUSED.values())]
        for key, value in keys.items()}
    tried |= {(key, json.dumps(value).strip('"')) for key, value in reference.DEFAULTS.items()}
    tried |= {("norm_placement", "pre"), ("attention_mask", "causal"), ("bias", "true"), ("tied", "false"),
              ("init", "torch"), ("activation", "relu")}
    # Initial values alone, and what products read: the weights are the same.
    drawn = {"init": words()["init"], "zero_query_key": ["false", "true"], "precision": ["bfloat16"]}
    assert len(words()) == 16
    for key, of_key in words().items():
        assert {word for word in of_key if (key, word) not in tried} <= set(drawn.get(key, [])), key


# The library itself


@pytest.mark.parametrize("program", TOLERANCE)
@pytest.mark.parametrize("name", exported.CASES)
def test_transformers_loads_it(tmp_path, name, program, record_property):
    transformers = missing.transformers("that transformers loads what export writes")
    home, keys = exported.CASES[name]
    saved = exported.train(tmp_path, program=program, **keys)
    exported.export(saved, tmp_path / "out")
    model, told = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path / "out", torch_dtype="auto", output_loading_info=True)
    assert not any(told.values()), told
    assert type(model).__name__ == exported.HOMES[home][0]
    assert model.dtype == {"normsweep": torch.float32, "normsweep-double": torch.float64}[program]
    inputs = exported.tokens()
    with torch.no_grad():
        got = model.eval()(inputs).logits.double()
    worst = exported.apart(got, exported.logits(*exported.read_run(saved), inputs))
    record_property("worst", worst)
    print(f"{name} {program}: logits of the library are off by at most {worst:.1e}")
    assert worst <= 1e-5
