"""The training step of tests/speed.c as a PyTorch user would write it, with much the same protocol.

    speed_torch.py [-t THREADS]    each line of standard input is a request and is answered by one line

A request is
    prepare SHAPE SECONDS         finds the fastest optimiser and, for each mode, the fastest way to the loss
    step SHAPE MODE SECONDS       training steps on random tokens
    product PRECISION SECONDS     products of 1024 x 1024 matrices
SHAPE is V,C,H,F,L,T,B and may end in ",gelu". MODE is a precision, float or bfloat16, and how a step is run, eager or
compile: float-eager, bfloat16-compile and so on. bfloat16 is autocast of the forward pass and the loss, the library's
own rule for what is rounded, or rounded factors of products alone; weights and optimiser stay float. The library's
layers, loss and AdamW are used; of its ways to compute products and attention and to take an optimiser's step, the
fastest on the shape at hand is chosen before anything is timed.
"""
import argparse
import ctypes
import itertools
import logging
import math
import resource
import statistics
import sys
import time
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional

PRODUCT = 1024  # rows and columns of the product's matrices
LARGE = 4 << 30  # bytes: a process that has more gives back what it does not use
TEXT_STEPS = 64  # training steps until the text comes again
PRECISIONS = ("float", "bfloat16")
MODES = tuple(f"{precision}-{run}" for precision in PRECISIONS for run in ("eager", "compile"))
# The rest of what tests/reference.py has to know of this network.
WORDS = {"bias": True, "tied": False, "norm_placement": "pre", "attention_mask": "causal", "activation": "relu"}
FLOAT_ERROR = 1e-5  # of products of float, over the largest value
OPTIMISERS = {"fused": {"fused": True}, "foreach": {"foreach": True}, "loop": {"foreach": False}}


def timed(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def median(function, seconds):
    """The median time of a call, repeated for some seconds, at least once."""
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        times.append(timed(function))
    return statistics.median(times)


# The model


def attention_products(q, k, v, mask):
    """Two products, batched over sequences and heads."""
    batch, heads, length, size = q.shape
    q, k, v = (part.reshape(batch * heads, length, size) for part in (q, k, v))
    scores = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=1 / math.sqrt(size))
    return torch.bmm(functional.softmax(scores, -1), v).view(batch, heads, length, size)


def attention_fused(q, k, v, _):
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


ATTENTIONS = {"sdpa": attention_fused, "products": attention_products}
if not hasattr(functional, "scaled_dot_product_attention"):
    del ATTENTIONS["sdpa"]


class Attention(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.mix = attention_products
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.register_buffer("mask", torch.full((context, context), -math.inf).triu(1), persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = self.mix(*qkv.unbind(0), self.mask)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, feedforward, context, activation):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads, context)
        self.norm2 = nn.LayerNorm(width)
        self.feedforward = nn.Sequential(nn.Linear(width, feedforward), activation(), nn.Linear(feedforward, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feedforward(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, vocabulary, width, heads, feedforward, layers, context, activation=nn.ReLU):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(context, width)
        blocks = (Block(width, heads, feedforward, context, activation) for _ in range(layers))
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.token(tokens) + self.position.weight
        return self.output(self.norm(self.blocks(x)))

    def use(self, attention):
        for block in self.blocks:
            block.attention.mix = ATTENTIONS[attention]

    def own_names(self):
        """Its tensors by normsweep's names, as in tests/reference.py; queries, keys and values are views."""
        found = {("token", -1): self.token.weight, ("position", -1): self.position.weight}
        for name, layer in ("final", self.norm), ("output", self.output):
            found[name, -1], found[name + "_bias", -1] = layer.weight, layer.bias
        for i, block in enumerate(self.blocks):
            layers = {"o": block.attention.out, "w1": block.feedforward[0], "w2": block.feedforward[2],
                      "ln1": block.norm1, "ln2": block.norm2}
            for kind, suffix in ("weight", ""), ("bias", "_bias"):
                found |= {(name + suffix, i): part
                          for name, part in zip("qkv", getattr(block.attention.qkv, kind).chunk(3))}
                found |= {(name + suffix, i): getattr(layer, kind) for name, layer in layers.items()}
        return found

    @torch.no_grad()
    def load(self, tensors):
        """Takes the values of {(normsweep's name, layer): tensor}."""
        own = self.own_names()
        assert own.keys() == tensors.keys(), sorted(own.keys() ^ tensors.keys())
        for name, tensor in tensors.items():
            own[name].copy_(tensor)


# Training


def medium_is_float():
    """Whether PyTorch computes products in float all the same if it is allowed to round factors to bfloat16 (matmul
    precision `medium`): by another library, and maybe faster. It does so on processors without AMX."""
    a = torch.rand(256, 256)
    want = a.double() @ a.double()
    torch.set_float32_matmul_precision("medium")
    error = (a @ a - want).abs().max() / want.abs().max()
    torch.set_float32_matmul_precision("highest")
    return bool(error < FLOAT_ERROR)


def products_of(precision):
    """Ways to compute products: plain, with matmul precision `medium`, under autocast."""
    medium = ["medium"] if (precision == "float") == medium_is_float() else []
    return (["plain"] if precision == "float" else ["autocast"]) + medium


class Way(NamedTuple):
    attention: str
    products: str


class Training:
    """A model and its optimiser, and the functions that compute its loss, compiled when first used. Each mode has its
    own way."""

    def __init__(self, model):
        self.model, self.options = model, {"lr": 1e-3, "weight_decay": 1e-2}
        self.products = {precision: products_of(precision) for precision in PRECISIONS}
        self.ways = {mode: Way(next(iter(ATTENTIONS)), self.products[mode.split("-")[0]][0]) for mode in MODES}
        self.losses = {}
        self.optimiser_name = "loop"
        self.optimise_with(self.optimiser_name)

    def optimise_with(self, name, **other):
        """A new optimiser, without moments; an error if this PyTorch does not have that one."""
        self.optimiser = None  # its memory
        self.optimiser = torch.optim.AdamW(self.model.parameters(), **self.options | OPTIMISERS[name] | other)

    def plain_loss(self, tokens, target):
        return functional.cross_entropy(self.model(tokens).flatten(0, 1), target)

    def autocast_loss(self, tokens, target):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.plain_loss(tokens, target)

    def loss(self, mode):
        """The function of this mode, with everything set for it and for its gradient."""
        way, run = self.ways[mode], mode.split("-")[1]
        is_autocast = way.products == "autocast"
        if (run, is_autocast) not in self.losses:
            function = self.autocast_loss if is_autocast else self.plain_loss
            self.losses[run, is_autocast] = torch.compile(function, dynamic=False) if run == "compile" else function
        self.model.use(way.attention)
        torch.set_float32_matmul_precision("medium" if way.products == "medium" else "highest")
        return self.losses[run, is_autocast]

    def step(self, mode, tokens, target):
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.loss(mode)(tokens, target)
        loss.backward()
        self.optimiser.step()
        return loss

    def choose(self, modes, batch, seconds):
        """What is the fastest, by name: the optimiser, and the way of each mode, or why the mode is not to be had. The
        first step in each way touches its memory or compiles it, untimed."""
        chosen = {"optimiser": self.choose_optimiser(batch, seconds)}
        for mode in modes:
            try:
                chosen[mode] = "/".join(self.choose_way(mode, batch, seconds))
            except Exception as error:  # whatever a compiler may raise
                chosen[mode] = "none:" + in_words(error)
        return chosen

    def choose_optimiser(self, batch, seconds):
        times = {}
        self.step("float-eager", *batch())  # its gradient serves them all
        for name in OPTIMISERS:
            try:
                self.optimise_with(name, lr=0.0)  # the same gradient, many times, would lead the weights astray
            except (RuntimeError, TypeError, ValueError):
                continue
            self.optimiser.step()
            times[name] = median(self.optimiser.step, seconds)
        self.optimiser_name = min(times, key=times.get)
        self.optimise_with(self.optimiser_name)
        return self.optimiser_name

    def choose_way(self, mode, batch, seconds):
        times = {Way(*pair): [] for pair in itertools.product(ATTENTIONS, self.products[mode.split("-")[0]])}
        for way in times:
            self.ways[mode] = way
            self.step(mode, *batch())
        end = time.perf_counter() + seconds * len(times)
        while not times[way] or time.perf_counter() < end:
            for way in times:
                self.ways[mode] = way
                times[way].append(timed(lambda: self.step(mode, *batch())))
        self.ways[mode] = min(times, key=lambda way: statistics.median(times[way]))
        return self.ways[mode]


def in_words(error):
    """The first line of an error, as one word of an answer."""
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return "_".join(f"{type(error).__name__}: {line}".split())[:160]


class Subject:
    def __init__(self, shape):
        words = shape.split(",")
        vocabulary, width, heads, feedforward, layers, context, batch = map(int, words[:7])
        activation = nn.GELU if words[7:] == ["gelu"] else nn.ReLU
        torch.manual_seed(0)
        model = Transformer(vocabulary, width, heads, feedforward, layers, context, activation)
        text = torch.randint(vocabulary, (TEXT_STEPS, batch, context + 1))
        self.batches = itertools.cycle([(part[:, :-1].contiguous(), part[:, 1:].flatten()) for part in text])
        self.training, self.loss = Training(model), None

    def step(self, mode):
        self.loss = self.training.step(mode, *next(self.batches)).detach()

    def choose(self, seconds):
        return self.training.choose(MODES, lambda: next(self.batches), seconds)

    def parameters(self):
        return sum(parameter.numel() for parameter in self.training.model.parameters())


# Requests


def give_back():
    """Gives unused memory back to the system if this process holds much of it, because others take turns with it.
    Whether it did so: then the next step has to touch memory anew."""
    with open("/proc/self/statm", encoding="utf-8") as statm:
        resident = int(statm.read().split()[1]) * resource.getpagesize()
    return resident > LARGE and bool(ctypes.CDLL(None).malloc_trim(0))


class Server:
    def __init__(self):
        self.shape, self.subject = None, None
        self.gave_back = False

    def hold(self, shape):
        if shape == self.shape:
            return
        self.subject = None  # the memory of the one before it
        if hasattr(torch, "compile"):
            torch.compiler.reset()
        self.shape, self.subject = shape, Subject(shape)

    def prepare(self, shape, seconds):
        self.hold(shape)
        chosen = self.subject.choose(seconds)
        self.gave_back = give_back()
        return chosen

    def step(self, shape, mode, seconds):
        self.hold(shape)
        if self.gave_back:
            self.subject.step(mode)
        taken = median(lambda: self.subject.step(mode), seconds)
        assert self.subject.loss.isfinite(), f"{shape}, {mode}: the loss is not finite"
        self.gave_back = give_back()
        return {"seconds": taken, "parameters": self.subject.parameters()}

    def product(self, precision, seconds):
        kind = {"float": torch.float32, "bfloat16": torch.bfloat16}[precision]
        a, b, c = (torch.rand(PRODUCT, PRODUCT).to(kind) for _ in range(3))
        torch.mm(a, b, out=c)
        taken = median(lambda: torch.mm(a, b, out=c), seconds)
        return {"seconds": taken, "GFLOP/s": 2e-9 * PRODUCT**3 / taken}

    def answer(self, line):
        request, *words, seconds = line.split()
        assert request in ("prepare", "step", "product"), f"no request '{request}'"
        answers = getattr(self, request)(*words, float(seconds))
        return " ".join(f"{name} {value:.9g}" if isinstance(value, float) else f"{name} {value}"
                        for name, value in answers.items())


def blas_kernel():
    """What computes products: the kernel of the OpenBLAS in this process, or another library."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "libopenblas" in line}
    for path in paths:
        name = getattr(ctypes.CDLL(path), "openblas_get_corename", None)
        if name:
            name.restype = ctypes.c_char_p
            return name().decode()
    return "MKL" if "Math Kernel Library" in torch.__config__.show() else "unknown"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-t", type=int, default=1)
    threads = parser.parse_args().t
    torch.set_num_threads(threads)
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)  # there may well be no CUDA
    server = Server()
    print(f"version {torch.__version__} BLAS_kernel {blas_kernel()} threads {torch.get_num_threads()}", flush=True)
    for request in sys.stdin:
        print(server.answer(request), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(1)
