"""Texts of encoders and encoder-decoders in `normsweep inspect`: masks, sentinels, stacks, and what has no loss.

The models are made by hand, with matrices of 0 where the loss is to be known."""
import json
import math

import gpt2
import netCDF4
import numpy as np
import pytest
import torch
import xarray as xr
from conftest import BUILD, PROJECT, run

pytestmark = pytest.mark.thorough("measures networks of every family in PyTorch as well")

VOCABULARY, WIDTH, INNER, HEADS = 30, 8, 12, 2


def draw(seed, **shapes):
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}


def named(prefix, shapes):
    return {prefix + name: shape for name, shape in shapes.items()}


def bert_shapes(layers=2, head=True, positions=12):
    norm = {"LayerNorm.weight": (WIDTH,), "LayerNorm.bias": (WIDTH,)}
    linear = {"weight": (WIDTH, WIDTH), "bias": (WIDTH,)}
    shapes = named("bert.embeddings.", norm | {
        "word_embeddings.weight": (VOCABULARY, WIDTH), "position_embeddings.weight": (positions, WIDTH),
        "token_type_embeddings.weight": (2, WIDTH)})
    for layer in range(layers):
        parts = {f"attention.self.{part}.{name}": shape for part in ("query", "key", "value")
                 for name, shape in linear.items()}
        parts |= named("attention.output.", norm | named("dense.", linear))
        parts |= {"intermediate.dense.weight": (INNER, WIDTH), "intermediate.dense.bias": (INNER,)}
        parts |= named("output.", norm | {"dense.weight": (WIDTH, INNER), "dense.bias": (WIDTH,)})
        shapes |= named(f"bert.encoder.layer.{layer}.", parts)
    if head:
        shapes |= named("cls.predictions.transform.", norm | named("dense.", linear))
        shapes["cls.predictions.bias"] = (VOCABULARY,)
    return shapes


BERT = {"model_type": "bert", "vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": 2,
        "num_attention_heads": HEADS, "intermediate_size": INNER, "hidden_act": "gelu",
        "max_position_embeddings": 12, "type_vocab_size": 2, "layer_norm_eps": 1e-12}


def t5_shapes(layers=1, decoder_layers=2):
    square = (WIDTH, WIDTH)
    shapes = {"shared.weight": (VOCABULARY, WIDTH)}
    for stack, count in (("encoder", layers), ("decoder", decoder_layers)):
        shapes[f"{stack}.final_layer_norm.weight"] = (WIDTH,)
        shapes[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = (32, HEADS)
        for block in range(count):
            kinds = ["SelfAttention", *["EncDecAttention"] * (stack == "decoder"), "DenseReluDense"]
            for place, kind in enumerate(kinds):
                start = f"{stack}.block.{block}.layer.{place}."
                shapes[start + "layer_norm.weight"] = (WIDTH,)
                if kind == "DenseReluDense":
                    shapes |= {start + "DenseReluDense.wi.weight": (INNER, WIDTH),
                               start + "DenseReluDense.wo.weight": (WIDTH, INNER)}
                else:
                    shapes |= {f"{start}{kind}.{part}.weight": square for part in "qkvo"}
    return shapes


T5 = {"model_type": "t5", "vocab_size": VOCABULARY, "d_model": WIDTH, "d_kv": WIDTH // HEADS, "d_ff": INNER,
      "num_layers": 1, "num_decoder_layers": 2, "num_heads": HEADS, "feed_forward_proj": "relu",
      "relative_attention_num_buckets": 32, "decoder_start_token_id": 0, "eos_token_id": 1, "pad_token_id": 0,
      "is_encoder_decoder": True, "tie_word_embeddings": True}


def save(folder, weights, config, ids):
    entries, data, _ = gpt2.entries_of(weights)
    (folder / "model.safetensors").write_bytes(gpt2.pack(dict(sorted(entries.items())), data))
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "ids.txt").write_text(ids)
    gpt2.imported(folder)


def inspect(folder, *arguments, **options):
    return run(BUILD / "normsweep", "inspect", "net.weights.nc", "--tokens", "ids.txt", *arguments, cwd=folder,
               **options)


def value(text, name):
    return gpt2.printed(text)[name, "-", "-", "-", "-"]


def test_masked_loss(tmp_path):
    """Every word is the same, and the logits are the biases: the loss is known, whichever words are masked."""
    weights = draw(1, **bert_shapes())
    weights["bert.embeddings.word_embeddings.weight"] *= 0
    save(tmp_path, weights, BERT, "7 " * 200)
    bias = weights["cls.predictions.bias"]
    found = inspect(tmp_path, "--mask", "29", "--json").stdout
    assert abs(value(found, "valid_loss") - float(torch.logsumexp(bias, 0) - bias[7])) < 1e-5
    assert value(found, "accuracy") == float(bias.argmax() == 7)
    assert value(found, "tokens") == 192 and value(found, "predicted_entropy") == 0


def test_masks_leave_the_rest_alone(tmp_path):
    save(tmp_path, draw(2, **bert_shapes()), BERT, " ".join(str(i % 23) for i in range(100)))
    bare, masked = (inspect(tmp_path, *mask, "--json").stdout for mask in ((), ("--mask", "29")))
    rest = {key: value for key, value in gpt2.printed(masked).items()
            if key[0] not in ("valid_loss", "accuracy", "predicted_entropy")}
    assert gpt2.printed(bare) == rest and len(gpt2.printed(masked)) == len(rest) + 3
    assert json.loads(masked)["attrs"]["comment"] == (
        "the loss is worse than guessing: are the ids those of this network's tokenizer?")
    assert json.loads(bare)["attrs"]["comment"] == (
        "no loss: give --mask ID, the id of the tokenizer's mask token, for that of masked words")


def test_whole_windows_of_an_encoder(tmp_path):
    save(tmp_path, draw(3, **bert_shapes()), BERT, "1 2 3 4 5 6 7 8 9 10 11 12")
    assert value(inspect(tmp_path, "--json").stdout, "tokens") == 12
    (tmp_path / "ids.txt").write_text("1 2 3")
    assert inspect(tmp_path, status=2).stderr == (
        "ids.txt: 3 tokens do not fill one window of 12; give a smaller --context\n")


def test_lines_of_an_encoder(tmp_path):
    """Lines of different lengths are measured as each alone; one that is too long is cut."""
    save(tmp_path, draw(4, **bert_shapes()), BERT, "")
    lines, rows, parts = ["1 2 3", "4", "5 " * 13, "6 7 8 9"], [3, 1, 12, 4], []
    for line in lines:
        (tmp_path / "ids.txt").write_text(line)
        parts.append(value(inspect(tmp_path, "--lines", "--json").stdout, "saturation_final"))
    (tmp_path / "ids.txt").write_text("\n".join(lines))
    found = inspect(tmp_path, "--lines", "--json").stdout
    assert value(found, "tokens") == sum(rows)
    assert abs(value(found, "saturation_final") - np.average(parts, weights=rows)) < 1e-5


def test_without_an_output_layer(tmp_path):
    save(tmp_path, draw(5, **bert_shapes(head=False)), BERT, "1 2 3 " * 8)
    told = json.loads(inspect(tmp_path, "--mask", "29", "--json").stdout)
    assert told["attrs"]["comment"] == "no loss: the files have no output layer for words"
    assert "valid_loss" not in told["data_vars"] and "saturation_final" in told["data_vars"]


def test_stacks(tmp_path):
    """An encoder-decoder: two stacks of different lengths in every form of output."""
    save(tmp_path, draw(6, **t5_shapes()), T5, " ".join(str(2 + i % 20) for i in range(90)))
    arguments = ("--context", "30", "--sentinel", "29")
    page = inspect(tmp_path, *arguments).stdout
    assert [line.split()[:2] for line in page.splitlines()[-5:]] == [
        ["encoder", "0"], ["encoder", "final"], ["decoder", "0"], ["decoder", "1"], ["decoder", "final"]]
    rows = gpt2.printed(inspect(tmp_path, *arguments, "--json").stdout)
    assert [key[1:3] for key in rows if key[0] == "layer_norm"] == [("encoder", 0), ("decoder", 0), ("decoder", 1)]
    arguments += ("--json", "-o", "out.nc", "--states")
    told = xr.Dataset.from_dict(json.loads(inspect(tmp_path, *arguments).stdout)).astype(float)
    assert told.saturation.dtype == told.tensor_norm.dtype == float and told.attrs["family"] == "t5"
    with xr.open_dataset(tmp_path / "out.nc") as written:
        for name in told:
            np.testing.assert_array_equal(told[name].values, written[name].values)
        assert written.saturation.dims == ("stack", "layer") and np.isnan(written.saturation.values[0, 1])
        norms = written.stack_norm.values
        assert abs(math.hypot(*norms) - float(written.param_norm)) < 1e-6
        token = written.token.values
        assert (token[1, 0], token[0, ~np.isnan(token[0])][-1]) == (0, 1)  # start of the decoder, end of the source
        assert written.state.dims == ("stack", "position", "depth", "width")
        rows = written.sequence.isel(stack=1).notnull()
        assert np.isfinite(written.state.isel(stack=1)[rows]).all()
        assert np.isnan(written.state.isel(stack=1)[~rows]).all()
    drawn = run(PROJECT / "analysis" / "figures", "out.nc", "--format", "svg", cwd=tmp_path).stdout.splitlines()
    assert all(f">t5 {stack}</text>" in (tmp_path / path).read_text() for path in drawn for stack in
               ("encoder", "decoder"))


def test_loss_of_spans(tmp_path):
    """Without any embedding, all words are equally likely."""
    weights = draw(7, **t5_shapes())
    weights["shared.weight"] *= 0
    save(tmp_path, weights, T5, "5 6 7 8 " * 30)
    found = inspect(tmp_path, "--context", "40", "--sentinel", "29", "--json").stdout
    assert abs(value(found, "valid_loss") - math.log(VOCABULARY)) < 1e-5 and value(found, "tokens") == 120


FILE = "net.weights.nc: "
REFUSED = {
    (): FILE + "text of an encoder-decoder needs --sentinel ID, the id of the tokenizer's first sentinel (T5: 32099)",
    ("--sentinel", "30"): FILE + "--sentinel 30 is not below the vocabulary of 30",
    ("--sentinel", "2"): FILE + "a sequence of 100 tokens has 5 spans, but there are no such sentinels below 2;"
                         " give a smaller --context",
    ("--sentinel", "29", "--mask", "3"): FILE + "--mask is for encoders; this is not one",
}


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_refused(tmp_path, arguments):
    save(tmp_path, draw(8, **t5_shapes()), T5, "5 6 7 8 " * 30)
    done = inspect(tmp_path, "--context", "100", *arguments, status=2)
    assert (done.stdout, done.stderr) == ("", REFUSED[arguments] + "\n")


def test_sentinels_of_the_longest_line(tmp_path):
    """A window may have more spans than there are sentinels, if no line is so long."""
    save(tmp_path, draw(8, **t5_shapes()), T5, "5 6 7 8 " * 6 + "\n5 6\n")
    arguments = ("--context", "100", "--lines", "--sentinel", "2")
    assert value(inspect(tmp_path, *arguments, "--json").stdout, "tokens") == 26
    (tmp_path / "ids.txt").write_text("5 6\n" + "5 6 7 8 " * 20)
    assert inspect(tmp_path, *arguments, status=2).stderr == (
        FILE + "a sequence of 80 tokens has 4 spans, but there are no such sentinels below 2; give a smaller"
        " --context\n")


def test_padding_of_roberta(tmp_path):
    """The library gives padding the place of no position."""
    shapes = {name.replace("bert.", "roberta.", 1): shape for name, shape in bert_shapes(head=False).items()}
    config = BERT | {"model_type": "roberta", "pad_token_id": 3, "max_position_embeddings": 12}
    save(tmp_path, draw(11, **shapes), config, "1 2\n0 3 4")
    assert inspect(tmp_path, "--lines", status=2).stderr == (
        "ids.txt:2: token 3 is padding, which a text does not have; tokenize without padding\n")
    assert inspect(tmp_path, "--lines", "--mask", "3", status=2).stderr == FILE + "--mask 3 is the id of padding\n"
    save(tmp_path, draw(11, **bert_shapes()), BERT | {"pad_token_id": 3}, "1 2\n0 3 4")
    assert value(inspect(tmp_path, "--lines", "--json").stdout, "tokens") == 5


def test_mask_out_of_the_vocabulary(tmp_path):
    save(tmp_path, draw(9, **bert_shapes()), BERT, "1 2 3 " * 8)
    assert inspect(tmp_path, "--mask", "30", status=2).stderr == (
        "net.weights.nc: --mask 30 is not below the vocabulary of 30\n")


def test_file_of_a_folder(tmp_path):
    (tmp_path / "my model").mkdir()
    save(tmp_path / "my model", draw(10, **bert_shapes()), BERT, "1")
    run(BUILD / "normsweep", "inspect", "my model/net.weights.nc", "-o", "out.nc", cwd=tmp_path)
    with netCDF4.Dataset(tmp_path / "out.nc") as written:
        assert written.file == "net.weights.nc" and written.family == "bert"
        assert "mask" not in written.ncattrs()


def test_attributes_of_a_text(tmp_path):
    save(tmp_path, draw(11, **bert_shapes()), BERT, "1 2 3 " * 8)
    assert json.loads(inspect(tmp_path, "--mask", "0", "--json").stdout)["attrs"]["mask"] == 0
    attrs = json.loads(inspect(tmp_path, "--json").stdout)["attrs"]
    assert not {"mask", "sentinel"} & set(attrs)
    save(tmp_path, draw(12, **t5_shapes()), T5, "5 6 7 8 " * 30)
    attrs = json.loads(inspect(tmp_path, "--context", "40", "--sentinel", "29", "--json").stdout)["attrs"]
    assert attrs["sentinel"] == 29 and "mask" not in attrs


NO_START, NO_END = "decoder_start_token_id", "eos_token_id"


@pytest.mark.parametrize("missing", [[NO_START], [NO_END], [NO_START, NO_END]], ids=" ".join)
def test_special_tokens_that_are_missing(tmp_path, missing):
    config = {key: value for key, value in T5.items() if key not in missing}
    save(tmp_path, draw(13, **t5_shapes()), config, "5 6 7 8 " * 30)
    done = inspect(tmp_path, "--context", "40", "--sentinel", "29", status=2)
    assert done.stderr == f"net.weights.nc: its config.json had no {' and no '.join(missing)}\n"


def test_a_mask_without_a_loss(tmp_path):
    """XLNet is an encoder whose loss is not computed."""
    shapes = {"word_embedding.weight": (VOCABULARY, WIDTH)}
    square, heads = (WIDTH, HEADS, WIDTH // HEADS), (HEADS, WIDTH // HEADS)
    shapes |= {f"layer.0.rel_attn.{name}": square for name in "qkvor"}
    shapes |= {f"layer.0.rel_attn.{name}": heads for name in ("r_w_bias", "r_r_bias")}
    shapes |= {f"layer.0.{part}.layer_norm.{name}": (WIDTH,) for part in ("rel_attn", "ff")
               for name in ("weight", "bias")}
    shapes |= {"layer.0.ff.layer_1.weight": (INNER, WIDTH), "layer.0.ff.layer_1.bias": (INNER,),
               "layer.0.ff.layer_2.weight": (WIDTH, INNER), "layer.0.ff.layer_2.bias": (WIDTH,)}
    config = {"model_type": "xlnet", "vocab_size": VOCABULARY, "d_model": WIDTH, "d_inner": INNER, "n_layer": 1,
              "n_head": HEADS}
    save(tmp_path, draw(14, **shapes), config, "1 2 3 " * 8)
    assert "no loss: " in inspect(tmp_path, "--context", "8").stdout
    assert inspect(tmp_path, "--context", "8", "--mask", "3", status=2).stderr == (
        "net.weights.nc: --mask is for a loss, which is not computed for this family\n")
