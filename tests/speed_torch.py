"""The training step of tests/speed.c as a PyTorch user would write it, with the same protocol.

    speed_torch.py [-t THREADS]    each line of standard input is `step SHAPE SECONDS` or `sgemm SECONDS`

SHAPE is V,C,H,F,L,T,B and may end in ",gelu". Everything is eager float32: one product for queries, keys and values,
attention as products batched over sequences and heads, the library's own layers, loss and AdamW. Of the library's ways
to take a step and to clear gradients, the fastest on the shape at hand is used.
"""
import argparse
import ctypes
import itertools
import math
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

PRODUCT = 1024  # rows and columns of sgemm's matrices
TEXT_STEPS = 64  # training steps until the text comes again
TRIAL_SLICES = 5  # slices of time for finding the fastest way; each is tried once at least


def timed(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


class Attention(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.register_buffer("mask", torch.full((context, context), -math.inf).triu(1))

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.heads
        qkv = self.qkv(x).view(batch, length, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.reshape(3, batch * self.heads, length, size).unbind(0)
        scores = torch.baddbmm(self.mask, q, k.transpose(1, 2), alpha=1 / math.sqrt(size))
        mixed = torch.bmm(functional.softmax(scores, -1), v)
        return self.out(mixed.view(batch, self.heads, length, size).transpose(1, 2).reshape(batch, length, width))


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
    def __init__(self, vocabulary, width, heads, feedforward, layers, context, activation):
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


class Subject:
    """One shape in training, on random tokens."""

    def __init__(self, shape, seconds):
        words = shape.split(",")
        self.vocabulary, width, heads, feedforward, layers, context, batch = map(int, words[:7])
        activation = nn.GELU if words[7:] == ["gelu"] else nn.ReLU
        torch.manual_seed(0)
        self.model = Transformer(self.vocabulary, width, heads, feedforward, layers, context, activation)
        text = torch.randint(self.vocabulary, (TEXT_STEPS, batch, context + 1))
        self.batches = itertools.cycle([(part[:, :-1].contiguous(), part[:, 1:].flatten()) for part in text])
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=1e-3, weight_decay=1e-2)
        self.set_to_none = True
        self.step()  # touches all memory
        self.choose(TRIAL_SLICES * seconds)

    def step(self):
        tokens, target = next(self.batches)
        self.optimiser.zero_grad(set_to_none=self.set_to_none)
        loss = functional.cross_entropy(self.model(tokens).view(-1, self.vocabulary), target)
        loss.backward()
        self.optimiser.step()

    def use(self, foreach, set_to_none):
        self.optimiser.param_groups[0]["foreach"] = foreach
        self.set_to_none = set_to_none

    def choose(self, seconds):
        ways = list(itertools.product((False, True), repeat=2))
        times = {way: [] for way in ways}
        end = time.perf_counter() + seconds
        while not times[ways[-1]] or time.perf_counter() < end:
            for way in ways:
                self.use(*way)
                times[way].append(timed(self.step))
        self.use(*min(ways, key=lambda way: statistics.median(times[way])))

    def parameters(self):
        return sum(parameter.numel() for parameter in self.model.parameters())


class Server:
    def __init__(self):
        self.shape, self.subject = None, None
        self.factors = [torch.rand(PRODUCT, PRODUCT) for _ in range(3)]

    def product(self):
        torch.mm(self.factors[0], self.factors[1], out=self.factors[2])

    def prepare(self, shape, seconds):
        if shape != self.shape:
            self.subject = None  # the memory of the one before it
            self.shape, self.subject = shape, Subject(shape, seconds)

    def answer(self, request):
        kind, *shape, seconds = request.split()
        seconds = float(seconds)
        if kind == "sgemm":
            taken = median(self.product, seconds)
            return f"seconds {taken:.9g} GFLOP/s {2e-9 * PRODUCT ** 3 / taken:.5g}"
        assert kind == "step", f"no request '{kind}'"
        self.prepare(shape[0], seconds)
        return f"seconds {median(self.subject.step, seconds):.9g} parameters {self.subject.parameters()}"


def median(function, seconds):
    """The median time of a call, repeated for some seconds, at least once."""
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        times.append(timed(function))
    return statistics.median(times)


def blas_kernel():
    """The kernel of the OpenBLAS in this process; unknown where PyTorch computes with another library."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "libopenblas" in line}
    for path in paths:
        name = getattr(ctypes.CDLL(path), "openblas_get_corename", None)
        if name:
            name.restype = ctypes.c_char_p
            return name().decode()
    return "unknown"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-t", type=int, default=1)
    threads = parser.parse_args().t
    torch.set_num_threads(threads)
    server = Server()
    print(f"version {torch.__version__} BLAS_kernel {blas_kernel()} threads {torch.get_num_threads()}", flush=True)
    for request in sys.stdin:
        print(server.answer(request), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(1)
