"""The house around the code: ready-made sweeps, README, man page, figures, installation."""

import os
import pathlib
import re
import shutil
import struct

import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import BUILD, NORMSWEEP, PROJECT, run

SWEEPS = sorted((PROJECT / "sweeps").glob("*.yaml"))


def test_man_page_names_every_command(normsweep):
    page = (PROJECT / "docs" / "normsweep.1").read_text()
    commands = re.findall(r"^\s*normsweep ([a-z]+)", normsweep("help").stdout, re.M)
    assert {"run", "plan", "check", "status", "show", "inspect", "help"} <= set(commands)
    for command in commands:
        assert re.search(rf"^\.It Cm {command}\b", page, re.M), command


def options_of(command):
    """[(its letter or "", its word, does it take a value?)] of a command."""
    said = run(NORMSWEEP, command, "--help").stdout
    return [(letter, word, bool(value)) for letter, word, value in
            re.findall(r"^ +(?:-(\w), )?--([a-z-]+)(?: (\S+))?  ", said, re.M)]


def test_man_page_has_every_option_of_every_command(normsweep):
    page = (PROJECT / "docs" / "normsweep.1").read_text()
    synopsis = re.search(r"^\.Sh SYNOPSIS\n(.*?)^\.Sh ", page, re.M | re.S)[1]
    forms = dict(re.findall(r"^\.Nm\n\.Cm ([a-z]+)\n(.*?)(?=^\.Nm|\Z)", synopsis, re.M | re.S))
    explained = re.findall(r"^\.It (Fl .*)$", page, re.M)
    commands = re.findall(r"^normsweep ([a-z]+) ", normsweep("help").stdout, re.M)
    assert set(forms) == set(commands) and len(explained) == len(set(explained))
    for command in commands:
        assert options_of(command)
        for letter, word, value in options_of(command):
            name = f"Fl {letter}" if letter else f"Fl -{word}"
            form = re.escape(f".Op {name}") + (" Ar .+" if value else "")
            assert word == "help" or re.search(f"^{form}$", forms[command], re.M), (command, word)
            item = (f"Fl {letter} , " if letter else "") + f"Fl -{word}" + (" Ar " if value else "")
            assert any(line == item or value and line.startswith(item) for line in explained), (command, word)


@pytest.mark.skipif(not shutil.which("mandoc"), reason="no mandoc")
def test_man_page_is_well_formed():
    assert run("mandoc", "-T", "lint", "-W", "warning", PROJECT / "docs" / "normsweep.1").stdout == ""


def test_one_version():
    makefile = re.search(r"^VERSION = (.*)$", (PROJECT / "Makefile").read_text(), re.M)[1]
    assert re.search(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(), re.M)[1] == makefile


def made_up_dataset(path):
    """Every kind of cell: growing, shrinking, diverged, pending; a zero, words and seeds among the axes."""
    axes = {"learning_rate": [1e-1, 1e-2, 1e-3], "weight_decay": [1.0, 1e-2, 0.0], "norm_placement": ["pre", "post"],
            "seed": [0, 1]}
    shape = [len(values) for values in axes.values()]
    growth = np.exp(np.random.default_rng(0).normal(size=shape))
    outcome = np.full(shape, 2, np.int8)
    outcome[0, 0], outcome[2, 2, 0] = 3, 0
    growth[outcome != 2] = np.nan
    norms = 1 + (growth[..., np.newaxis] - 1) * np.linspace(0, 1, 5)
    xr.Dataset({"outcome": (list(axes), outcome), "norm_growth": (list(axes), growth),
                "param_norm": ([*axes, "step"], norms)}, {**axes, "step": range(5)},
               {"source": "normsweep"}).to_netcdf(path)


def test_figures(tmp_path):
    made_up_dataset(tmp_path / "made up.nc")
    drawn = run(PROJECT / "analysis" / "figures", tmp_path / "made up.nc", "-o", tmp_path).stdout.splitlines()
    assert [pathlib.Path(path).name for path in drawn] == ["made up-phase.png", "made up-norms.png"]
    for path in drawn:
        head = pathlib.Path(path).read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:])
        assert head.startswith(b"\x89PNG") and width > 500 and height > 300


def test_figures_of_no_dataset(tmp_path):
    error = run(PROJECT / "analysis" / "figures", tmp_path / "none.nc", status=1).stderr
    assert error == f"figures: {tmp_path}/none.nc: No such file or directory\n"


@pytest.fixture
def modules(tmp_path):
    """What the modules of a cluster set for a compiler, and libraries of which nothing else knows."""
    (tmp_path / "include").mkdir()
    (tmp_path / "lib").mkdir()
    for library, header, function in (("blas", "cblas", "cblas_sgemm"), ("cdf", "netcdf", "nc_create"),
                                      ("yml", "yaml", "yaml_parser_parse"), ("mpi", "mpi", "MPI_Init")):
        (tmp_path / "include" / f"{header}.h").write_text(f"void {function}(void);\n")
        (tmp_path / "source.c").write_text(f"void {function}(void);\nvoid {function}(void) {{}}\n")
        run("cc", "-shared", "-fPIC", tmp_path / "source.c", "-o", tmp_path / "lib" / f"libnormsweep-{library}.so")
    (tmp_path / "mpicc").write_text('#!/bin/sh\nexec cc "$@" -lnormsweep-mpi\n')
    (tmp_path / "mpicc").chmod(0o755)
    return {**os.environ, "CPATH": str(tmp_path / "include"), "LIBRARY_PATH": str(tmp_path / "lib")}


def test_libraries_are_found_by_what_modules_set(modules, tmp_path):
    flags = ["-lnormsweep-blas", "-lnormsweep-cdf", "-lnormsweep-yml", ""]
    look = [PROJECT / ".ci" / "libraries", tmp_path / "mpicc", *flags]
    assert run(*look, env=modules).stdout == ""
    (tmp_path / "lib" / "libnormsweep-cdf.so").unlink()
    assert run(*look, env=modules, status=1).stderr == (
        "missing: netCDF (NETCDF=...). On Debian `make setup` installs it, on a cluster a module does\n")
    modules["LIBRARY_PATH"] = ""
    error = run(*look, env=modules, status=1).stderr
    assert error.startswith("missing: MPI (CC=mpicc or another MPI compiler), a CBLAS (")


def test_make_without_pkg_config(tmp_path):
    if not shutil.which("make"):
        pytest.skip("no make")
    (tmp_path / "nc-config").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "nc-config").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    database = run("make", "-np", "PKG_CONFIG=false", "help", cwd=PROJECT, env=environment).stdout
    found = dict(re.findall(r"^(CBLAS|NETCDF|YAML) :?= (.*)$", database, re.M))
    assert found == {"CBLAS": "-lopenblas", "NETCDF": "-lnetcdf", "YAML": "-lyaml"}


SCRIPTS = [path.name for path in (PROJECT / "analysis").iterdir() if path.is_file() and os.access(path, os.X_OK)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A tree that `make install` has made, below DESTDIR and with a blank in its name; then `make uninstall`."""
    if not shutil.which("make"):
        pytest.skip("no make")
    root = tmp_path_factory.mktemp("a b")
    variant = "VARIANT=" + (BUILD.name if BUILD.name != "build" else "release")
    place = ["DESTDIR=" + str(root), "PREFIX=/usr", variant]
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "normsweep-of-others").write_text("")
    run("make", "-s", "install", *place, cwd=PROJECT, timeout=600)
    yield root / "usr"
    run("make", "-s", "uninstall", *place, cwd=PROJECT)
    assert [path.name for path in root.rglob("*") if not path.is_dir()] == ["normsweep-of-others"]


def test_installed_files(installed):
    assert {"figures"} <= set(SCRIPTS)
    found = {str(path.relative_to(installed)) for path in installed.rglob("*") if not path.is_dir()}
    package = {f"share/normsweep/{path.relative_to(PROJECT)}" for path in (PROJECT / "analysis").rglob("*.py")}
    documents = [PROJECT / name for name in ("README.md", "CHANGELOG.md", "LICENSE")]
    documents += [path for path in (PROJECT / "docs").iterdir() if path.suffix in (".md", ".png", ".py")]
    completions = "share/bash-completion/completions/"
    expected = {"bin/normsweep", "share/man/man1/normsweep.1", "share/zsh/site-functions/_normsweep",
                "share/normsweep/slurm/submit", "share/normsweep/slurm/normsweep.sbatch", *package,
                *(f"share/normsweep/sweeps/{path.name}" for path in SWEEPS),
                *(f"share/doc/normsweep/{path.relative_to(PROJECT)}" for path in documents),
                *(f"bin/normsweep-{name}" for name in SCRIPTS), completions + "normsweep",
                *(f"{completions}normsweep-{name}" for name in SCRIPTS),
                *(f"share/normsweep/analysis/{name}" for name in SCRIPTS)}
    assert expected <= found and not any("__pycache__" in name for name in found)
    rest = found - expected - {"bin/normsweep-of-others"}  # what else the scripts may need
    assert all(name.startswith("share/normsweep/analysis/") for name in rest)


def test_installed_program_and_scripts_work(installed, tmp_path):
    made_up_dataset(tmp_path / "made up.nc")
    assert run(installed / "bin" / "normsweep", "--version").stdout.startswith("normsweep ")
    run(installed / "bin" / "normsweep", "check", installed / "share" / "normsweep" / "sweeps" / "quickstart.yaml")
    assert run(installed / "share" / "normsweep" / "slurm" / "submit", "--help").stdout
    moved = tmp_path / "moved"
    shutil.copytree(installed, moved, symlinks=True)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PATH": f"{moved / 'bin'}:{os.environ['PATH']}"}
    for name in SCRIPTS:
        said = run(f"normsweep-{name}", "--help", cwd=tmp_path, env=environment).stdout
        assert said.startswith(f"usage: normsweep-{name} ")
    assert "made up-phase.png" in run("normsweep-figures", "made up.nc", cwd=tmp_path, env=environment).stdout


def test_installed_completion(installed, tmp_path):
    (tmp_path / "a.nc").touch()
    (tmp_path / "a.yaml").touch()
    folder = installed / "share" / "bash-completion" / "completions"
    code = 'source "$1/$2"; COMP_WORDBREAKS="=" COMP_WORDS=("$2" "$3") COMP_CWORD=1; ' \
           '$(complete -p "$2" | sed "s/.*-F //; s/ .*//") "$2" "$3"; printf "%s\\n" "${COMPREPLY[@]}"'
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PATH": f"{installed / 'bin'}:{os.environ['PATH']}"}

    def offered(program, word):
        done = run("bash", "--norc", "-c", code, "bash", folder, program, word, cwd=tmp_path, env=environment)
        assert done.stderr == ""
        return set(done.stdout.split())

    assert offered("normsweep", "st") == {"status"}
    for name in SCRIPTS:
        assert offered(f"normsweep-{name}", "") == {"a.nc"}
        assert {"-h", "--help"} <= offered(f"normsweep-{name}", "-")


def test_figures_of_a_foreign_file(tmp_path, normsweep):
    netCDF4.Dataset(tmp_path / "foreign.nc", "w").close()
    error = run(PROJECT / "analysis" / "figures", tmp_path / "foreign.nc", status=1).stderr
    assert error == f"figures: {tmp_path}/foreign.nc: no dataset of normsweep\n"


def test_figures_without_norms(tmp_path, normsweep):
    (tmp_path / "a.yaml").write_text("corpus: markov\nsteps: 2\nwidth: 8\nmeasure: {metrics: [alignment]}\n"
                                     "learning_rate: [1e-3, 1e-2]\nweight_decay: [0, 0.1]\n")
    normsweep("run", "a.yaml", "-j", "0")
    assert run(PROJECT / "analysis" / "figures", tmp_path / "a.nc", "-o", tmp_path).stdout.endswith("a-phase.png\n")
