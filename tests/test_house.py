"""The house around the code: man page, version, libraries, installation."""

import os
import re
import shutil

import documents
import missing
import pytest
from conftest import BUILD, NORMSWEEP, PROJECT, run
from made_up import made_up

pytestmark = pytest.mark.thorough("builds and installs the program")

SWEEPS = sorted((PROJECT / "sweeps").glob("*.yaml"))


def test_man_page_names_every_command(normsweep):
    page = (PROJECT / "docs" / "normsweep.1").read_text()
    commands = re.findall(r"^\s*normsweep ([a-z]+)", normsweep("help").stdout, re.M)
    assert {"run", "plan", "check", "status", "show", "inspect", "help"} <= set(commands)
    for command in commands:
        assert re.search(rf"^\.It Cm {command}\b", page, re.M), command


@missing.program("mandoc", "the form of the man page", "mandoc")
def test_man_page_is_well_formed():
    assert run("mandoc", "-T", "lint", "-W", "warning", PROJECT / "docs" / "normsweep.1").stdout == ""


def test_one_version():
    makefile = re.search(r"^VERSION = (.*)$", (PROJECT / "Makefile").read_text(), re.M)[1]
    assert re.search(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(), re.M)[1] == makefile


@pytest.fixture
def modules(tmp_path):
    """What the modules of a cluster set for a compiler, and libraries of which nothing else knows."""
    (tmp_path / "include").mkdir()
    (tmp_path / "lib").mkdir()
    for library, header, function in (("blas", "cblas", "cblas_sgemm"), ("cdf", "netcdf", "nc_create"),
                                      ("yml", "yaml", "yaml_parser_parse"),
                                      ("mpi", "mpi", "MPI_Init")):
        (tmp_path / "include" / f"{header}.h").write_text(f"void {function}(void);\n")
        (tmp_path / "source.c").write_text(f"void {function}(void);\nvoid {function}(void) {{}}\n")
        run("cc", "-shared", "-fPIC", tmp_path / "source.c", "-o", tmp_path / "lib" / f"libnormsweep-{library}.so")
    (tmp_path / "mpicc").write_text('#!/bin/sh\nexec cc "$@" -lnormsweep-mpi\n')
    (tmp_path / "mpicc").chmod(0o755)
    return {**os.environ, "CPATH": str(tmp_path / "include"), "LIBRARY_PATH": str(tmp_path / "lib")}


def test_libraries_are_found_by_what_modules_set(modules, tmp_path):
    flags = ["-lnormsweep-blas", "-lnormsweep-cdf", "-lnormsweep-yml"]
    look = [PROJECT / ".ci" / "libraries", tmp_path / "mpicc", *flags]
    assert run(*look, env=modules).stdout == ""
    (tmp_path / "lib" / "libnormsweep-cdf.so").unlink()
    assert run(*look, env=modules, status=1).stderr == (
        "missing: netCDF (NETCDF=...). On Debian run `make setup`, on a cluster load a module\n")
    modules["LIBRARY_PATH"] = ""
    error = run(*look, env=modules, status=1).stderr
    assert error.startswith("missing: MPI (CC=mpicc or another MPI compiler), a CBLAS (")


def test_make_without_pkg_config(tmp_path):
    missing.need("make", "how the Makefile finds libraries without pkg-config", "make")
    (tmp_path / "nc-config").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "nc-config").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    database = run("make", "-np", "PKG_CONFIG=false", "help", cwd=PROJECT, env=environment).stdout
    found = dict(re.findall(r"^(CBLAS|NETCDF|YAML) :?= (.*)$", database, re.M))
    assert found == {"CBLAS": "-lopenblas", "NETCDF": "-lnetcdf", "YAML": "-lyaml"}


def test_make_knows_its_targets():
    """The Makefile has what people use, .ci/developers.mk the rest; no target is taken for a file of its name."""
    texts = [(PROJECT / name).read_text() for name in ("Makefile", ".ci/developers.mk")]
    described = re.findall(r"^## ([a-z0-9-]+): ", "".join(texts), re.M)
    assert run("make", "-s", "help", cwd=PROJECT).stdout.count("\n") == len(described) + 2
    database = run("make", "-np", "help", cwd=PROJECT).stdout
    phony = set(re.search(r"^\.PHONY: (.*)$", database, re.M)[1].split())
    assert set(described) <= phony
    assert len(texts[0].splitlines()) <= 150


PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "LICENSE"]
SCRIPTS = [path.name for path in (PROJECT / "analysis").iterdir() if path.is_file() and os.access(path, os.X_OK)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A tree that `make install` has made, below DESTDIR and with a blank in its name; then `make uninstall`, which
    leaves what was there before, empty folders among it, and nothing else."""
    missing.need("make", "make install", "make")
    root = tmp_path_factory.mktemp("a b")
    variant = "VARIANT=" + (BUILD.name if BUILD.name != "build" else "release")
    place = ["DESTDIR=" + str(root), "PREFIX=/usr", variant]
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "normsweep-of-others").write_text("")
    (root / "usr" / "share" / "man").mkdir(parents=True)
    before = sorted(root.rglob("*"))
    run("make", "-s", "install", *place, cwd=PROJECT, timeout=600)
    yield root / "usr"
    run("make", "-s", "uninstall", *place, cwd=PROJECT)
    assert sorted(root.rglob("*")) == before


def test_installed_files(installed):
    assert {"figures"} <= set(SCRIPTS)
    found = {str(path.relative_to(installed)) for path in installed.rglob("*") if not path.is_dir()}
    package = {f"share/normsweep/{path.relative_to(PROJECT)}" for path in (PROJECT / "analysis").rglob("*.py")}
    pages = [PROJECT / name for name in PAGES]
    pages += [path for folder in ("docs", "docs/results") for path in (PROJECT / folder).iterdir()
              if path.suffix in (".md", ".png", ".py", ".json", ".ipynb", ".csv", ".nc")]
    completions = "share/bash-completion/completions/"
    expected = {"bin/normsweep", "share/man/man1/normsweep.1", "share/zsh/site-functions/_normsweep",
                "share/normsweep/sweep.schema.json", "share/normsweep/folders", "share/normsweep/slurm/submit",
                "share/normsweep/slurm/normsweep.sbatch", *package,
                *(f"share/normsweep/sweeps/{path.name}" for path in SWEEPS),
                *(f"share/doc/normsweep/{path.relative_to(PROJECT)}" for path in pages),
                *(f"bin/normsweep-{name}" for name in SCRIPTS), completions + "normsweep",
                *(f"{completions}normsweep-{name}" for name in SCRIPTS),
                *(f"share/normsweep/analysis/{name}" for name in SCRIPTS)}
    assert expected <= found and not any("__pycache__" in name for name in found)
    rest = found - expected - {"bin/normsweep-of-others"}  # what else the scripts may need
    assert all(name.startswith("share/normsweep/analysis/") for name in rest)


def test_links_of_installed_pages_lead_somewhere(installed):
    folder = installed / "share" / "doc" / "normsweep"
    pages, found = [*folder.glob("*.md"), *folder.glob("docs/**/*.md")], 0
    for page in pages:
        for link in documents.links(page):
            name = link.partition("#")[0]
            if name and "://" not in link:
                assert (page.parent / name).exists(), f"{page.name}: {link}"
                found += 1
    assert len(pages) > 15 and found > 100


def test_installed_program_and_scripts_work(installed, tmp_path):
    made_up().to_netcdf(tmp_path / "made up.nc")
    assert run(installed / "bin" / "normsweep", "--version").stdout.startswith("normsweep ")
    run(installed / "bin" / "normsweep", "check", installed / "share" / "normsweep" / "sweeps" / "quickstart.yaml")
    assert run(installed / "share" / "normsweep" / "slurm" / "submit", "--help").stdout
    schema = (installed / "share" / "normsweep" / "sweep.schema.json").read_text()
    assert schema == run(NORMSWEEP, "help", "--schema").stdout
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
        assert offered(f"normsweep-{name}", "") == ({"import", "export", "tokens"} if name == "weights" else {"a.nc"})
        assert {"-h", "--help"} <= offered(f"normsweep-{name}", "-")
