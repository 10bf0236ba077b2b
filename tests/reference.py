"""A second implementation of this program's networks, in PyTorch and float64, for the parity tests.

Written from the definitions, not from the C sources: plain tensor operations and autograd, real padding where the C
side packs its sequences. A configuration is a dict of the sweep file's own keys. A sequence is (tokens, targets), that
of an encoder-decoder (source, tokens, targets); a target NO_TARGET is none.
"""
import functools
import math
from typing import NamedTuple

import numpy as np
import torch

from reference_bfloat16 import RoundedProduct

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

NO_TARGET = -1

# Keys that a configuration may lack.
DEFAULTS = {"network": "decoder", "decoder_layers": 0, "kv_heads": 0, "norm": "layernorm", "qk_norm": False,
            "output_scale": 1, "precision": "float", "positions": "learned", "score_scale": "sqrt", "gated": False,
            "residual_scale": 1, "output_bias": True, "parametrization": "standard", "base_width": 0, "z_loss": 0}


def setting(config, key):
    return config.get(key, DEFAULTS[key])


def is_mup(config):
    return setting(config, "parametrization") == "mup"


def narrowing(config):
    """What mup multiplies rates and logits by (Yang et al. 2022, Table 8)."""
    return config["base_width"] / config["width"] if is_mup(config) else 1


# The tensors


class Stack(NamedTuple):
    """A stack of blocks, begin .. end - 1 of all blocks of a network."""
    begin: int
    end: int
    mask: str  # of self-attention: causal, multiplicative, none
    cross: bool  # its blocks attend to the output of the stack before it
    prefix: str  # of the names of its tensors outside the blocks


def stacks(config):
    """The stacks of a network, an encoder before its decoder."""
    layers, mask = config["layers"], config["attention_mask"]
    if setting(config, "network") == "decoder":
        return [Stack(0, layers, mask, False, "")]
    if setting(config, "network") == "encoder":
        return [Stack(0, layers, "none", False, "")]
    end = layers + (setting(config, "decoder_layers") or layers)
    return [Stack(0, layers, "none", False, "encoder_"), Stack(layers, end, mask, True, "")]


def blocks(config):
    return stacks(config)[-1].end


# Each tensor's name, lengths and what a network, or a block of it, must have to have the tensor; in memory order.
EMBEDDINGS = """
token V C
position T C learned
relative R H relative
encoder_position T C learned two_stacks
encoder_relative R H relative two_stacks
"""
BLOCK = """
q C C
k K C
v K C
o C C
w1 F C
w2 C F
ln1 C normed
ln2 C normed
q_bias C bias
k_bias K bias
v_bias K bias
o_bias C bias
w1_bias F bias
w2_bias C bias
ln1_bias C shift
ln2_bias C shift
w3 F C gated
w3_bias F gated bias
q_norm D qk_norm
k_norm D qk_norm
q_norm_bias D qk_norm shift
k_norm_bias D qk_norm shift
cross_q C C cross
cross_k K C cross
cross_v K C cross
cross_o C C cross
cross_ln C cross normed
cross_q_bias C cross bias
cross_k_bias K cross bias
cross_v_bias K cross bias
cross_o_bias C cross bias
cross_ln_bias C cross shift
cross_q_norm D cross qk_norm
cross_k_norm D cross qk_norm
cross_q_norm_bias D cross qk_norm shift
cross_k_norm_bias D cross qk_norm shift
"""
OUTPUT = """
final C pre
final_bias C pre shift
encoder_final C pre two_stacks
encoder_final_bias C pre shift two_stacks
output V C untied
output_bias V output_biased
"""
LENGTHS = "VTRHCKFD"


def table(text):
    """[(name, lengths, needs)]"""
    rows = [line.split() for line in text.split("\n") if line]
    return [(name, [word for word in words if word in LENGTHS], {word for word in words if word not in LENGTHS})
            for name, *words in rows]


LAYER_TENSORS = tuple(name for name, _, _ in table(BLOCK))
MATRICES = tuple(name for name, lengths, _ in table(BLOCK) if len(lengths) == 2)


def kv_heads(config):
    return setting(config, "kv_heads") or config["heads"]


def has(config):
    """What the network has, of the words in the tables."""
    words = {
        "learned": setting(config, "positions") == "learned",
        "relative": setting(config, "positions") == "relative",
        "two_stacks": len(stacks(config)) == 2,
        "bias": config["bias"],
        "shift": config["bias"] and setting(config, "norm") == "layernorm",
        "gated": setting(config, "gated"),
        "qk_norm": setting(config, "qk_norm"),
        "normed": setting(config, "norm") != "none",
        "pre": config["norm_placement"] == "pre" and setting(config, "norm") != "none",
        "untied": not config["tied"],
        "output_biased": setting(config, "output_bias"),
    }
    return {word for word, there in words.items() if there}


def layout(config, vocabulary):
    """[(name, layer, shape)] of every tensor that exists, in memory order; layer -1 outside the blocks."""
    width, heads = config["width"], config["heads"]
    length = {"V": vocabulary, "T": config["context"], "R": BUCKETS, "H": heads, "C": width,
              "K": width // heads * kv_heads(config), "F": config["feedforward"], "D": width // heads}

    def tensors(text, layer, words):
        return [(name, layer, tuple(length[letter] for letter in lengths))
                for name, lengths, needs in table(text) if needs <= words]

    found = tensors(EMBEDDINGS, -1, has(config))
    for stack in stacks(config):
        for layer in range(stack.begin, stack.end):
            found += tensors(BLOCK, layer, has(config) | ({"cross"} if stack.cross else set()))
    return found + tensors(OUTPUT, -1, has(config))


def weights_from(flat, config, vocabulary):
    """{(name, layer): leaf tensor} from a flat array in the order of layout()."""
    weights, offset = {}, 0
    for name, layer, shape in layout(config, vocabulary):
        size = math.prod(shape)
        part = np.array(flat[offset : offset + size], dtype=np.float64).reshape(shape)
        weights[name, layer] = torch.from_numpy(part).requires_grad_()
        offset += size
    assert offset == len(flat), f"the layout has {offset} weights, the plane {len(flat)}"
    return weights


def flat(tensors):
    """The values of some tensors, in their order, as one array."""
    return np.concatenate([tensor.detach().numpy().ravel() for tensor in tensors])


def norm(*arrays):
    return math.sqrt(sum(float(np.dot(a, a)) for a in arrays))


# The layers


def normalise(config, x, gain, bias):
    if setting(config, "norm") == "none":
        return x
    if setting(config, "norm") == "rmsnorm":
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-5) * gain
    y = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5) * gain
    return y if bias is None else y + bias


def product(config, a, b):
    return RoundedProduct.apply(a, b) if setting(config, "precision") == "bfloat16" else a @ b


def linear(config, x, weight, bias):
    y = product(config, x.flatten(0, -2), weight.T).view(*x.shape[:-1], -1)
    return y if bias is None else y + bias


def sinusoids(length, width):
    """[T, C]: sines at even elements, cosines at odd ones, of the position over 10000^(2i/C) (Vaswani et al. 2017)."""
    element = torch.arange(width)
    angle = torch.arange(length)[:, None] * 10000.0 ** (-2 * (element // 2) / width)
    return torch.where(element % 2 == 0, angle.sin(), angle.cos())


def turned(x):
    """x [.., T, D], elements i and i + D/2 turned by the angle position / 10000^(2i/D) (Su et al. 2021)."""
    length, size = x.shape[-2:]
    angle = torch.arange(length)[:, None] * 10000.0 ** (-2 * torch.arange(size // 2) / size)
    a, b = x[..., : size // 2], x[..., size // 2 :]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)


BUCKETS, REACH = 32, 128


def bucket(distance, buckets):
    """One for each distance up to half of them, then by the logarithm, the last one from REACH on. In whole numbers,
    since 16, 32 and 64 lie exactly on borders: distance >= half (REACH / half)^(k / half) is true for k of them."""
    half = buckets // 2
    if distance < half:
        return distance
    return half + sum(distance**half * half**k >= half**half * REACH**k for k in range(1, half))


@functools.cache
def relative_buckets(length, both_sides):
    """[T, T] of a query and a key: T5's, who has half of them for later keys where there are any to be seen."""
    def of(query, key):
        if not both_sides:
            return bucket(max(query - key, 0), BUCKETS)
        return bucket(abs(query - key), BUCKETS // 2) + BUCKETS // 2 * (key > query)

    return torch.tensor([[of(query, key) for key in range(length)] for query in range(length)])


def hard_weights(scores):
    """The mean over the largest scores of each row, ties within 1e-6 relative."""
    most = scores.max(-1, keepdim=True).values
    chosen = (scores >= most - 1e-6 * most.abs()).to(scores.dtype)
    return chosen / chosen.sum(-1, keepdim=True)


def masked(scores, mask, real):
    """Scores [B, H, Tq, Tk] as the mask leaves them; real [B, Tk]: which keys are no padding."""
    later = torch.ones(scores.shape[-2:]).triu(1).bool()
    if mask == "causal":
        scores = scores.masked_fill(later, -math.inf)
    if mask == "multiplicative":
        scores = scores.masked_fill(later, 0)
    return scores.masked_fill(~real[:, None, None, :], -math.inf)


def attention(config, get, x, seen, real, mask="none", rotary=False, relative=None, hard=False):
    """What the queries of x [B, Tq, C] get from the keys and values of seen [B, Tk, C]; the weights [B, H, Tq, Tk]; and
    the scores before the mask.

    real [B, Tk]: which of the keys are no padding; rotary, relative [H, Tq, Tk]: what positions do to the scores;
    get(name) gives a tensor or None.
    """
    heads, size = config["heads"], config["width"] // config["heads"]

    def parts(name, y):
        y = linear(config, y, get(name), get(name + "_bias"))
        return y.view(y.shape[0], y.shape[1], -1, size).transpose(1, 2)

    q, k, v = parts("q", x), parts("k", seen), parts("v", seen)
    if setting(config, "qk_norm"):
        q, k = (normalise(config, y, get(name), get(name + "_bias")) for y, name in ((q, "q_norm"), (k, "k_norm")))
    if rotary:
        q, k = turned(q), turned(k)
    k, v = (y.repeat_interleave(heads // kv_heads(config), dim=1) for y in (k, v))
    scores = product(config, q, k.transpose(2, 3))
    if is_mup(config):
        scores = scores / size
    elif setting(config, "score_scale") == "sqrt":
        scores = scores / math.sqrt(size)
    if relative is not None:
        scores = scores + relative
    seen = masked(scores, mask, real)
    weights = hard_weights(seen) if hard else torch.softmax(seen, dim=-1)
    mixed = product(config, weights, v).transpose(1, 2).flatten(2)
    return linear(config, mixed, get("o"), get("o_bias")), weights, scores


ACTIVATIONS = {
    "relu": torch.relu,
    "gelu": lambda x: x * 0.5 * (1 + torch.erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": lambda x: x * torch.sigmoid(x),
}


def feedforward(config, get, x):
    hidden = ACTIVATIONS[config["activation"]](linear(config, x, get("w1"), get("w1_bias")))
    if setting(config, "gated"):
        hidden = hidden * linear(config, x, get("w3"), get("w3_bias"))
    return linear(config, hidden, get("w2"), get("w2_bias"))


# The network


class Sequences(NamedTuple):
    """What a stack reads: rows of tokens, padded to the longest one."""
    tokens: torch.Tensor  # [B, T]
    real: torch.Tensor  # [B, T] which of them are no padding


class Passed(NamedTuple):
    """What a pass through a stack leaves."""
    states: list  # [B, T, C] before the first block and after each
    final: torch.Tensor  # [B, T, C] what comes after: the last of them, behind the final norm if there is one
    weights: list  # [B, H, T, T] of each block's self-attention
    scores: list  # the same before the mask


def add_sublayer(config, x, function, norm):
    scale, placement = setting(config, "residual_scale"), config["norm_placement"]
    if placement == "post":
        return norm(x + scale * function(x))
    return x + scale * (function(norm(x)) if placement == "pre" else norm(function(x)))


def block_forward(config, weights, stack, layer, x, real, memory=None, hard=False):
    """The state [B, T, C] after a block, and the weights and scores of its self-attention. memory: the output of the
    stack before it, and what of that is real."""
    def get(name):
        return weights.get((name, layer))

    def norm(name):
        return lambda y: normalise(config, y, get(name), get(name + "_bias"))

    rotary, kept = setting(config, "positions") == "rotary", []
    relative = weights.get((stack.prefix + "relative", -1))
    if relative is not None:
        relative = relative[relative_buckets(x.shape[1], stack.mask == "none")].permute(2, 0, 1)

    def attend(y):
        out, *seen = attention(config, get, y, y, real, stack.mask, rotary, relative, hard)
        kept.append(seen)
        return out

    def attend_across(y):
        return attention(config, lambda name: get("cross_" + name), y, *memory, hard=hard)[0]

    x = add_sublayer(config, x, attend, norm("ln1"))
    if stack.cross:
        x = add_sublayer(config, x, attend_across, norm("cross_ln"))
    return add_sublayer(config, x, lambda y: feedforward(config, get, y), norm("ln2")), kept[0]


def embed(config, weights, stack, tokens):
    """[B, T] -> [B, T, C]"""
    x, length = weights["token", -1][tokens], tokens.shape[1]
    if setting(config, "positions") == "learned":
        x = x + weights[stack.prefix + "position", -1][:length]
    if setting(config, "positions") == "sinusoidal":
        x = x + sinusoids(length, config["width"])
    return x


def final_norm(config, weights, stack, x):
    if config["norm_placement"] != "pre" or setting(config, "norm") == "none":
        return x
    return normalise(config, x, weights[stack.prefix + "final", -1], weights.get((stack.prefix + "final_bias", -1)))


def stack_forward(config, weights, stack, sequences, memory=None, hard=False):
    states, seen = [embed(config, weights, stack, sequences.tokens)], []
    for layer in range(stack.begin, stack.end):
        x, own = block_forward(config, weights, stack, layer, states[-1], sequences.real, memory, hard)
        states.append(x)
        seen.append(own)
    return Passed(states, final_norm(config, weights, stack, states[-1]), *map(list, zip(*seen)))


def forward(config, weights, inputs, hard=False):
    """[Sequences] for each stack -> [Passed] of each."""
    passed, memory = [], None
    for stack, sequences in zip(stacks(config), inputs, strict=True):
        passed.append(stack_forward(config, weights, stack, sequences, memory, hard))
        memory = passed[-1].final, sequences.real
    return passed


def output_layer(config, weights, x):
    """[B, T, C] -> [B, T, V]."""
    head = weights["token", -1] if config["tied"] else weights["output", -1]
    scale = narrowing(config) * setting(config, "output_scale")
    return linear(config, x * scale, head, weights.get(("output_bias", -1)))


def logits(config, weights, inputs):
    """[Sequences] for each stack -> [B, T, V] of the last."""
    return output_layer(config, weights, forward(config, weights, inputs)[-1].final)


def padded(rows, filler=0):
    """Rows of different lengths as [B, T] and which of it is real."""
    tensors = [torch.as_tensor(np.array(row, dtype=np.int64)) for row in rows]
    real = [torch.ones(len(row), dtype=torch.bool) for row in rows]
    pad = functools.partial(torch.nn.utils.rnn.pad_sequence, batch_first=True)
    return pad(tensors, padding_value=filler), pad(real, padding_value=False)


def batch_of(sequences):
    """[Sequences] for each stack, and the targets [B, T]."""
    *inputs, targets = zip(*sequences)
    return [Sequences(*padded(rows)) for rows in inputs], padded(targets, NO_TARGET)[0]


def mean_over(rows, targets):
    """Mean over the sequences of the mean over each one's predictions, of rows [B, T]."""
    counted = targets != NO_TARGET
    return (torch.where(counted, rows, torch.zeros(())).sum(1) / counted.sum(1)).mean()


def mean_losses(config, weights, final, targets):
    """The loss and the trained loss, which has z_loss in it, from the last stack's output [B, T, C]."""
    scores = output_layer(config, weights, final)
    log_p = torch.log_softmax(scores, dim=-1)
    value = mean_over(-log_p.gather(2, targets.clamp(min=0)[:, :, None])[:, :, 0], targets)
    return value, value + setting(config, "z_loss") * mean_over(torch.logsumexp(scores, dim=-1) ** 2, targets)


def losses(config, weights, sequences):
    """The loss and the trained loss."""
    inputs, targets = batch_of(sequences)
    return mean_losses(config, weights, forward(config, weights, inputs)[-1].final, targets)


def loss(config, weights, sequences):
    return losses(config, weights, sequences)[0]


def unseen(config, stack):
    """The tensors of a stack's blocks whose gradient is 0 in exact mathematics, where autograd leaves rounding noise,
    which optimisers that normalise would blow up.

    What is added to all keys of a head adds the same number to all scores of a query, and a softmax does not see it.
    Two things come between: rotary positions turn what was added, by another angle for each key; a multiplicative mask
    takes it from some scores alone. Cross-attention has neither. It does not matter which heads share the keys, how
    scores are scaled or what relative positions add. The bias of the keys is added to all of them, unless a norm comes
    behind it: then the bias of the norm is, if it has one.
    """
    name = "k_norm_bias" if setting(config, "qk_norm") else "k_bias"
    own = stack.mask != "multiplicative" and setting(config, "positions") != "rotary"
    return ({name} if own else set()) | ({"cross_" + name} if stack.cross else set())


def unseen_tensors(config):
    """{(name, layer)} of all stacks; some may be absent."""
    return {(name, layer) for stack in stacks(config) for name in unseen(config, stack)
            for layer in range(stack.begin, stack.end)}


def backward(config, weights, sequences):
    """The loss as a float; the gradient of the trained loss is left in the tensors."""
    for tensor in weights.values():
        tensor.grad = None
    (value, trained), zeros = losses(config, weights, sequences), unseen_tensors(config)
    trained.backward()
    for key, tensor in weights.items():
        if tensor.grad is None or key in zeros:
            tensor.grad = torch.zeros_like(tensor)
    return value.item()
