"""Networks of others that `weights` reads and writes, as data: their tensors, their config.json, and what they compute.

Architectures are dicts with the attributes of a weights file (docs/formats.md). What a config.json says beyond one key
for one attribute is read by the functions at the end.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Optional

WORDS, SIZE, BLOCKS = 2**31 - 1, 2**20, 2**12  # the largest vocabulary or context, width or count, number of blocks
QUERIES, SCALE, BASE = 2**24, 1e6, 1e12  # all heads together; of rotary positions: factors, and the base
UNBOUNDED = WORDS  # the context of a network that takes texts of any length
BUCKETS, REACH = 32, 128  # of relative positions
BIASES = ("qkv_bias", "o_bias", "feedforward_bias", "norm_bias", "output_bias")

# Every attribute, with the value that it has unless a family or a configuration says otherwise.
ARCHITECTURE: dict[str, Any] = {
    "network": "decoder", "vocabulary": 0, "context": 0, "width": 0, "heads": 0, "kv_heads": 0, "head_width": 0,
    "feedforward": 0, "layers": 0, "decoder_layers": 0, "norm_placement": "pre", "norm": "layernorm",
    "norm_epsilon": 1e-5, "final_norm": False, "qk_norm": "none", "positions": "learned", "rotary_base": 10000.0,
    "rotary_factor": 0.0, "rotary_low": 0.0, "rotary_high": 0.0, "rotary_context": 0.0, "score_scale": "sqrt",
    "attention_mask": "causal", "activation": "relu", "gated": False, **dict.fromkeys(BIASES, False), "tied": False,
    "residual_scale": 1.0, "output_scale": 0.0, "precision": "float", "token_types": 0, "embedding_norm": False,
    "transform": False}

# The words that some of them may be.
CHOICES = {"network": ("decoder", "encoder", "encoder_decoder"), "norm_placement": ("post", "pre", "out"),
           "norm": ("layernorm", "rmsnorm", "none"), "qk_norm": ("none", "head", "together"),
           "positions": ("learned", "sinusoidal", "rotary", "relative", "none", "distance"),
           "score_scale": ("sqrt", "none", "depth"), "attention_mask": ("causal", "multiplicative"),
           "activation": ("relu", "gelu", "gelu_tanh", "silu"), "precision": ("float", "bfloat16")}

# The tensors of a network, in their order: where they lie, their lengths, [out, in] for a matrix, and what the
# architecture must have. In the variables of a weights file those of `layer` have the block in front.
TENSORS = {row[0]: (row[1], row[2].split(","), row[3:]) for row in map(str.split, """
token                 embedding  vocabulary,width
position              embedding  context,width        learned
relative              embedding  buckets,heads        relative
encoder_relative      embedding  buckets,heads        relative two_stacks
type                  embedding  token_types,width    typed
embedding_norm        embedding  width                embedding_norm
embedding_norm_bias   embedding  width                embedding_norm shifted
q                     layer      queries,width
k                     layer      keys,width
v                     layer      keys,width
o                     layer      width,queries
w1                    layer      feedforward,width
w2                    layer      width,feedforward
ln1                   layer      width                with_norms
ln2                   layer      width                with_norms
q_bias                layer      queries              qkv_bias
k_bias                layer      keys                 qkv_bias
v_bias                layer      keys                 qkv_bias
o_bias                layer      width                o_bias
w1_bias               layer      feedforward          feedforward_bias
w2_bias               layer      width                feedforward_bias
ln1_bias              layer      width                shifted
ln2_bias              layer      width                shifted
w3                    layer      feedforward,width    gated
w3_bias               layer      feedforward          gated feedforward_bias
q_norm                layer      q_norm               qk_norm
k_norm                layer      k_norm               qk_norm
cross_q               layer      queries,width        cross
cross_k               layer      keys,width           cross
cross_v               layer      keys,width           cross
cross_o               layer      width,queries        cross
cross_ln              layer      width                with_norms cross
distance              layer      queries,width        distance
content_bias          layer      queries              distance
distance_bias         layer      queries              distance
final                 final      width                final_norm
final_bias            final      width                final_norm shifted
encoder_final         final      width                final_norm two_stacks
transform             output     width,width          transform
transform_bias        output     width                transform
transform_norm        output     width                transform
transform_norm_bias   output     width                transform shifted
output                output     vocabulary,width     untied
output_bias           output     vocabulary           output_bias
""".strip().splitlines())}


def lengths(a: dict[str, Any]) -> dict[str, int]:
    """How long the lengths of TENSORS are."""
    queries, keys = a["heads"] * a["head_width"], a["kv_heads"] * a["head_width"]
    together = a["qk_norm"] == "together"
    return {**{name: a[name] for name in ("vocabulary", "context", "width", "heads", "feedforward", "token_types")},
            "buckets": BUCKETS, "queries": queries, "keys": keys, "q_norm": queries if together else a["head_width"],
            "k_norm": keys if together else a["head_width"]}


def stacks(a: dict[str, Any]) -> list[int]:
    """The number of blocks of each stack, the encoder's first."""
    return [a["layers"], a["decoder_layers"]] if a["network"] == "encoder_decoder" else [a["layers"]]


def tensors_of(a: dict[str, Any]) -> list[tuple[str, int]]:
    """(tensor, block of the whole network) of all tensors of an architecture, in their order; -1 outside the blocks."""
    has = {a["positions"]} | {name for name, value in a.items() if value is True}
    has |= {name for name, there in {
        "typed": a["token_types"] > 0, "shifted": a["norm_bias"] and a["norm"] == "layernorm",
        "qk_norm": a["qk_norm"] != "none", "untied": not a["tied"], "two_stacks": len(stacks(a)) > 1,
        "with_norms": a["norm"] != "none",
        "final_norm": a["norm"] != "none" and (a["norm_placement"] == "pre" or a["final_norm"])}.items() if there}
    first = stacks(a)[0]

    def of(part: str, block: int) -> list[tuple[str, int]]:
        here = has | ({"cross"} if block >= first else set())
        return [(name, block) for name, (place, _, needs) in TENSORS.items()
                if place == part and here.issuperset(needs)]
    inside = [entry for block in range(sum(stacks(a))) for entry in of("layer", block)]
    return [*of("embedding", -1), *inside, *of("final", -1), *of("output", -1)]


@dataclasses.dataclass(frozen=True)
class Row:
    """How files hold a tensor: under which name, # being the block in its stack; `turned`: as [in, out]; `heads`: the
    length of all heads is two lengths; `padded`: rows that belong to no position come first; `outside`: the name never
    has the prefix; of_decoder: it is one of the second stack; gated: of gated networks, or of the others, alone; it is
    part `part` of `parts` side by side."""
    kind: str
    name: str
    turned: bool = False
    heads: bool = False
    padded: bool = False
    outside: bool = False
    of_decoder: bool = False
    gated: Optional[bool] = None
    part: int = 0
    parts: int = 1


def rows(text: str) -> list[Row]:
    """A line is: the tensor, its name in files, words; a name that ends with a point is a weight and its bias."""
    found = []
    for kind, name, *words in map(str.split, text.strip().splitlines()):
        part, parts = next((map(int, word.split("/")) for word in words if "/" in word), (0, 1))
        gated = True if "gated" in words else False if "ungated" in words else None
        flags = {word: word in words for word in ("turned", "heads", "padded", "outside", "of_decoder")}
        both = [(kind, "weight"), (kind + "_bias", "bias")] if name.endswith(".") else [(kind, "")]
        found += [Row(tensor, name + end, **flags, gated=gated, part=part, parts=parts) for tensor, end in both]
    return found


@dataclasses.dataclass(frozen=True)
class Family:
    """title: in messages. prefix: of names where the base model is part of another. others: tensors that are not read,
    with the prefix, or without it: outside; copies: those, outside, that must equal another one. keys: (key of
    config.json, attribute, how it is read), see Config.field; `needed` must be there. only: keys with the one value
    that is taken. tied: where config.json does not say it; surely_tied: and another output matrix contradicts this even
    then. sized: sizes that are not in config.json come from the tensors. read: what is not a key for an attribute."""
    title: str
    rows: list[Row]
    initial: dict[str, Any]
    keys: list[tuple[str, str, Any]]
    needed: tuple[str, ...] = ()
    prefix: str = ""
    others: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    copies: dict[str, str] = dataclasses.field(default_factory=dict)
    only: dict[str, Any] = dataclasses.field(default_factory=dict)
    tied: bool = False
    surely_tied: bool = False
    sized: bool = False
    read: Optional[Callable[[Any, Any], None]] = None


# ---- what is not a key for an attribute: config is a Config, network a Network of published.py ----


def read_scaling(config: Any, a: dict[str, Any]) -> None:
    key = "type" if config.has("type") else "rope_type"  # the older key wins
    kind = config.word(key, "default")
    if kind == "default":
        return
    if kind not in ("linear", "llama3"):
        config.refuse(key, "default, linear or llama3")
    a["rotary_factor"] = config.real("factor", 1, SCALE, 1)
    if kind == "linear":
        return
    a["rotary_low"] = config.real("low_freq_factor", 1 / SCALE, SCALE, 1)
    a["rotary_high"] = config.real("high_freq_factor", 1 / SCALE, SCALE, 4)
    a["rotary_context"] = config.real("original_max_position_embeddings", 1, WORDS, 8192)
    if a["rotary_high"] <= a["rotary_low"]:
        config.refuse("high_freq_factor", "above low_freq_factor")


def read_kin(config: Any, network: Any) -> None:
    a = network.architecture
    if config.is_null("num_key_value_heads"):  # as many as heads, whatever the family takes without the key
        a["kv_heads"] = 0
    a["rotary_base"] = config.real("rope_theta", 1, BASE, a["rotary_base"])
    if config.positive("partial_rotary_factor", 1) != 1:
        config.refuse("partial_rotary_factor", "1")
    for name in ("rope_scaling", "rope_parameters"):
        inner = config.within(name)
        if inner:
            a["rotary_base"] = inner.real("rope_theta", 1, BASE, a["rotary_base"])
            read_scaling(inner, a)
    if (a["head_width"] or a["width"] // a["heads"]) % 2:
        config.fail("rotary positions need an even width of heads")


def read_window(config: Any, network: Any) -> None:
    """A token attends to the last `sliding_window` ones: no difference in a window of so many."""
    silent = WORDS if config.is_null("sliding_window") else 4096
    network.architecture["context"] = min(network.architecture["context"],
                                          config.whole("sliding_window", 1, WORDS, silent))


def read_mistral(config: Any, network: Any) -> None:
    read_kin(config, network)
    read_window(config, network)
    if config.has("rope_scaling") and network.architecture["rotary_factor"]:
        config.refuse("rope_scaling", "null, which all versions of the library take alike")


def read_qwen2(config: Any, network: Any) -> None:
    read_kin(config, network)
    if config.true("use_sliding_window", False):
        read_window(config, network)


def read_roberta(config: Any, network: Any) -> None:
    """Positions begin behind the number of the padding token. The layer that predicts has gelu, whatever the blocks
    have."""
    network.padding = config.whole("pad_token_id", 0, SIZE, 1)
    network.architecture["context"] -= network.padding + 1
    if network.architecture["context"] < 1:
        config.refuse("max_position_embeddings", "above pad_token_id + 1")
    network.padded_rows = network.padding + 1
    network.gelu_transform = True


T5_WORDS = {"relu": (False, "relu"), "gelu": (False, "gelu"), "silu": (False, "silu"),
            "gated-gelu": (True, "gelu_tanh"), "gated-silu": (True, "silu"), "gated-relu": (True, "relu")}


def read_t5(config: Any, network: Any) -> None:
    """The activation of "gated-gelu" alone is gelu_new. Files of the library also have keys with what it makes of this
    one; they win. A tied output layer divides its input by the root of the width."""
    a = network.architecture
    word = config.word("feed_forward_proj", "relu")
    if word not in T5_WORDS:
        config.refuse("feed_forward_proj", any_of(T5_WORDS))
    gated, activation = T5_WORDS[word]
    a["activation"] = config.activation("dense_act_fn", activation)
    a["gated"] = config.true("is_gated_act", gated)
    config.only({"relative_attention_num_buckets": BUCKETS, "relative_attention_max_distance": REACH,
                 "is_encoder_decoder": True})
    a["decoder_layers"] = a["decoder_layers"] or a["layers"]
    a["output_scale"] = 1 / math.sqrt(a["width"]) if network.tied else 0.0
    network.start = config.whole("decoder_start_token_id", 0, a["vocabulary"] - 1, -1)
    network.end = config.whole("eos_token_id", 0, a["vocabulary"] - 1, -1)


def read_xlnet(config: Any, network: Any) -> None:
    """untie_r says how files of TensorFlow are read; here every block has its biases."""
    if network.architecture["width"] % 2:  # sines and cosines of a distance, as many of each
        config.refuse("d_model", "an even number")
    config.only({"attn_type": "bi", "bi_data": False})
    config.whole("clamp_len", -1, 0, -1)  # above 0, far distances would count as this one


def any_of(words: Any) -> str:
    """"a, b or c"."""
    *first, last = words
    return f"{', '.join(first)} or {last}"


# ---- the table ----

GPT2 = Family(
    title="GPT-2", prefix="transformer.", tied=True, sized=True,
    rows=rows("""
        token     wte.weight
        position  wpe.weight
        q         h.#.attn.c_attn.  turned 0/3
        k         h.#.attn.c_attn.  turned 1/3
        v         h.#.attn.c_attn.  turned 2/3
        o         h.#.attn.c_proj.  turned
        w1        h.#.mlp.c_fc.     turned
        w2        h.#.mlp.c_proj.   turned
        ln1       h.#.ln_1.
        ln2       h.#.ln_2.
        final     ln_f.
        output    lm_head.weight    outside"""),
    others=("h.#.attn.bias", "h.#.attn.masked_bias"),  # masks
    initial={"activation": "gelu_tanh", **dict.fromkeys(BIASES[:4], True)},
    keys=[("vocab_size", "vocabulary", WORDS), ("n_positions", "context", WORDS), ("n_embd", "width", SIZE),
          ("n_layer", "layers", BLOCKS), ("n_head", "heads", SIZE), ("n_inner", "feedforward", SIZE),
          ("activation_function", "activation", "activation"), ("layer_norm_epsilon", "norm_epsilon", "positive"),
          ("scale_attn_weights", "score_scale", "scaled")],
    only={"scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False})

# Llama and its kin: rotary positions, rmsnorm, a gated feed-forward layer, shared keys and values. They differ in
# their biases, in where their norms are, and in what is taken where config.json is silent.
KIN = """
    token     embed_tokens.weight
    q         layers.#.self_attn.q_proj.
    k         layers.#.self_attn.k_proj.
    v         layers.#.self_attn.v_proj.
    o         layers.#.self_attn.o_proj.
    w1        layers.#.mlp.gate_proj.
    w2        layers.#.mlp.down_proj.
    w3        layers.#.mlp.up_proj.
    final     norm.weight
    output    lm_head.weight  outside"""
LLAMA_NORMS = """
    ln1       layers.#.input_layernorm.weight
    ln2       layers.#.post_attention_layernorm.weight"""
OLMO2_NORMS = """
    ln1       layers.#.post_attention_layernorm.weight
    ln2       layers.#.post_feedforward_layernorm.weight
    q_norm    layers.#.self_attn.q_norm.weight
    k_norm    layers.#.self_attn.k_norm.weight"""
ATTENTION_BIAS = ("attention_bias", "qkv_bias o_bias", "biases")


def kin(title: str, *keys: Any, norms: str = LLAMA_NORMS, read: Any = read_kin, **initial: Any) -> Family:
    return Family(
        title=title, prefix="model.", rows=rows(KIN + norms), read=read,
        others=("layers.#.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq"),  # follow from the configuration
        initial={"norm": "rmsnorm", "norm_epsilon": 1e-6, "positions": "rotary", "gated": True, "activation": "silu",
                 "context": 2048, **initial},
        needed=("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
        keys=[("vocab_size", "vocabulary", WORDS), ("max_position_embeddings", "context", WORDS),
              ("hidden_size", "width", SIZE), ("intermediate_size", "feedforward", SIZE),
              ("num_hidden_layers", "layers", BLOCKS), ("num_attention_heads", "heads", SIZE),
              ("num_key_value_heads", "kv_heads", SIZE), ("head_dim", "head_width", SIZE),
              ("hidden_act", "activation", "activation"), ("rms_norm_eps", "norm_epsilon", "positive"),
              ("rope_theta", "rotary_base", "positive"), *keys])


# BERT and RoBERTa: encoders with LayerNorm behind the residual sums and behind the embeddings. The layer that predicts
# masked words is there in some files and not in others. All tokens are of the first type.
BERT_ROWS = """
    token           embeddings.word_embeddings.weight
    position        embeddings.position_embeddings.weight  POSITIONS
    type            embeddings.token_type_embeddings.weight
    embedding_norm  embeddings.LayerNorm.
    q               encoder.layer.#.attention.self.query.
    k               encoder.layer.#.attention.self.key.
    v               encoder.layer.#.attention.self.value.
    o               encoder.layer.#.attention.output.dense.
    w1              encoder.layer.#.intermediate.dense.
    w2              encoder.layer.#.output.dense.
    ln1             encoder.layer.#.attention.output.LayerNorm.
    ln2             encoder.layer.#.output.LayerNorm.
    transform       HEAD.  outside
    transform_norm  NORM.  outside
    output          DECODER.weight  outside
    output_bias     BIAS.bias  outside"""


def bert(title: str, prefix: str, outside: tuple[str, ...] = (), read: Any = None, **names: str) -> Family:
    text = BERT_ROWS
    for word, name in names.items():
        text = text.replace(word, name)
    return Family(
        title=title, prefix=prefix, tied=True, read=read, rows=rows(text),
        others=("embeddings.position_ids", "embeddings.token_type_ids", "pooler.dense.weight", "pooler.dense.bias"),
        outside=outside,
        copies={names["DECODER"] + ".bias": "output_bias"},
        initial={"network": "encoder", "context": 512, "token_types": 2, "activation": "gelu", "norm_epsilon": 1e-12,
                 "norm_placement": "post", "embedding_norm": True, **dict.fromkeys(BIASES, True), "transform": True},
        needed=("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
        keys=[("vocab_size", "vocabulary", WORDS), ("max_position_embeddings", "context", WORDS),
              ("type_vocab_size", "token_types", SIZE), ("hidden_size", "width", SIZE),
              ("intermediate_size", "feedforward", SIZE), ("num_hidden_layers", "layers", BLOCKS),
              ("num_attention_heads", "heads", SIZE), ("hidden_act", "activation", "activation"),
              ("layer_norm_eps", "norm_epsilon", "positive")],
        only={"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False})


# An encoder and a decoder with rmsnorm and without biases, scores that are not scaled, and positions as biases of
# scores, which the first block of each stack holds for all. Nothing bounds the length of a text.
T5 = Family(
    title="T5", tied=True, surely_tied=True, read=read_t5,
    rows=rows("""
        token             shared.weight
        relative          decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight
        encoder_relative  encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight
        q                 encoder.block.#.layer.0.SelfAttention.q.weight
        k                 encoder.block.#.layer.0.SelfAttention.k.weight
        v                 encoder.block.#.layer.0.SelfAttention.v.weight
        o                 encoder.block.#.layer.0.SelfAttention.o.weight
        ln1               encoder.block.#.layer.0.layer_norm.weight
        w1                encoder.block.#.layer.1.DenseReluDense.wi.weight    ungated
        w1                encoder.block.#.layer.1.DenseReluDense.wi_0.weight  gated
        w3                encoder.block.#.layer.1.DenseReluDense.wi_1.weight  gated
        w2                encoder.block.#.layer.1.DenseReluDense.wo.weight
        ln2               encoder.block.#.layer.1.layer_norm.weight
        q                 decoder.block.#.layer.0.SelfAttention.q.weight      of_decoder
        k                 decoder.block.#.layer.0.SelfAttention.k.weight      of_decoder
        v                 decoder.block.#.layer.0.SelfAttention.v.weight      of_decoder
        o                 decoder.block.#.layer.0.SelfAttention.o.weight      of_decoder
        ln1               decoder.block.#.layer.0.layer_norm.weight           of_decoder
        cross_q           decoder.block.#.layer.1.EncDecAttention.q.weight    of_decoder
        cross_k           decoder.block.#.layer.1.EncDecAttention.k.weight    of_decoder
        cross_v           decoder.block.#.layer.1.EncDecAttention.v.weight    of_decoder
        cross_o           decoder.block.#.layer.1.EncDecAttention.o.weight    of_decoder
        cross_ln          decoder.block.#.layer.1.layer_norm.weight           of_decoder
        w1                decoder.block.#.layer.2.DenseReluDense.wi.weight    of_decoder ungated
        w1                decoder.block.#.layer.2.DenseReluDense.wi_0.weight  of_decoder gated
        w3                decoder.block.#.layer.2.DenseReluDense.wi_1.weight  of_decoder gated
        w2                decoder.block.#.layer.2.DenseReluDense.wo.weight    of_decoder
        ln2               decoder.block.#.layer.2.layer_norm.weight           of_decoder
        final             decoder.final_layer_norm.weight
        encoder_final     encoder.final_layer_norm.weight
        output            lm_head.weight"""),
    # The first files had a bias in cross-attention, which was never used.
    others=("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",),
    copies={"encoder.embed_tokens.weight": "token", "decoder.embed_tokens.weight": "token"},
    initial={"network": "encoder_decoder", "context": UNBOUNDED, "norm": "rmsnorm", "norm_epsilon": 1e-6,
             "positions": "relative", "score_scale": "none"},
    needed=("vocab_size", "d_model", "d_kv", "d_ff", "num_layers", "num_heads"),
    keys=[("vocab_size", "vocabulary", WORDS), ("d_model", "width", SIZE), ("d_kv", "head_width", SIZE),
          ("d_ff", "feedforward", SIZE), ("num_layers", "layers", BLOCKS),
          ("num_decoder_layers", "decoder_layers", BLOCKS), ("num_heads", "heads", SIZE),
          ("layer_norm_epsilon", "norm_epsilon", "positive")])

# XLNet as it reads a text: an encoder whose scores have a second part, of the query and the key of their distance. Its
# loss predicts words from a second stream of states, which do not see them; the program has one stream, so that the
# output layer is not read. Nor are segments, which a plain text does not have.
XLNET = Family(
    title="XLNet", prefix="transformer.", read=read_xlnet,
    rows=rows("""
        token          word_embedding.weight
        q              layer.#.rel_attn.q         turned heads
        k              layer.#.rel_attn.k         turned heads
        v              layer.#.rel_attn.v         turned heads
        o              layer.#.rel_attn.o         heads
        w1             layer.#.ff.layer_1.
        w2             layer.#.ff.layer_2.
        ln1            layer.#.rel_attn.layer_norm.
        ln2            layer.#.ff.layer_norm.
        distance       layer.#.rel_attn.r         turned heads
        content_bias   layer.#.rel_attn.r_w_bias  heads
        distance_bias  layer.#.rel_attn.r_r_bias  heads"""),
    others=("mask_emb", "layer.#.rel_attn.r_s_bias", "layer.#.rel_attn.seg_embed"),
    outside=("lm_loss.weight", "lm_loss.bias"),
    initial={"network": "encoder", "context": UNBOUNDED, "activation": "gelu", "norm_epsilon": 1e-12,
             "norm_placement": "post", "positions": "distance", "feedforward_bias": True, "norm_bias": True},
    needed=("vocab_size", "d_model", "d_inner", "n_layer", "n_head"),
    keys=[("vocab_size", "vocabulary", WORDS), ("d_model", "width", SIZE), ("d_inner", "feedforward", SIZE),
          ("n_layer", "layers", BLOCKS), ("n_head", "heads", SIZE), ("d_head", "head_width", SIZE),
          ("ff_activation", "activation", "activation"), ("layer_norm_eps", "norm_epsilon", "positive")])

FAMILIES = {
    "gpt2": GPT2,
    "llama": kin("Llama", ATTENTION_BIAS, ("mlp_bias", "feedforward_bias", "biases")),
    "mistral": kin("Mistral", read=read_mistral, context=131072, kv_heads=8),
    "qwen2": kin("Qwen2", read=read_qwen2, context=32768, kv_heads=32, qkv_bias=True),
    "olmo2": kin("OLMo 2", ATTENTION_BIAS, norms=OLMO2_NORMS, norm_placement="out", norm_epsilon=1e-5, final_norm=True,
                 qk_norm="together"),
    "bert": bert("BERT", "bert.", ("cls.seq_relationship.weight", "cls.seq_relationship.bias"), POSITIONS="",
                 HEAD="cls.predictions.transform.dense", NORM="cls.predictions.transform.LayerNorm",
                 DECODER="cls.predictions.decoder", BIAS="cls.predictions"),
    "roberta": bert("RoBERTa", "roberta.", read=read_roberta, POSITIONS="padded", HEAD="lm_head.dense",
                    NORM="lm_head.layer_norm", DECODER="lm_head.decoder", BIAS="lm_head"),
    "t5": T5,
    "xlnet": XLNET,
}
