"""Recipes of other package managers, citation and release notes: what they say is what the project has."""

import contextlib
import re
import runpy
import sys
import types

import pytest
from conftest import PROJECT

VERSION = re.search(r"^VERSION = (.*)$", (PROJECT / "Makefile").read_text(), re.M)[1]
INSTALLING = (PROJECT / "docs" / "installing.md").read_text()
SPACK = (PROJECT / "docs" / "packaging" / "spack" / "package.py").read_text()
CONDA = (PROJECT / "docs" / "packaging" / "conda" / "recipe.yaml").read_text()
DOCKERFILE = (PROJECT / "Dockerfile").read_text()
APPTAINER = (PROJECT / "docs" / "packaging" / "apptainer" / "normsweep.def").read_text()
SETUP = (PROJECT / ".ci" / "setup").read_text()
CONDA_NAMES = {"netcdf-c": "libnetcdf", "libyaml": "yaml", "py-matplotlib": "matplotlib-base"}  # else without py-
OF_BUILDS = {"c", "gmake", "pkgconfig", "mpi"}  # and what conda has under the name of an MPI


def depends(text):
    """{package: (its condition, type)} of depends_on lines."""
    lines = re.findall(r'depends_on\("([\w-]+)([^"]*)"(?:, type="(\w+)")?\)', text)
    return {name: (condition, kind) for name, condition, kind in lines}


@pytest.mark.parametrize("path, pattern", [
    ("CITATION.cff", r"^version: (.*)$"),
    ("docs/packaging/conda/recipe.yaml", r'^  version: "(.*)"$'),
    ("docs/packaging/spack/package.py", r'^    version\("([\d.]+)"'),
    ("docs/packaging/spack/package.py", r"/normsweep-([\d.]+)\.tar\.gz"),
    ("docs/installing.md", r"build/dist/normsweep-([\d.]+)\.tar\.gz"),
    ("analysis/pyproject.toml", r'^version = "(.*)"$')])
def test_one_version(path, pattern):
    assert re.findall(pattern, (PROJECT / path).read_text(), re.M) == [VERSION]


def test_release_notes_of_this_version():
    text = (PROJECT / "docs" / f"release-{VERSION}.md").read_text()
    assert text.startswith(f"# Release notes: {VERSION}\n") and f"normsweep-{VERSION}.tar.gz" in text


def test_spack_has_the_dependencies_of_the_page():
    page, package = depends(INSTALLING), depends(SPACK)
    assert page == package and {"mpi", "netcdf-c", "libyaml", "py-xarray"} <= set(page)


def test_spack_finds_the_tarball_wherever_it_is_called(tmp_path, monkeypatch):
    """Beside the package file, as the page says; Spack itself is not needed for that."""
    words = dict.fromkeys(("license", "version", "variant", "depends_on"), lambda *arguments, **options: None)
    stub, base = types.ModuleType("spack.package"), types.ModuleType("spack_repo.builtin.build_systems.makefile")
    vars(stub).update(words, when=lambda *arguments: contextlib.nullcontext(), __all__=[*words, "when"])
    base.MakefilePackage = object
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, stub.__name__, stub)
    monkeypatch.setitem(sys.modules, base.__name__, base)
    monkeypatch.chdir(tmp_path)
    path = PROJECT / "docs" / "packaging" / "spack" / "package.py"
    assert runpy.run_path(str(path))["Normsweep"].url == f"file://{path.parent}/normsweep-{VERSION}.tar.gz"


def test_conda_builds_the_checkout_that_it_is_in():
    path, = re.findall(r"^source:\n  path: (.*)$", CONDA, re.M)
    assert (PROJECT / "docs" / "packaging" / "conda" / path).resolve() == PROJECT.resolve()


def test_conda_has_them_too():
    asked = dict(re.findall(r"^    - ([\w-]+) >=([\d.]+)$", CONDA, re.M))
    expected = {CONDA_NAMES.get(name, name.removeprefix("py-")): re.match(r"@([\d.]+):", condition)[1]
                for name, (condition, _) in depends(INSTALLING).items() if name not in OF_BUILDS}
    expected["openmpi"] = re.search(r"depends_on\(\"mpi@.*# openmpi@([\d.]+):", INSTALLING)[1]
    assert asked == expected


def installed(text):
    """The sets of packages that its lines `apt-get install` name, each up to the next command."""
    lists = re.findall(r"apt-get install -y --no-install-recommends \\\n((?:.*\\\n)*.*)", text)
    return [set(re.findall(r"[\w-]+", names.split("&&")[0])) for names in lists]


def test_apptainer_installs_what_docker_does():
    assert installed(APPTAINER) == installed(DOCKERFILE) and len(installed(APPTAINER)) == 2


def test_the_page_has_the_packages_of_a_build():
    lists = [set(line.split()) for line in re.findall(r"^apt-get install (.*)$", INSTALLING, re.M)]
    building, running = installed(DOCKERFILE)
    assert lists == [building, {name for name in running if name.startswith("python3-")}]


def test_the_container_has_what_the_set_up_installs():
    """The first stage, the packages of a build; the second one, those of figures."""
    building, running = DOCKERFILE.split("\nFROM ")[1:]
    body = re.search(r"^build\(\) \{\n(.*?)^\}", SETUP, re.M | re.S)[1]
    needed = set(re.findall(r"need ([\w-]+) ", body))
    figures = set(re.findall(r"(python3-\w+):", re.search(r"^figures=\((.*?)\)$", SETUP, re.M | re.S)[1]))
    assert len(needed) > 6 and needed <= set(re.findall(r"[\w-]+", building))
    assert len(figures) > 3 and figures <= set(re.findall(r"[\w-]+", running))


def test_citation_names_the_paper():
    text = (PROJECT / "CITATION.cff").read_text()
    assert re.search(r"^cff-version: 1\.2\.0$", text, re.M)
    assert re.search(r"^date-released: \d{4}-\d\d-\d\d$", text, re.M)
    assert "doi: 10.18653/v1/2021.emnlp-main.133" in text
    authors = re.findall(r"family-names: (\w+)", text)
    readme = (PROJECT / "README.md").read_text()
    paper = re.search(r"Merrill,\s(\w+),\s(\w+),\s(\w+)\sand\s(\w+),\s\*([^*]*)\*", readme)
    assert ["Merrill", *paper.groups()[:4]] == authors and " ".join(paper[5].split()) in text


def test_tarballs_know_their_commit():
    """git writes the commit into this file when it makes a tarball; here it is as it is committed, or in a tarball."""
    text = (PROJECT / ".ci" / "commit").read_text()
    assert text == "$Format:%H$\n" or re.fullmatch(r"[0-9a-f]{40}\n", text)
    assert "/.ci/commit export-subst" in (PROJECT / ".gitattributes").read_text()
