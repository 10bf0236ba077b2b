"""Weights files of this program: `analysis/weights` calls write_network for a network of others, and open_saved for one
that is exported. A weights file has the form that docs/formats.md describes, and a checksum over all of it."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
from typing import Any, BinaryIO, Iterator

import netCDF4
import numpy as np

from .families import ARCHITECTURE, BASE, BLOCKS, CHOICES, TENSORS, WORDS, lengths, stacks, tensors_of
from .hints import Array
from .names import FORMAT
from .published import Network
from .tensor_files import Refused, opened

TITLE = "weights of a network"


# ---- the checksum of a weights file: worker/checkpoint/checksum.c, with the place of seal.c ----

LANES = 1024
PRIME, BASIS, SHIFT = np.uint64(0x100000001b3), np.uint64(0xcbf29ce484222325), np.uint64(29)
MARKER = b"\0\0\0\0\0\0\0\x08checksum\0\0\0\x02\0\0\0\0\0\0\0\x10"
BLANK = "-" * 16


def mix(hashed: Array, word: Array) -> Array:
    hashed = (hashed ^ word) * PRIME
    return hashed ^ hashed >> SHIFT


def checksum(file: BinaryIO) -> tuple[int, bytes]:
    """(the place of the checksum in an open file, what it should be); place -1: it has none."""
    lanes, size, place = BASIS + np.arange(LANES, dtype="u8"), 0, -1
    file.seek(0)
    while block := file.read(1 << 20):
        if size == 0:
            place = block.find(MARKER)
            if place < 0:
                return -1, b""
            place += len(MARKER)
            block = block[:place] + bytes(16) + block[place + 16:]
        size += len(block)
        for words in np.frombuffer(block + bytes(-len(block) % (8 * LANES)), "<u8").reshape(-1, LANES):
            lanes = mix(lanes, words)
    value = np.full(1, BASIS)
    for word in (np.full(1, size, "u8"), *lanes.reshape(-1, 1)):
        value = mix(value, word)
    return place, b"%016x" % int(value[0])


def seal(path: str) -> None:
    with open(path, "r+b") as file:
        place, value = checksum(file)
        file.seek(place)
        file.write(value)
        file.flush()
        os.fsync(file.fileno())


# ---- the weights file ----

ROOM = 1 << 16  # bytes of a header, beside those of its texts
INPUT = "input"  # the dimension of a matrix's columns, where its rows have the same one


def write_network(network: Network, path: str) -> int:
    """Writes a new weights file. Returns the number of weights. Raises Refused, or OSError, and then leaves a file."""
    a, kinds = network.architecture, list(dict.fromkeys(kind for kind, *_ in network.tensors))
    double = any(stored.dtype == "F64" for *_, stored in network.tensors)
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        file.set_fill_off()
        file.setncattr("checksum", BLANK)  # first, so that it is in the file's first bytes
        define(file, network, "double" if double else "float")
        file.setncattr("room", " " * ROOM)  # so that no header that grows moves all data, which it would each time
        described = file.createVariable("architecture", "i4")
        file.delncattr("room")
        for name, value in a.items():
            described.setncattr(name, attribute(value))
        described[...] = 0
        for kind in kinds:
            file.createVariable(kind, "f8" if double else "f4", dimensions_of(file, kind, a))
        for kind, layer, row, stored in sorted(network.tensors, key=lambda tensor: kinds.index(tensor[0])):
            where = (layer,) if layer >= 0 else ()
            for at, values in network.values(row, stored):
                if not np.isfinite(values).all():
                    raise Refused(f"{network.path}: {network.of_file(stored)}{stored.name}: not all values are finite "
                                  f"as a {'double' if double else 'float'}")
                file[kind][(*where, slice(at, at + len(values)))] = values
    seal(path)
    return sum(math.prod(lengths(a)[name] for name in TENSORS[kind][1]) for kind, *_ in network.tensors)


def define(file: Any, network: Network, scalar: str) -> None:
    texts = {"title": TITLE, "format_version": np.int64(FORMAT), "family": network.model_type, "scalar": scalar,
             "has_output": attribute(network.has_output), "start_token": np.int64(network.start),
             "end_token": np.int64(network.end), "padding_token": np.int64(network.padding)}
    for name, value in texts.items():
        file.setncattr(name, value)
    file.setncattr("file", os.path.basename(os.path.dirname(os.path.abspath(network.path))))
    if network.config is not None:
        file.setncattr("config", network.config)


def attribute(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return np.int64(value) if isinstance(value, int) else value


def dimensions_of(file: Any, kind: str, a: dict[str, Any]) -> list[str]:
    """The names of a variable's dimensions, which are made where they are not there."""
    place, names, _ = TENSORS[kind]
    of = {**lengths(a), "block": sum(stacks(a))}
    used = ["block"] * (place == "layer") + list(names)
    if len(names) == 2 and names[0] == names[1]:
        used[-1], of[INPUT] = INPUT, of[names[1]]
    for name in used:
        if name not in file.dimensions:
            file.createDimension(name, of[name])
    return used


@dataclasses.dataclass
class Saved:
    """An open weights file."""
    path: str
    file: Any
    architecture: dict[str, Any]

    def rows(self, kind: str, layer: int, first: int, last: int) -> Array:
        where = (layer,) if layer >= 0 else ()
        found: Array = self.file[kind][(*where, slice(first, last))]
        return found

    def get(self, name: str) -> Any:
        return getattr(self.file, name, None)


@contextlib.contextmanager
def open_saved(path: str) -> Iterator[Saved]:
    """Opens a weights file whose checksum is right."""
    where = (f"{path}: not a weights file, which save_weights: true keeps as OUT.nc.d/<digest>.weights.nc, or "
             "analysis/weights import writes")
    with opened(path) as raw:
        place, value = checksum(raw)
        raw.seek(max(place, 0))
        if place < 0:
            raise Refused(where)
        if raw.read(16) != value:
            raise Refused(f"{path}: damaged (checksum); copy it again, or train or import it anew")
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        title, version = (getattr(file, name, None) for name in ("title", "format_version"))
        if title == "checkpoint of a run":
            raise Refused(f"{path}: a checkpoint of a run under way, not its final weights")
        if title != TITLE or "architecture" not in file.variables:
            raise Refused(where)
        if version != FORMAT:
            raise Refused(f"{path}: format version {version} is of another version of this program, which reads "
                          f"{FORMAT}; train or import it anew")
        yield Saved(path, file, checked(path, file))


def checked(path: str, file: Any) -> dict[str, Any]:
    """The architecture of an open weights file, whose attributes and variables fit each other."""
    said, a = file["architecture"], {}
    for name, initial in ARCHITECTURE.items():
        value = getattr(said, name, None)
        if isinstance(initial, bool):
            good = value in ("true", "false")
            a[name] = value == "true"
        elif isinstance(initial, str):
            good = value in CHOICES[name]
            a[name] = value
        else:
            kind = np.integer if isinstance(initial, int) else np.floating
            least = 1 if name in ("vocabulary", "context", "width", "heads", "kv_heads", "head_width", "feedforward",
                                  "layers") else 0
            good = isinstance(value, kind) and bool(least <= value <= (WORDS if kind is np.integer else BASE))
            a[name] = type(initial)(value) if good else initial
        if not good:
            raise Refused(f"{path}: the attribute architecture:{name} is missing or not what it can be")
    if a["heads"] % a["kv_heads"] or a["layers"] + a["decoder_layers"] > BLOCKS:
        raise Refused(f"{path}: the attributes of architecture contradict each other")
    if (a["network"] == "encoder_decoder") != (a["decoder_layers"] > 0):
        raise Refused(f"{path}: decoder_layers are for an encoder_decoder, which needs them")
    for name in ("start_token", "end_token", "padding_token"):
        value = getattr(file, name, None)
        if not isinstance(value, np.integer) or not -1 <= value < a["vocabulary"]:
            raise Refused(f"{path}: the attribute {name} is missing or no token")
    if getattr(file, "scalar", None) not in ("float", "double"):
        raise Refused(f"{path}: the attribute scalar is neither float nor double")
    for tensor in dict.fromkeys(tensor for tensor, _ in tensors_of(a)):
        place, names, _ = TENSORS[tensor]
        shape = [sum(stacks(a))] * (place == "layer") + [lengths(a)[name] for name in names]
        if tensor not in file.variables or list(file[tensor].shape) != shape or file[tensor].dtype.kind != "f":
            raise Refused(f"{path}: variable {tensor} does not fit the architecture")
    return a
