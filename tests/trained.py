"""Models of others with random weights, made and run in float64 by the library that defines them: transformers, from
PyPI. What `normsweep inspect` must say of their files."""
import contextlib
import math
import re

import numpy as np
import torch
import transformers

import draws

if not transformers.utils.is_torch_available():
    raise ImportError("transformers needs a later PyTorch")
torch.set_num_threads(1)
transformers.logging.set_verbosity_error()

V, C, H, F, L, T = 71, 24, 4, 40, 3, 16
START, END, MASK = 0, 1, 4
ORDINARY, SENTINELS = 5, 20  # the first word that is nothing else; the words at the end that are not ordinary
SCALE = 1000  # of the saturated network


# ---- the library, in double ----


@contextlib.contextmanager
def replaced(*replacements):
    """Sets attributes, (object, name, value), for as long as the context lasts."""
    before = [(where, name, getattr(where, name)) for where, name, _ in replacements]
    for where, name, value in replacements:
        setattr(where, name, value)
    try:
        yield
    finally:
        for where, name, value in before:
            setattr(where, name, value)


@contextlib.contextmanager
def double():
    """The library computes some parts in float32 whatever the weights are: rmsnorm, the softmax of llama's kin and of
    T5, rotary angles, XLNet's sinusoids, and T5's buckets, which come out the same. In this context its float32 is
    float64. GPT-2, BERT and RoBERTa need no such help."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with replaced((torch, "float32", torch.float64), (torch, "float", torch.float64),
                      (torch.Tensor, "float", torch.Tensor.double)):
            yield
    finally:
        torch.set_default_dtype(before)


def hard_softmax(scores, dim=-1, **options):
    """The mean over the keys of largest score."""
    largest = scores.max(dim, keepdim=True).values
    chosen = (scores >= largest - 1e-6 * largest.abs()).to(scores.dtype)
    return chosen / chosen.sum(dim, keepdim=True)


# ---- the families ----

BASE = {"vocab_size": V, "hidden_size": C, "intermediate_size": F, "num_hidden_layers": L, "num_attention_heads": H,
        "max_position_embeddings": T}
GPT2 = {"vocab_size": V, "n_positions": T, "n_embd": C, "n_layer": L, "n_head": H, "n_inner": F}
LLAMA = BASE | {"num_key_value_heads": H, "rms_norm_eps": 1e-6}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
T5 = {"vocab_size": V, "d_model": C, "d_kv": C // H, "d_ff": F, "num_layers": L, "num_heads": H,
      "decoder_start_token_id": START, "eos_token_id": END, "pad_token_id": START, "feed_forward_proj": "relu"}
BERT = BASE | {"type_vocab_size": 2, "layer_norm_eps": 1e-12}
ROBERTA = BERT | {"type_vocab_size": 1, "max_position_embeddings": T + 2, "layer_norm_eps": 1e-5}
XLNET = {"vocab_size": V, "d_model": C, "n_layer": L, "n_head": H, "d_inner": F}

# The library's class, its configuration, what the network predicts: None without an output layer.
FAMILIES = {
    "gpt2": ("GPT2LMHeadModel", GPT2, "next"),
    "gpt2 untied, relu": ("GPT2LMHeadModel", GPT2 | {"tie_word_embeddings": False, "activation_function": "relu",
                                                     "n_inner": None}, "next"),
    "llama": ("LlamaForCausalLM", LLAMA, "next"),
    "llama bare": ("LlamaModel", LLAMA, None),
    "llama shared keys": ("LlamaForCausalLM", LLAMA | {"num_key_value_heads": 2}, "next"),
    "llama biases": ("LlamaForCausalLM", LLAMA | {"attention_bias": True, "mlp_bias": True}, "next"),
    "llama tied": ("LlamaForCausalLM", LLAMA | {"tie_word_embeddings": True}, "next"),
    "llama rope_theta": ("LlamaForCausalLM", LLAMA | {"rope_theta": 5e5}, "next"),
    "llama llama3": ("LlamaForCausalLM", LLAMA | {"rope_theta": 5e5, "rope_scaling": LLAMA3, "hidden_size": 4 * C,
                                                  "max_position_embeddings": 512}, "next"),
    "llama linear": ("LlamaForCausalLM", LLAMA | {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, "next"),
    "llama wide heads": ("LlamaForCausalLM", LLAMA | {"head_dim": 10, "num_key_value_heads": 1}, "next"),
    "mistral": ("MistralForCausalLM", LLAMA | {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": None},
                "next"),
    "qwen2": ("Qwen2ForCausalLM", LLAMA | {"num_key_value_heads": 2}, "next"),
    "qwen2 tied": ("Qwen2ForCausalLM", LLAMA | {"num_key_value_heads": 1, "tie_word_embeddings": True}, "next"),
    "olmo2 biases": ("Olmo2ForCausalLM", LLAMA | {"attention_bias": True, "hidden_act": "relu"}, "next"),
    "olmo2": ("Olmo2ForCausalLM", LLAMA | {"num_key_value_heads": 2}, "next"),
    "bert": ("BertForMaskedLM", BERT, "masked"),
    "bert relu, two heads": ("BertForPreTraining", BERT | {"hidden_act": "relu"}, "masked"),
    "bert gentle": ("BertForMaskedLM", BERT, "masked"),
    "bert bare": ("BertModel", BERT, None),
    "roberta": ("RobertaForMaskedLM", ROBERTA, "masked"),
    "roberta gentle": ("RobertaForMaskedLM", ROBERTA, "masked"),
    "roberta bare": ("RobertaModel", ROBERTA, None),
    "t5 v1.0": ("T5ForConditionalGeneration", T5, "spans"),
    "t5 v1.1": ("T5ForConditionalGeneration", T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
                "spans"),
    "t5 silu": ("T5ForConditionalGeneration", T5 | {"feed_forward_proj": "gated-silu"}, "spans"),
    "t5 wide heads": ("T5ForConditionalGeneration", T5 | {"d_kv": 10, "vocab_size": 300}, "spans"),
    "t5 fewer layers": ("T5ForConditionalGeneration", T5 | {"num_decoder_layers": L - 1}, "spans"),
    "xlnet": ("XLNetLMHeadModel", XLNET, None),
    "xlnet relu": ("XLNetModel", XLNET | {"ff_activation": "relu"}, None),
    "xlnet gentle": ("XLNetLMHeadModel", XLNET, None),
}
ENCODER = re.compile("bert|roberta|xlnet")
CONTEXT = {"llama llama3": 60, "t5 wide heads": 200}  # of the text; else T

EMBEDDINGS = ("wte", "wpe", "embed_tokens", "shared", "_embeddings", "word_embedding")


# What writes to the stream where a norm is behind the sum. In families of GENTLE it is small, for the same reason; in
# the other ones of these families two positions may tie in float.
WRITERS = ("attention.self.value", "output.dense", "rel_attn.v", "rel_attn.o", "ff.layer_2")
GENTLE = ("bert gentle", "roberta gentle", "xlnet gentle")
TIED_IN_FLOAT = ("bert", "bert bare", "roberta", "roberta bare", "xlnet", "xlnet relu",
                 "bert relu, two heads")


def randomise(model, seed, writers):
    """All weights at random, gains and biases too. Embeddings are large: beside what saturated
    blocks add to them, float would not tell two positions apart that have attended to the same one, and they would
    tie where in double they do not."""
    draw = torch.Generator().manual_seed(seed)
    for name, tensor in model.named_parameters():
        gain = tensor.dim() == 1 and name.endswith("weight")
        spread = 3 if tensor.dim() == 2 and any(word in name for word in EMBEDDINGS) else 0.3
        spread *= math.sqrt(C / tensor.shape[-1]) if tensor.shape[-1] > 2 * C else 1
        if any(word in name for word in WRITERS):
            spread *= writers
        tensor.data = gain + spread * torch.randn(tensor.shape, generator=draw, dtype=torch.float64)


QUERIES = ("attn.c_attn", "q_proj", "q_norm", "query", "SelfAttention.q", "rel_attn.q", "r_w_bias", "r_r_bias")


def quieten(block, head, factor):
    """Multiplies what makes the scores of a head by a factor. Saturated, a random head attends to one position: so
    there is one that attends to all, and one that attends to some."""
    for name, tensor in block.named_parameters():
        queries = tensor.data
        if not any(word in name for word in QUERIES):
            continue
        if "rel_attn" in name:  # XLNet: [C, H, D] or [H, D]
            queries.movedim(-2, 0)[head] *= factor
            continue
        if "attn.c_attn" in name:  # GPT-2: [C, 3 C] or [3 C]
            queries = queries.movedim(-1, 0)[:queries.shape[-1] // 3]
        depth = len(queries) // H
        queries[head * depth:(head + 1) * depth] *= factor


def quieten_some(model):
    for blocks in stacks_of(model):
        quieten(blocks[0], 1, 0)
        quieten(blocks[-1], 2, 1e-11)
    for name, tensor in model.named_parameters():
        if "relative_attention_bias" in name:  # [buckets, H]
            tensor.data[:, 1:3] *= 0


def make(family, seed=1):
    """The model of a family, with random weights."""
    kind, settings, _ = FAMILIES[family]
    kind = getattr(transformers, kind)
    with double():
        model = kind(kind.config_class(**settings, attn_implementation="eager"))
    randomise(model, seed, writers=0.003 if family in GENTLE else 1)
    quieten_some(model)
    for tensor in model.parameters():
        tensor.data = torch.from_numpy(tensor.data.numpy().astype("f4").astype("f8"))  # as files hold them
    return model.eval()


def context(family):
    return CONTEXT.get(family, T)


def vocabulary(family):
    return FAMILIES[family][1]["vocab_size"]


def text(family, windows=6, seed=1):
    """Words of which none comes twice in a window: without positions in the embeddings, equal words tie."""
    draw, length = np.random.default_rng(seed), context(family)
    words = range(ORDINARY, vocabulary(family) - SENTINELS)
    return [int(word) for _ in range(windows + 1) for word in draw.permutation(words)[:length]][:length * windows + 3]


# ---- sequences: (source or None, tokens, targets or None) ----


def objective(family):
    return FAMILIES[family][2]


def windows(family, ids):
    """The windows of a stream of words; where the next word is predicted, with one word more."""
    length, more = context(family), objective(family) == "next"
    return [ids[at:at + length + more] for at in range(0, len(ids) - length, length)]


def cut(family, lines):
    """The lines that have something to measure, up to the length of a window."""
    more = objective(family) == "next"
    return [line[:context(family) + more] for line in lines if len(line) > more]


def sequences(family, pieces):
    """What the program measures of some windows, or lines."""
    if objective(family) == "next":
        return [(None, piece[:-1], piece[1:]) for piece in pieces]
    if objective(family) == "spans":
        first = vocabulary(family) - 1
        return [draws.spans(piece, i, lambda span: first - span, START, END, [END]) for i, piece in enumerate(pieces)]
    return [(None, piece, None) for piece in pieces]


def predicted(family, pieces):
    """What it takes the loss of: of an encoder other sequences, in which words are masked."""
    if objective(family) == "masked":
        return [(None, *draws.masked(piece, i, vocabulary(family), MASK)) for i, piece in enumerate(pieces)]
    return sequences(family, pieces) if objective(family) else []


# ---- what the library computes ----


def stacks_of(model):
    """The modules of the blocks of each stack."""
    base = getattr(model, model.base_model_prefix, model) if model.base_model_prefix else model
    if hasattr(base, "decoder") and hasattr(base, "encoder"):
        return [list(base.encoder.block), list(base.decoder.block)]
    for path in ("h", "layers", "encoder.layer", "layer"):
        try:
            return [list(base.get_submodule(path))]
        except AttributeError:
            continue
    raise ValueError(type(model))


class Recorder:
    """The states before and behind each block of a model, [T, C]."""

    def __init__(self, model):
        self.stacks = stacks_of(model)
        self.states = [[None] * (1 + len(blocks)) for blocks in self.stacks]
        self.turned = type(model).__name__.startswith("XLNet")  # its states are [T, B, C]
        self.hooks = []
        for stack, blocks in enumerate(self.stacks):
            self.hooks.append(blocks[0].register_forward_pre_hook(self.before(stack)))
            for i, block in enumerate(blocks, 1):
                self.hooks.append(block.register_forward_hook(self.behind(stack, i)))

    def keep(self, stack, i, state):
        self.states[stack][i] = state[:, 0] if self.turned else state[0]

    def before(self, stack):
        return lambda module, inputs: self.keep(stack, 0, inputs[0])

    def behind(self, stack, i):
        return lambda module, inputs, outputs: self.keep(stack, i, outputs[0])

    def remove(self):
        for hook in self.hooks:
            hook.remove()


@torch.no_grad()
def forward(model, sequence):
    """(states, attention, logits) of one sequence: of each stack its states and its output, [T, C] each; of each block
    the weights of its self-attention, [H, T, T]; the logits or None."""
    source, tokens, _ = sequence
    inputs = {"input_ids": torch.tensor([source if source is not None else tokens])}
    if source is not None:
        inputs["decoder_input_ids"] = torch.tensor([tokens])
    recorder = Recorder(model)
    try:
        out = model(**inputs, output_hidden_states=True, output_attentions=True)
    finally:
        recorder.remove()
    two = source is not None
    finals = [out.encoder_hidden_states[-1], out.decoder_hidden_states[-1]] if two else [out.hidden_states[-1]]
    attention = [*out.encoder_attentions, *out.decoder_attentions] if two else out.attentions
    states = [states + [final[0]] for states, final in zip(recorder.states, finals)]
    logits = out.get("logits", out.get("prediction_logits"))
    return states, [weights[0] for weights in attention], logits if logits is None else logits[0]


def joined(passes):
    """Of each stack its states over all sequences, [rows, C]."""
    return [[torch.cat(states) for states in zip(*of_stack)] for of_stack in zip(*passes)]


@contextlib.contextmanager
def scaled(model):
    """Every parameter times SCALE, the buffers as they are."""
    parameters = list(model.parameters())
    kept = [tensor.data for tensor in parameters]
    for tensor in parameters:
        tensor.data = SCALE * tensor.data
    try:
        yield
    finally:
        for tensor, data in zip(parameters, kept):
            tensor.data = data


def entropy(words):
    share = np.bincount(words) / len(words)
    return -sum(p * math.log(p) for p in share if p > 0)


def loss_measures(logits, targets):
    losses, predicted, right = [], [], []
    for scores, wanted in zip(logits, targets):
        rows = [(row, word) for row, word in enumerate(wanted) if word is not None]
        log_p = torch.log_softmax(scores, -1)
        losses.append(-sum(float(log_p[row, word]) for row, word in rows) / len(rows))
        predicted += [int(scores[row].argmax()) for row, _ in rows]
        right += [word for _, word in rows]
    return {"valid_loss": np.mean(losses), "accuracy": np.mean(np.equal(predicted, right)),
            "predicted_entropy": entropy(predicted)}


def cosine(states, others):
    return float(torch.cosine_similarity(states, others, dim=-1, eps=1e-300).mean())


def saturation_measures(name, states, others):
    """{(name, stack, layer): mean cosine}, of stacks and their layers; of an output the layer is "-"."""
    out = {}
    for stack, (mine, there) in enumerate(zip(states, others)):
        for layer, (a, b) in enumerate(zip(mine[1:-1], there[1:-1])):
            out[name, stack, layer, "-"] = cosine(a, b)
        out[name + "_final", stack, "-", "-"] = cosine(mine[-1], there[-1])
    return out


def head_measures(attention, stacks, causal):
    """attention: of each sequence of each block [H, T, T]."""
    out, block = {}, 0
    for stack, blocks in enumerate(stacks):
        for layer in range(blocks):
            counts = [(weights[block] > 1e-5).sum(-1).double() for weights in attention]
            visible = [torch.arange(1, count.shape[1] + 1) if causal[stack] else torch.full([1], count.shape[1])
                       for count in counts]
            for head in range(counts[0].shape[0]):
                rows = torch.cat([count[head] for count in counts])
                share = torch.cat([count[head] / seen for count, seen in zip(counts, visible)])
                out["positions_attended", stack, layer, head] = float(rows.mean())
                out["fraction_attended", stack, layer, head] = float(share.mean())
                out["share_above_one", stack, layer, head] = float((rows > 1).double().mean())
            block += 1
    return out


def run_all(model, read):
    passes = [forward(model, sequence) for sequence in read]
    return joined([states for states, _, _ in passes]), [weights for _, weights, _ in passes], [
        logits for _, _, logits in passes]


def measure(model, family, pieces):
    """(states, {(name, stack, layer, head): value})"""
    read, asked = sequences(family, pieces), predicted(family, pieces)
    with double():
        states, _, _ = run_all(model, read)
        with scaled(model):
            saturated, attention, _ = run_all(model, read)
            with replaced((torch.nn.functional, "softmax", hard_softmax)):
                hard, _, _ = run_all(model, read)
        _, _, logits = run_all(model, asked) if asked else ([], [], [])
    out = {}
    if asked:
        found = loss_measures(logits, [targets for _, _, targets in asked])
        out |= {(name, "-", "-", "-"): float(value) for name, value in found.items()}
    out |= saturation_measures("saturation", states, saturated)
    out |= saturation_measures("hard_saturation", states, hard)
    causal = [False, True] if len(states) == 2 else [not ENCODER.match(family)]
    return states, out | head_measures(attention, [len(stack) - 2 for stack in states], causal)
