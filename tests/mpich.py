"""The program linked with MPICH, where MPICH is installed beside the MPI of this build. Only the wire depends on the
MPI library, so that one file is compiled and all other objects of the build are used."""

import os
import re
import shutil
import subprocess

import missing
from conftest import BUILD, NORMSWEEP, PROJECT, stand_in

WIRE = ("message",)  # the files of worker/wire that include mpi.h
UNCHECKED = "the program linked with MPICH"


def first_of(names, option, text):
    for name in names:
        if shutil.which(name) and text in subprocess.run([name, option], stdin=subprocess.DEVNULL, text=True,
                                                         capture_output=True).stdout:
            return name
    return None


MPICC = first_of(("mpicc.mpich", "mpicc"), "-show", "mpich")
MPIEXEC = first_of(("mpiexec.mpich", "mpiexec.hydra", "mpiexec"), "--version", "HYDRA")


def require():
    if not (MPICC and MPIEXEC):
        missing.skip("MPICH is not installed beside the MPI of this build", UNCHECKED,
                     "apt-get install libmpich-dev mpich")
    if not (BUILD / "float" / "driver" / "main.o").exists():
        missing.skip(f"{BUILD / 'float'} has no objects of the build", UNCHECKED, "make")
    libraries = libraries_of(NORMSWEEP)
    if any("asan" in path for path in libraries):
        missing.skip("This build is one with a sanitizer", UNCHECKED, "run make check with another build")


def libraries_of(program):
    """The paths of its libraries, except those of MPI and of the C library."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    direct = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", direct)
    paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", listed, re.M))
    return [paths[name] for name in names if name in paths and not re.match(r"lib(mpi|mpich|c|m)\.so|ld-", name)]


def build(folder):
    for name in WIRE:
        subprocess.run([MPICC, "-std=c11", "-D_GNU_SOURCE", "-O2", f"-I{PROJECT}", "-c",
                        PROJECT / f"worker/wire/{name}.c", "-o", folder / f"{name}.o"], check=True)
    sources = [PROJECT / "driver/main.c", *PROJECT.glob("driver/*/**/*.c"), *PROJECT.glob("worker/wire/*.c")]
    objects = [BUILD / "float" / path.relative_to(PROJECT).with_suffix(".o") for path in sources
               if not (path.parent.name == "wire" and path.stem in WIRE)]
    program = folder / "normsweep-mpich"
    subprocess.run([MPICC, *(folder / f"{name}.o" for name in WIRE), *objects,
                    BUILD / "float" / "libnormsweep.a", *libraries_of(NORMSWEEP), "-lm", "-lpthread", "-ldl", "-o",
                    program], check=True)
    return program


def environment(folder):
    """An environment in which `mpiexec` is MPICH's: a script, because it looks for its parts beside the name by which
    it is called."""
    return {**os.environ, **stand_in(folder, f'exec {shutil.which(MPIEXEC)} "$@"', "mpiexec")}
