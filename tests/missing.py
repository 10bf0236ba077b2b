"""Why a test is skipped, said in one way: what is missing here, what is therefore not checked, how to get it.

`make check` shows these sentences to people who did not write the tests. `__tracebackhide__` has pytest name the place
in the test and not this file.
"""

import shutil

import pytest

TRANSFORMERS = "pip install transformers safetensors, and a PyTorch that it accepts"


def sentence(missing, unchecked, remedy):
    return f"{missing}, so this is not checked here: {unchecked}. To check it: {remedy}"


def skip(missing, unchecked, remedy, **options):
    __tracebackhide__ = True
    pytest.skip(sentence(missing, unchecked, remedy), **options)


def module(name, unchecked, remedy):
    """The module; without it the test, or the file, is skipped."""
    __tracebackhide__ = True
    return pytest.importorskip(name, reason=sentence(f"Python's {name} is not installed", unchecked, remedy))


def program(name, unchecked, package):
    """A mark for tests that need a program of a Debian package."""
    return pytest.mark.skipif(not shutil.which(name), reason=sentence(
        f"{name} is not installed", unchecked, f"apt-get install {package}"))


def need(name, unchecked, package):
    """The same within a test."""
    __tracebackhide__ = True
    if not shutil.which(name):
        skip(f"{name} is not installed", unchecked, f"apt-get install {package}")


def transformers(unchecked, **options):
    """The library transformers with a PyTorch that it accepts; else the test, or the file, is skipped."""
    __tracebackhide__ = True
    found = module("transformers", unchecked, TRANSFORMERS)
    if not found.utils.is_torch_available():
        skip("transformers does not accept the PyTorch that is installed", unchecked, TRANSFORMERS, **options)
    return found
