"""Products of factors that are rounded to bfloat16, in PyTorch."""
import math

import torch

DROPPED = 45  # bits of a double's fraction that a bfloat16 number has not


def bfloat16(x):
    """The nearest bfloat16 numbers, ties to the even one; below float's normal numbers 0. NaN and infinities stay."""
    bits = x.contiguous().view(torch.int64)
    half = (1 << DROPPED - 1) - 1 + (bits >> DROPPED & 1)  # one more where the last bit that stays is odd
    y = (bits + half & -1 << DROPPED).view(torch.float64)  # a carry goes into the exponent
    y = torch.where(x.abs() < 2.0**-126, 0 * x, y)
    if (y.abs() < 2.0**128).all():
        return y
    y = torch.where(y.abs() >= 2.0**128, math.inf * x.sign(), y)
    return torch.where(torch.isfinite(x), y, x)


class RoundedProduct(torch.autograd.Function):
    """The product of rounded factors. Those of its gradients are rounded, too: the gradient of the product is one."""

    @staticmethod
    def forward(context, a, b):
        context.save_for_backward(a, b)
        return bfloat16(a) @ bfloat16(b)

    @staticmethod
    def backward(context, gradient):
        a, b = context.saved_tensors
        of_a = RoundedProduct.apply(gradient, b.transpose(-1, -2))
        return of_a, RoundedProduct.apply(a.transpose(-1, -2), gradient)
