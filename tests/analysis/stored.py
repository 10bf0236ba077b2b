"""Networks of others as files: tensors whose elements count on from a number, and the smallest networks of each family.

A tensor is a line "NAME 2,3 100": its shape, and its first element.
"""
import json
import math
import struct

import numpy as np


def entries(lines, dtype="<f4"):
    """({name: entry of the header}, data) of a file; a type that is not F32 has the right number of bytes."""
    found, data = {}, b""
    for line in lines.strip().splitlines():
        name, lengths, first = line.rsplit(" ", 2)
        shape = [int(length) for length in lengths.split(",")]
        content = (int(first) + np.arange(math.prod(shape))).astype(dtype).tobytes()
        kind = {"f": "F", "i": "I"}[np.dtype(dtype).kind] + str(8 * np.dtype(dtype).itemsize)
        found[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    return found, data


def framed(header, length=None):
    return struct.pack("<Q", len(header) if length is None else length) + header


def packed(header, data):
    text = json.dumps(header).encode()
    return framed(text + b" " * (-len(text) % 8)) + data


def save(folder, config, lines, name="model.safetensors", dtype="<f4"):
    folder.mkdir(exist_ok=True)
    if config is not None:
        (folder / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    (folder / name).write_bytes(packed(*entries(lines, dtype)))


def named(prefix, text):
    """The lines with a prefix."""
    return "\n".join(prefix + line.strip() for line in text.strip().splitlines())


GPT2 = """
wte.weight 3,2 0
wpe.weight 4,2 10
ln_f.weight 2 20
ln_f.bias 2 30
h.0.ln_1.weight 2 40
h.0.ln_1.bias 2 50
h.0.ln_2.weight 2 60
h.0.ln_2.bias 2 70
h.0.attn.c_attn.weight 2,6 100
h.0.attn.c_attn.bias 6 200
h.0.attn.c_proj.weight 2,2 300
h.0.attn.c_proj.bias 2 400
h.0.mlp.c_fc.weight 2,3 500
h.0.mlp.c_fc.bias 3 600
h.0.mlp.c_proj.weight 3,2 700
h.0.mlp.c_proj.bias 2 800"""

KIN_CONFIG = {"vocab_size": 3, "hidden_size": 4, "intermediate_size": 2, "num_hidden_layers": 1,
              "num_attention_heads": 2, "num_key_value_heads": 1}
KIN = """
model.embed_tokens.weight 3,4 0
model.norm.weight 4 10
lm_head.weight 3,4 20
model.layers.0.self_attn.q_proj.weight 4,4 100
model.layers.0.self_attn.k_proj.weight 2,4 200
model.layers.0.self_attn.v_proj.weight 2,4 300
model.layers.0.self_attn.o_proj.weight 4,4 400
model.layers.0.mlp.gate_proj.weight 2,4 500
model.layers.0.mlp.up_proj.weight 2,4 600
model.layers.0.mlp.down_proj.weight 4,2 700
"""
LLAMA = KIN + """model.layers.0.input_layernorm.weight 4 800
model.layers.0.post_attention_layernorm.weight 4 900
"""
OLMO2 = KIN + """model.layers.0.self_attn.q_norm.weight 4 1
model.layers.0.self_attn.k_norm.weight 2 5
model.layers.0.post_attention_layernorm.weight 4 800
model.layers.0.post_feedforward_layernorm.weight 4 900
"""

ENCODER_CONFIG = {"vocab_size": 3, "hidden_size": 2, "intermediate_size": 3, "num_hidden_layers": 1,
                  "num_attention_heads": 2, "max_position_embeddings": 5}
ENCODER = """
embeddings.word_embeddings.weight 3,2 0
embeddings.position_embeddings.weight 5,2 10
embeddings.token_type_embeddings.weight 2,2 20
embeddings.LayerNorm.weight 2 30
embeddings.LayerNorm.bias 2 40
encoder.layer.0.attention.self.query.weight 2,2 100
encoder.layer.0.attention.self.query.bias 2 110
encoder.layer.0.attention.self.key.weight 2,2 120
encoder.layer.0.attention.self.key.bias 2 130
encoder.layer.0.attention.self.value.weight 2,2 140
encoder.layer.0.attention.self.value.bias 2 150
encoder.layer.0.attention.output.dense.weight 2,2 160
encoder.layer.0.attention.output.dense.bias 2 170
encoder.layer.0.attention.output.LayerNorm.weight 2 180
encoder.layer.0.attention.output.LayerNorm.bias 2 190
encoder.layer.0.intermediate.dense.weight 3,2 200
encoder.layer.0.intermediate.dense.bias 3 210
encoder.layer.0.output.dense.weight 2,3 220
encoder.layer.0.output.dense.bias 2 230
encoder.layer.0.output.LayerNorm.weight 2 240
encoder.layer.0.output.LayerNorm.bias 2 250
"""

T5_CONFIG = {"vocab_size": 3, "d_model": 2, "d_kv": 2, "d_ff": 3, "num_layers": 1, "num_heads": 1}
ATTENTION = "{0}.q.weight 2,2 100\n{0}.k.weight 2,2 110\n{0}.v.weight 2,2 120\n{0}.o.weight 2,2 130\n"
FEEDFORWARD = "{0}.wi_0.weight 3,2 200\n{0}.wi_1.weight 3,2 210\n{0}.wo.weight 2,3 220\n"
T5 = """
shared.weight 3,2 0
encoder.embed_tokens.weight 3,2 0
encoder.final_layer_norm.weight 2 10
decoder.final_layer_norm.weight 2 20
encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 32,1 1000
decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 32,1 2000
""" + "".join(
    form.format(f"{stack}.block.0.layer.{place}.{name}") + f"{stack}.block.0.layer.{place}.layer_norm.weight 2 140\n"
    for stack, kinds in (("encoder", ("SelfAttention", "DenseReluDense")),
                         ("decoder", ("SelfAttention", "EncDecAttention", "DenseReluDense")))
    for place, name in enumerate(kinds) for form in [FEEDFORWARD if name == "DenseReluDense" else ATTENTION])

XLNET_CONFIG = {"model_type": "xlnet", "vocab_size": 3, "d_model": 2, "n_layer": 1, "n_head": 2, "d_inner": 3}
XLNET = """
transformer.word_embedding.weight 3,2 0
transformer.mask_emb 1,1,2 0
lm_loss.weight 3,2 7
lm_loss.bias 3 0
""" + named("transformer.layer.0.", """
rel_attn.q 2,2,1 100
rel_attn.k 2,2,1 110
rel_attn.v 2,2,1 120
rel_attn.o 2,2,1 130
rel_attn.r 2,2,1 140
rel_attn.r_w_bias 2,1 150
rel_attn.r_r_bias 2,1 160
rel_attn.r_s_bias 2,1 170
rel_attn.seg_embed 2,2,1 180
rel_attn.layer_norm.weight 2 190
rel_attn.layer_norm.bias 2 200
ff.layer_1.weight 3,2 210
ff.layer_1.bias 3 220
ff.layer_2.weight 2,3 230
ff.layer_2.bias 2 240
ff.layer_norm.weight 2 250
ff.layer_norm.bias 2 260""")
