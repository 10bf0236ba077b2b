"""The second implementation against the library that defines published networks, transformers from PyPI: GPT-2, llama
with shared keys, T5 and the blocks of BERT, of random weights. Skipped without that library; nothing else needs it."""
import missing
import pytest
import torch

import reference

pytestmark = pytest.mark.thorough("needs transformers")

transformers = missing.transformers("the tests' own networks in PyTorch against the published ones",
                                    allow_module_level=True)

V, C, H, F, L, T = 23, 24, 4, 40, 3, 200
CONFIG = {"layers": L, "width": C, "heads": H, "feedforward": F, "context": T, "attention_mask": "causal",
          "norm_placement": "pre", "bias": False, "tied": False}
TOLERANCE = 2e-6  # parts of it compute in float32, whatever the weights are


def rows(*lengths):
    """Random tokens [B, T], and which of them are no padding."""
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return reference.Sequences(torch.randint(V, real.shape), real)


def ready(model):
    """In double and without dropout, all weights at random, gains and biases too."""
    torch.manual_seed(1)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model.double().eval()


def close(got, want, real):
    assert (got - want)[real].abs().max() <= TOLERANCE * want[real].abs().max()


@torch.no_grad()
def check(config, weights, inputs, states, want=None):
    """states: of each stack before its first block and between blocks, and its output; want: the logits."""
    assert {(name, layer): shape for name, layer, shape in reference.layout(config, V)} == {
        key: tuple(tensor.shape) for key, tensor in weights.items()}
    passes = reference.forward(config, weights, inputs)
    for passed, there, (_, real) in zip(passes, states, inputs, strict=True):
        for mine, theirs in zip(passed.states[:-1] + [passed.final], there, strict=True):
            close(mine, theirs, real)
    if want is not None:
        close(reference.output_layer(config, weights, passes[-1].final), want, inputs[-1].real)


def put(weights, layer, **modules):
    """The weight and bias of each module under our names."""
    for name, module in modules.items():
        weights[name, layer] = module.weight
        if getattr(module, "bias", None) is not None:
            weights[name + "_bias", layer] = module.bias


def test_gpt2():
    config = transformers.GPT2Config(vocab_size=V, n_positions=T, n_embd=C, n_layer=L, n_head=H, n_inner=F)
    model, inputs = ready(transformers.GPT2LMHeadModel(config)), rows(T, 13, 1)
    weights, body = {("output_bias", -1): torch.zeros(V)}, model.transformer
    put(weights, -1, token=body.wte, position=body.wpe, final=body.ln_f)
    for i, block in enumerate(body.h):
        put(weights, i, o=block.attn.c_proj, w1=block.mlp.c_fc, w2=block.mlp.c_proj, ln1=block.ln_1, ln2=block.ln_2)
        joint = block.attn.c_attn
        for name, weight, bias in zip("qkv", joint.weight.chunk(3, -1), joint.bias.chunk(3)):
            weights[name, i], weights[name + "_bias", i] = weight, bias
        for name in reference.MATRICES[:6]:  # its matrices are [in, out]
            weights[name, i] = weights[name, i].T
    out = model(inputs.tokens, attention_mask=inputs.real.long(), output_hidden_states=True)
    check(CONFIG | {"activation": "gelu_tanh", "bias": True, "tied": True}, weights, [inputs], [out.hidden_states],
          out.logits)


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_llama(kv_heads):
    config = transformers.LlamaConfig(vocab_size=V, hidden_size=C, intermediate_size=F, num_hidden_layers=L,
                                      num_attention_heads=H, num_key_value_heads=kv_heads, max_position_embeddings=T,
                                      rms_norm_eps=1e-5, hidden_act="silu")
    model, inputs = ready(transformers.LlamaForCausalLM(config)), rows(T, 13, 1)
    weights = {("output_bias", -1): torch.zeros(V)}
    put(weights, -1, token=model.model.embed_tokens, final=model.model.norm, output=model.lm_head)
    for i, block in enumerate(model.model.layers):
        attention, mlp = block.self_attn, block.mlp
        put(weights, i, q=attention.q_proj, k=attention.k_proj, v=attention.v_proj, o=attention.o_proj,
            w1=mlp.gate_proj, w3=mlp.up_proj, w2=mlp.down_proj, ln1=block.input_layernorm,
            ln2=block.post_attention_layernorm)
    out = model(inputs.tokens, attention_mask=inputs.real.long(), output_hidden_states=True)
    check(CONFIG | {"activation": "silu", "norm": "rmsnorm", "gated": True, "kv_heads": kv_heads,
                    "positions": "rotary"}, weights, [inputs], [out.hidden_states], out.logits)


def put_t5_stack(weights, stack, first, prefix):
    weights[prefix + "relative", -1] = stack.block[0].layer[0].SelfAttention.relative_attention_bias.weight
    weights[prefix + "final", -1] = stack.final_layer_norm.weight
    for i, block in enumerate(stack.block, first):
        attention, feedforward = block.layer[0].SelfAttention, block.layer[-1]
        put(weights, i, q=attention.q, k=attention.k, v=attention.v, o=attention.o, ln1=block.layer[0].layer_norm,
            w1=feedforward.DenseReluDense.wi, w2=feedforward.DenseReluDense.wo, ln2=feedforward.layer_norm)
        if len(block.layer) == 3:
            cross = block.layer[1].EncDecAttention
            put(weights, i, cross_q=cross.q, cross_k=cross.k, cross_v=cross.v, cross_o=cross.o,
                cross_ln=block.layer[1].layer_norm)


def test_t5():
    config = transformers.T5Config(vocab_size=V, d_model=C, d_kv=C // H, d_ff=F, num_layers=L, num_decoder_layers=L - 1,
                                   num_heads=H, layer_norm_epsilon=1e-5, tie_word_embeddings=False)
    model, source, inputs = ready(transformers.T5ForConditionalGeneration(config)), rows(T, 31, 1), rows(T, 3, 17)
    weights = {("output_bias", -1): torch.zeros(V)}
    put(weights, -1, token=model.shared, output=model.lm_head)
    put_t5_stack(weights, model.encoder, 0, "encoder_")
    put_t5_stack(weights, model.decoder, L, "")
    out = model(input_ids=source.tokens, attention_mask=source.real.long(), decoder_input_ids=inputs.tokens,
                decoder_attention_mask=inputs.real.long(), output_hidden_states=True)
    check(CONFIG | {"network": "encoder_decoder", "decoder_layers": L - 1, "activation": "relu", "norm": "rmsnorm",
                    "positions": "relative", "score_scale": "none"}, weights, [source, inputs],
          [out.encoder_hidden_states, out.decoder_hidden_states], out.logits)


def test_blocks_of_bert():
    """Its embeddings have a norm, and a third part, which ours do not have."""
    config = transformers.BertConfig(vocab_size=V, hidden_size=C, num_hidden_layers=L, num_attention_heads=H,
                                     intermediate_size=F, max_position_embeddings=T, layer_norm_eps=1e-5)
    model, inputs = ready(transformers.BertModel(config)), rows(T, 13, 1)
    weights = {("output", -1): torch.zeros(V, C), ("output_bias", -1): torch.zeros(V)}
    put(weights, -1, token=model.embeddings.word_embeddings, position=model.embeddings.position_embeddings)
    for i, block in enumerate(model.encoder.layer):
        attention = block.attention
        put(weights, i, q=attention.self.query, k=attention.self.key, v=attention.self.value, o=attention.output.dense,
            ln1=attention.output.LayerNorm, w1=block.intermediate.dense, w2=block.output.dense,
            ln2=block.output.LayerNorm)
    embedded = weights["token", -1][inputs.tokens] + weights["position", -1][: inputs.tokens.shape[1]]
    hidden = torch.zeros(inputs.real.shape).masked_fill(~inputs.real, -torch.inf)[:, None, None, :]
    out = model.encoder(embedded, attention_mask=hidden, output_hidden_states=True)
    check(CONFIG | {"network": "encoder", "activation": "gelu", "bias": True, "norm_placement": "post"}, weights,
          [inputs], [out.hidden_states])
