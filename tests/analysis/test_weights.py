"""`analysis/weights import` and `export`: where each tensor of a family goes, the architecture, and the way back.

`tests/driver/commands/test_trained.py` compares what the program makes of them with the library that defines them."""
import json
import math
import re

import netCDF4
import numpy as np
import pytest

import stored
from conftest import NORMSWEEP, PROJECT, run, script


def imported(folder, *arguments, **options):
    return script("weights", "import", "m", "-o", "n.weights.nc", *arguments, cwd=folder, **options)


def read(path):
    """(global attributes, architecture, {variable: values}) of a weights file."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        said = {name: file["architecture"].getncattr(name) for name in file["architecture"].ncattrs()}
        values = {name: np.array(variable[...]) for name, variable in file.variables.items()}
        return {name: file.getncattr(name) for name in file.ncattrs()}, said, values


GPT2 = {"model_type": "gpt2", "n_head": 2, "layer_norm_epsilon": 0.5, "scale_attn_weights": False,
        "activation_function": "silu"}
LLAMA3 = {"rope_theta": 500000, "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
                                                 "high_freq_factor": 4, "original_max_position_embeddings": 8192}}
BIAS = """
model.layers.0.self_attn.q_proj.bias 4 1
model.layers.0.self_attn.k_proj.bias 2 5
model.layers.0.self_attn.v_proj.bias 2 7
"""
HEAD = """
lm_head.dense.weight 2,2 300
lm_head.dense.bias 2 310
lm_head.layer_norm.weight 2 320
lm_head.layer_norm.bias 2 330
lm_head.bias 3 340
lm_head.decoder.weight 3,2 0
lm_head.decoder.bias 3 340
"""
OLDER = stored.ENCODER.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
WORDS = 2**31 - 1
# {name: (config.json, tensors, attributes of the architecture, {variable: its first block, or all}, has it an output)}
READ = {
    "gpt2": (
        GPT2, stored.named("transformer.", stored.GPT2 + "\nh.0.attn.bias 1,1,4,4 0") + "\nlm_head.weight 3,2 0",
        {"vocabulary": 3, "context": 4, "width": 2, "feedforward": 3, "layers": 1, "heads": 2, "tied": "true",
         "norm_epsilon": 0.5, "score_scale": "none", "activation": "silu", "output_bias": "false", "qkv_bias": "true"},
        {"q": [[100, 106], [101, 107]], "k": [[102, 108], [103, 109]], "v_bias": [204, 205],
         "w1": [[500, 503], [501, 504], [502, 505]], "w2": [[700, 702, 704], [701, 703, 705]],
         "position": [[10, 11], [12, 13], [14, 15], [16, 17]], "final_bias": [30, 31]}, True),
    "gpt2 untied": (
        {"n_head": 1, "tie_word_embeddings": False}, stored.GPT2 + "\nlm_head.weight 3,2 1",
        {"tied": "false", "activation": "gelu_tanh", "norm_epsilon": 1e-5}, {"output": [[1, 2], [3, 4], [5, 6]]}, True),
    "llama": (
        {"model_type": "llama"} | stored.KIN_CONFIG | LLAMA3,
        stored.LLAMA + "model.layers.0.self_attn.rotary_emb.inv_freq 1 1",
        {"kv_heads": 1, "head_width": 2, "context": 2048, "tied": "false", "norm": "rmsnorm", "norm_epsilon": 1e-6,
         "gated": "true", "activation": "silu", "rotary_base": 5e5, "rotary_factor": 8, "rotary_low": 1,
         "rotary_high": 4, "rotary_context": 8192},
        {"k": [[200, 201, 202, 203], [204, 205, 206, 207]], "w1": [[500, 501, 502, 503], [504, 505, 506, 507]],
         "w3": [[600, 601, 602, 603], [604, 605, 606, 607]], "ln2": [900, 901, 902, 903],
         "output": [[20, 21, 22, 23], [24, 25, 26, 27], [28, 29, 30, 31]]}, True),
    "llama wide heads": (
        {"model_type": "llama"} | stored.KIN_CONFIG | {"head_dim": 4, "num_key_value_heads": None},
        re.sub(r"(q_proj.weight) 4,4", r"\1 8,4", re.sub(r"([kv]_proj.weight) 2,4", r"\1 8,4", stored.LLAMA)).replace(
            "o_proj.weight 4,4", "o_proj.weight 4,8"),
        {"kv_heads": 2, "head_width": 4}, {}, True),
    "mistral": ({"model_type": "mistral", "sliding_window": 5} | stored.KIN_CONFIG, stored.LLAMA,
                {"context": 5, "qkv_bias": "false"}, {}, True),
    "mistral without a window": ({"model_type": "mistral", "sliding_window": None} | stored.KIN_CONFIG, stored.LLAMA,
                                 {"context": 131072}, {}, True),
    "qwen2": ({"model_type": "qwen2"} | stored.KIN_CONFIG, stored.LLAMA + BIAS.lstrip(),
              {"context": 32768, "qkv_bias": "true", "o_bias": "false"}, {"k_bias": [5, 6]}, True),
    "olmo2": ({"model_type": "olmo2"} | stored.KIN_CONFIG, stored.OLMO2,
              {"norm_placement": "out", "final_norm": "true", "qk_norm": "together"},
              {"q_norm": [1, 2, 3, 4], "k_norm": [5, 6], "ln1": [800, 801, 802, 803]}, True),
    "bert of the first files": (
        {"model_type": "bert"} | stored.ENCODER_CONFIG,
        OLDER + "pooler.dense.weight 2,2 0\npooler.dense.bias 2 0\ncls.seq_relationship.weight 2,2 0",
        {"network": "encoder", "norm_placement": "post", "norm_epsilon": 1e-12, "token_types": 2, "context": 5,
         "embedding_norm": "true", "activation": "gelu", "tied": "true", "transform": "false", "output_bias": "false"},
        {"type": [[20, 21], [22, 23]], "embedding_norm_bias": [40, 41], "ln2": [240, 241]}, False),
    "roberta": (  # positions begin behind the padding token
        {"model_type": "roberta"} | stored.ENCODER_CONFIG, stored.ENCODER + HEAD.lstrip(),
        {"context": 3, "tied": "true", "transform": "true", "output_bias": "true"},
        {"position": [[14, 15], [16, 17], [18, 19]], "transform_norm_bias": [330, 331], "output_bias": [340, 341, 342]},
        True),
    "t5": (
        {"model_type": "t5", "feed_forward_proj": "gated-gelu", "decoder_start_token_id": 0, "eos_token_id": 2}
        | stored.T5_CONFIG, stored.T5,
        {"network": "encoder_decoder", "gated": "true", "activation": "gelu_tanh", "score_scale": "none",
         "norm_bias": "false", "tied": "true", "output_scale": 1 / math.sqrt(2), "decoder_layers": 1, "context": WORDS},
        {"w3": [[210, 211], [212, 213], [214, 215]], "encoder_final": [10, 11], "final": [20, 21],
         "relative": [[2000 + i] for i in range(32)], "encoder_relative": [[1000 + i] for i in range(32)]}, True),
    "xlnet": (
        stored.XLNET_CONFIG | {"untie_r": False, "mem_len": 9}, stored.XLNET,
        {"network": "encoder", "positions": "distance", "feedforward_bias": "true", "norm_bias": "true",
         "qkv_bias": "false", "context": WORDS},
        {"q": [[100, 102], [101, 103]], "o": [[130, 131], [132, 133]], "distance": [[140, 142], [141, 143]],
         "content_bias": [150, 151]}, False),
}


@pytest.mark.parametrize("config, lines, attributes, values, has_output", READ.values(), ids=READ)
def test_families(tmp_path, config, lines, attributes, values, has_output):
    stored.save(tmp_path / "m", config, lines)
    imported(tmp_path)
    said, architecture, found = read(tmp_path / "n.weights.nc")
    assert {key: architecture[key] for key in attributes} == attributes
    assert said["has_output"] == ("true" if has_output else "false")
    for variable, wanted in values.items():
        got = found[variable]
        got = got[0] if got.ndim > np.ndim(wanted) else got
        np.testing.assert_array_equal(got, wanted, variable)
    page = run(NORMSWEEP, "inspect", "n.weights.nc", cwd=tmp_path).stdout
    assert page.split()[1] == config.get("model_type", "gpt2") + ","


def test_the_stacks_of_a_t5(tmp_path):
    """The blocks of the encoder come first; it has no cross-attention. The tokens of a text are in the file."""
    config, lines, *_ = READ["t5"]
    stored.save(tmp_path / "m", config, lines.replace("decoder.block.0.layer.2.DenseReluDense.wo.weight 2,3 220",
                                                      "decoder.block.0.layer.2.DenseReluDense.wo.weight 2,3 290"))
    imported(tmp_path)
    said, _, found = read(tmp_path / "n.weights.nc")
    assert [int(block[0, 0]) for block in found["w2"]] == [220, 290]
    np.testing.assert_array_equal(found["cross_k"][1], [[110, 111], [112, 113]])
    assert (said["start_token"], said["end_token"], said["padding_token"]) == (0, 2, -1)


def same(folder, config, lines, left_out=()):
    """What was imported and exported is what was imported, but for tensors that are left out."""
    stored.save(folder / "m", config, lines)
    imported(folder)
    script("weights", "export", "n.weights.nc", "-o", "out", cwd=folder)
    content = (folder / "out" / "model.safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8:8 + size]), content[8 + size:]
    assert header.pop("__metadata__") == {"format": "pt"} and size % 8 == 0
    before, elements = stored.entries(lines)
    for name, entry in before.items():
        if name not in left_out:
            begin, end = entry["data_offsets"]
            there = header.pop(name)
            assert (there["dtype"], there["shape"]) == (entry["dtype"], entry["shape"]), name
            assert data[slice(*there["data_offsets"])] == elements[begin:end], name
    return json.loads((folder / "out" / "config.json").read_text()), header


@pytest.mark.parametrize("name, left_out", [
    ("gpt2", ["transformer.h.0.attn.bias", "lm_head.weight"]),
    ("llama", ["model.layers.0.self_attn.rotary_emb.inv_freq"]),
    ("qwen2", []), ("olmo2", []), ("t5", ["encoder.embed_tokens.weight"]),
    ("xlnet", ["transformer.mask_emb", "lm_loss.weight", "lm_loss.bias", "transformer.layer.0.rel_attn.r_s_bias",
               "transformer.layer.0.rel_attn.seg_embed"])])
def test_there_and_back(tmp_path, name, left_out):
    config, surplus = same(tmp_path, *READ[name][:2], left_out)
    assert config == READ[name][0] and not surplus


def test_there_and_back_of_a_roberta(tmp_path):
    """Rows that belong to no position are 0; names get the prefix."""
    lines = stored.named("roberta.", stored.ENCODER) + HEAD
    for name in ("lm_head.decoder.weight 3,2 0\n", "lm_head.decoder.bias 3 340\n"):
        lines = lines.replace(name, "")
    name = "roberta.embeddings.position_embeddings.weight"
    _, header = same(tmp_path, READ["roberta"][0], lines, [name])
    begin, end = header[name]["data_offsets"]
    content = (tmp_path / "out" / "model.safetensors").read_bytes()
    data = content[8 + int.from_bytes(content[:8], "little"):]
    np.testing.assert_array_equal(np.frombuffer(data[begin:end], "<f4"), [0, 0, 0, 0, 14, 15, 16, 17, 18, 19])
    assert header.keys() == {name}


def test_types(tmp_path):
    """float16 becomes float32; of a network with one tensor of float64 all become float64."""
    for dtype, kind, scalar in (("<f2", "f4", "float"), ("<f8", "f8", "double")):
        folder = tmp_path / scalar
        folder.mkdir()
        stored.save(folder / "m", GPT2, stored.GPT2, dtype=dtype)
        imported(folder)
        said, _, found = read(folder / "n.weights.nc")
        assert said["scalar"] == scalar and found["q"].dtype == kind
        np.testing.assert_array_equal(found["token"], [[0, 1], [2, 3], [4, 5]])
        header, data = stored.entries(stored.GPT2, dtype)
        if scalar == "float":  # the upper halves of float32 are bfloat16
            header = {name: entry | {"dtype": "BF16"} for name, entry in header.items()}
            (folder / "m" / "model.safetensors").write_bytes(stored.packed(header, data))
            (folder / "n.weights.nc").unlink()
            imported(folder)
            halves = np.frombuffer(data, "<u2")[:6].astype("u4") << 16
            np.testing.assert_array_equal(read(folder / "n.weights.nc")[2]["token"].ravel(), halves.view("f4"))


def test_large_tensors_pass_in_pieces(tmp_path, monkeypatch):
    whole = tmp_path / "whole"
    stored.save(tmp_path / "m", READ["t5"][0], stored.T5)
    imported(tmp_path)
    (tmp_path / "n.weights.nc").rename(whole)
    import normsweep.tensor_files
    monkeypatch.setattr(normsweep.tensor_files, "PIECE", 8)
    imported(tmp_path)
    assert (tmp_path / "n.weights.nc").read_bytes() == whole.read_bytes()
    script("weights", "export", "n.weights.nc", "-o", "pieces", cwd=tmp_path)
    monkeypatch.undo()
    script("weights", "export", "n.weights.nc", "-o", "out", cwd=tmp_path)
    first, second = (tmp_path / name / "model.safetensors" for name in ("pieces", "out"))
    assert first.read_bytes() == second.read_bytes()


def test_several_files(tmp_path):
    """A folder with an index, or the index itself; what is said names the file."""
    lines = stored.LLAMA.strip().splitlines()
    parts = {"a.safetensors": lines[:3], "b.safetensors": lines[3:]}
    for name, part in parts.items():
        stored.save(tmp_path / "m", {"model_type": "llama"} | stored.KIN_CONFIG, "\n".join(part), name)
    index = {line.split()[0]: name for name, part in parts.items() for line in part}
    (tmp_path / "m" / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    for path in ("m", "m/model.safetensors.index.json"):
        done = script("weights", "import", path, "-o", "n.weights.nc", cwd=tmp_path)
        assert done.stdout == "n.weights.nc: llama, 108 parameters\n"
        (tmp_path / "n.weights.nc").unlink()


def test_what_torch_saved(tmp_path):
    torch = pytest.importorskip("torch")
    header, data = stored.entries(stored.GPT2)
    state = {name: torch.from_numpy(np.frombuffer(data[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
                                    .copy()) for name, entry in header.items()}
    stored.save(tmp_path / "s", GPT2, stored.GPT2)
    script("weights", "import", "s", "-o", "s.weights.nc", cwd=tmp_path)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text(json.dumps(GPT2))
    for bad, line in (({"a": 1} | state, "a: not a tensor"), ([1], "not a dictionary of tensors"),
                      (state | {"wte.weight": state["wte.weight"].int()},
                       "wte.weight: dtype int32 is not supported; use F32, F16, BF16 or F64")):
        torch.save(bad, tmp_path / "m" / "pytorch_model.bin")
        assert imported(tmp_path, status=1).stderr == f"weights: m/pytorch_model.bin: {line}\n"
    torch.save(state, tmp_path / "m" / "pytorch_model.bin")
    imported(tmp_path)
    for one, other in zip(read(tmp_path / "n.weights.nc")[2].values(), read(tmp_path / "s.weights.nc")[2].values()):
        np.testing.assert_array_equal(one, other)


def test_the_table_is_that_of_the_program():
    """Order, place, lengths and conditions of every tensor, and the version of the form."""
    import normsweep.families as families
    import normsweep.weights as weights
    text = (PROJECT / "model/network/network.h").read_text().replace("\\\n", " ")
    rows = re.findall(r"X\([A-Z0-9_]+, (\w+), (\w+), \w+, (\w+), (\w+), \w+,\s+([A-Z_ |]+), \d+\)", text)
    words = {"QKV_BIASED": "qkv_bias", "O_BIASED": "o_bias", "FEEDFORWARD_BIASED": "feedforward_bias",
             "OUTPUT_BIASED": "output_bias", "TRANSFORMED": "transform", "EMBEDDING_NORMED": "embedding_norm",
             "TYPES": "token_types"}
    there = {name: (place.lower(), [words.get(one, one.lower()) for one in (first, second) if one != "ONE"],
                    {words.get(need, need.lower()) for need in needs.split(" | ")} - {"always"})
             for name, place, first, second, needs in rows}
    here = {name: (place, lengths, set(needs)) for name, (place, lengths, needs) in families.TENSORS.items()}
    assert len(there) > 50 and here == {name: there[name] for name in there if name in here}
    assert list(here) == [name for name in there if name in here]
    assert f"FORMAT_VERSION = {weights.FORMAT} " in (PROJECT / "worker/run/run.h").read_text()


def test_an_output_is_not_overwritten(tmp_path):
    stored.save(tmp_path / "m", GPT2, stored.GPT2)
    imported(tmp_path)
    assert imported(tmp_path, status=1).stderr == (
        "weights: n.weights.nc: is a netCDF file, which would be overwritten; remove it or choose another -o\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.json").write_text("mine")
    done = script("weights", "export", "n.weights.nc", "-o", "out", cwd=tmp_path, status=1)
    assert done.stderr == "weights: out/config.json: exists; remove it or choose another -o\n"
    assert [path.read_text() for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_tokens(tmp_path):
    """A stream, or lines with the tokens that begin and end a sequence."""
    tokenizers = pytest.importorskip("tokenizers")
    words = {word: number for number, word in enumerate(["[UNK]", "[MASK]", "[CLS]", "[SEP]", "a", "b"])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.enable_padding(length=9)
    (tmp_path / "t").mkdir()
    made.save(str(tmp_path / "t" / "tokenizer.json"))
    (tmp_path / "text.txt").write_text("a b\n\nb c\n")
    for options, ids in (((), "4 5 5 0\n"), (("--lines",), "2 4 5 3\n2 5 0 3\n")):
        done = script("weights", "tokens", "text.txt", "--tokenizer", "t", "-o", "ids.txt", *options, cwd=tmp_path)
        assert (tmp_path / "ids.txt").read_text() == ids and done.stdout.endswith(" tokens, --mask 1\n")
    done = script("weights", "tokens", "none.txt", "--tokenizer", "t", "-o", "ids.txt", cwd=tmp_path, status=1)
    assert done.stderr == "weights: none.txt: No such file or directory\n"
