"""`normsweep export`: logits of exported files against those of the run, by a second implementation; refusals."""
import json
import shutil

import missing
import netCDF4
import pytest
import torch

import exported
import injected
import reference
from conftest import BUILD, NORMSWEEP, names_in, run, tables

pytestmark = pytest.mark.thorough("exports and reads networks of every family")

TOLERANCE = {"normsweep": 1e-5, "normsweep-double": 1e-12}


@pytest.mark.parametrize("program", TOLERANCE)
@pytest.mark.parametrize("name", exported.CASES)
def test_logits(tmp_path, name, program):
    home, keys = exported.CASES[name]
    saved = exported.train(tmp_path, program=program, **keys)
    done = exported.export(saved, tmp_path / "out", program)
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
    lines = run(NORMSWEEP, "inspect", tmp_path / "out", "--values").stdout.splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"))) for line in lines[1:]]
    found = {row["name"]: float(row["value"]) for row in rows if row["layer"] == "-"}
    with netCDF4.Dataset(tmp_path / "sweep.nc") as file:
        for name in ("param_norm", "embedding_norm", "output_norm", "total_norm"):
            assert abs(found[name] - float(file[name][..., -1])) <= 1e-6 * found[name]


# The folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return exported.train(tmp_path_factory.mktemp("saved"))


def test_default_folder_has_the_name_of_the_run(saved, tmp_path):
    done = run(NORMSWEEP, "export", saved, cwd=tmp_path)
    digest = saved.name.partition(".")[0]
    assert done.stdout.startswith(f"{digest}: GPT2LMHeadModel, ") and exported.read_home(tmp_path / digest)
    assert len(digest) == 32
    shutil.copy(saved, tmp_path / ".nc")
    done = run(NORMSWEEP, "export", tmp_path / ".nc", cwd=tmp_path, status=2)
    assert done.stderr.startswith("normsweep export: '") and done.stderr.endswith(
        "' has no name for a folder; give -o DIR\n")


def test_other_files_of_a_folder_stay(saved, tmp_path):
    (tmp_path / "out").mkdir()
    others = {"tokenizer.json", "model.safetensors.part", "config.json.new"}
    for name in others:
        (tmp_path / "out" / name).write_text("mine")
    exported.export(saved, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"model.safetensors", "config.json"} | others
    assert {(tmp_path / "out" / name).read_text() for name in others} == {"mine"}


def test_names_before_the_end(saved, tmp_path):
    """What a killed process of the same number left stays, and a link there is not followed."""
    (tmp_path / "out").mkdir()
    (tmp_path / "target").write_text("mine")
    script = """ln -s ../target out/model.safetensors.$$.new && ln -s nowhere out/config.json.$$.new &&
        echo left > out/model.safetensors.$$.1.new && exec "$@" """
    run("sh", "-c", script, "sh", NORMSWEEP, "export", saved, "-o", "out", cwd=tmp_path)
    assert (tmp_path / "target").read_text() == "mine" and exported.read_home(tmp_path / "out")
    left = sorted(path for path in (tmp_path / "out").iterdir() if path.name.endswith(".new"))
    assert [path.is_symlink() for path in left] == [True, False, True] and left[1].read_text() == "left\n"
    assert len(list((tmp_path / "out").iterdir())) == 5


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_model_is_not_overwritten(saved, tmp_path, name):
    (tmp_path / name).write_text("mine")
    done = exported.export(saved, tmp_path, status=2)
    assert done.stderr == f"{tmp_path}/{name}: exists; remove it or choose another -o\n" and done.stdout == ""
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_folders_that_cannot_be(saved, tmp_path):
    (tmp_path / "file").write_text("mine")
    done = exported.export(saved, tmp_path / "file", status=2)
    assert done.stderr == f"{tmp_path}/file: Not a directory\n"
    done = exported.export(saved, tmp_path / "none" / "out", status=2)
    assert done.stderr == f"{tmp_path}/none/out: No such file or directory\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# What is refused

WHERE = "not the final weights of a run, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc"
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
    done = exported.export(saved, tmp_path / "out", status=2)
    assert done.stderr == f"{saved}: {line}\n" and done.stdout == ""
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


def altered(saved, path, change):
    content = bytearray(saved.read_bytes())
    path.write_bytes(change(content))
    return path


def flipped(content):
    content[len(content) // 2] ^= 1
    return content


FILES = {
    "cut": (lambda content: content[:-8], "damaged (checksum)"),
    "altered": (flipped, "damaged (checksum)"),
    "longer": (lambda content: content + b"\0", "damaged (checksum)"),
    "cut in its header": (lambda content: content[:40], WHERE),
    "empty": (lambda content: b"", WHERE),
    "zeros": (lambda content: bytes(4096), WHERE),
    "text": (lambda content: b"corpus: markov\n", WHERE),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_not_whole(saved, tmp_path, name):
    change, line = FILES[name]
    path = altered(saved, tmp_path / "a.weights.nc", change)
    done = exported.export(path, tmp_path / "out", status=2)
    assert done.stderr == f"{path}: {line}\n" and done.stdout == "" and not (tmp_path / "out").exists()


def test_other_files(saved, tmp_path):
    dataset = saved.parent.parent / "sweep.nc"
    for path, line in ((dataset, WHERE), (tmp_path / "none.nc", "No such file or directory"),
                       (tmp_path, "Is a directory")):
        done = exported.export(path, tmp_path / "out", status=2)
        assert done.stderr == f"{path}: {line}\n"
    done = run(NORMSWEEP, "export", status=2)
    assert done.stderr == "normsweep export: an argument is missing; see normsweep export --help\n"


def test_one_run_at_a_time(saved, tmp_path):
    done = run(NORMSWEEP, "export", "a.weights.nc", "b.weights.nc", cwd=tmp_path, status=2)
    assert done.stderr == "normsweep export: unexpected argument 'b.weights.nc'; give one at a time\n"


def test_a_checkpoint_is_not_the_end_of_a_run(tmp_path):
    (tmp_path / "sweep.yaml").write_text(injected.SWEEP)
    injector = injected.Injector(tmp_path / "injector")
    (tmp_path / "work").mkdir()
    injected.stopped(injector, tmp_path / "work")
    path = next((tmp_path / "work" / "sweep.nc.d").glob("*.nc"))
    done = exported.export(path, tmp_path / "out", status=2)
    assert done.stderr == f"{path}: a checkpoint of a run under way, not its final weights\n"


# Failing calls


@pytest.mark.parametrize("family", ["memory", "write", "sync", "rename", "open", "read", "close"])
def test_failing_calls(saved, tmp_path, family):
    """One line, no file under its name, and afterwards the same files from the same command."""
    injector, command = injected.Injector(tmp_path / "injector"), ("export", "a.weights.nc", "-o", "out")
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copy(saved, folder / "a.weights.nc")
    assert injector.run(folder, command).status == 0
    whole, count = injected.contents(folder / "out"), 0
    shutil.rmtree(folder / "out")
    while (done := injector.run(folder, command, family, count)).failed and count < 200:
        count += 1
        assert done.status in (0, 3) and len(done.err.splitlines()) == (done.status == 3), (count, done)
        if done.status == 0:
            assert injected.contents(folder / "out") == whole and family in ("memory", "close"), (count, done)
        else:
            assert not (folder / "out").exists(), (count, done)
            assert injector.run(folder, command).status == 0
            assert injected.contents(folder / "out") == whole
        shutil.rmtree(folder / "out")
    assert count >= {"memory": 20, "write": 20, "sync": 3, "rename": 2}.get(family, 1)


# The library itself


@pytest.mark.parametrize("program", TOLERANCE)
@pytest.mark.parametrize("name", exported.CASES)
def test_transformers_loads_it(tmp_path, name, program, record_property):
    transformers = missing.transformers("that transformers loads what export writes")
    home, keys = exported.CASES[name]
    saved = exported.train(tmp_path, program=program, **keys)
    exported.export(saved, tmp_path / "out", program)
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
