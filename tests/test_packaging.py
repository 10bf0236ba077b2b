"""Recipes of other package managers, citation and release notes: what they say is what the project has."""

import re

import pytest
from conftest import PROJECT

VERSION = re.search(r"^VERSION = (.*)$", (PROJECT / "Makefile").read_text(), re.M)[1]
INSTALLING = (PROJECT / "docs" / "installing.md").read_text()
SPACK = (PROJECT / "docs" / "packaging" / "spack" / "package.py").read_text()
CONDA = (PROJECT / "docs" / "packaging" / "conda" / "recipe.yaml").read_text()
DOCKERFILE = (PROJECT / "Dockerfile").read_text()
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
    assert page == package and {"mpi", "netcdf-c", "jansson", "py-xarray"} <= set(page)


def test_conda_has_them_too():
    asked = dict(re.findall(r"^    - ([\w-]+) >=([\d.]+)$", CONDA, re.M))
    expected = {CONDA_NAMES.get(name, name.removeprefix("py-")): re.match(r"@([\d.]+):", condition)[1]
                for name, (condition, _) in depends(INSTALLING).items() if name not in OF_BUILDS}
    expected["openmpi"] = re.search(r"depends_on\(\"mpi@.*# openmpi@([\d.]+):", INSTALLING)[1]
    assert asked == expected


def test_the_container_has_what_the_set_up_installs():
    """The first stage, the packages of a build; the second one, those of figures."""
    building, running = DOCKERFILE.split("\nFROM ")[1:]
    body = re.search(r"^build\(\) \{\n(.*?)^\}", SETUP, re.M | re.S)[1]
    needed = set(re.findall(r"need ([\w-]+) ", body))
    figures = set(re.findall(r"(python3-\w+):", re.search(r"^figures=\((.*)\)$", SETUP, re.M)[1]))
    assert len(needed) > 6 and needed <= set(re.findall(r"[\w-]+", building))
    assert len(figures) > 3 and figures <= set(re.findall(r"[\w-]+", running))


def test_citation_names_the_paper():
    text = (PROJECT / "CITATION.cff").read_text()
    assert re.search(r"^cff-version: 1\.2\.0$", text, re.M) and "doi: 10.18653/v1/2021.emnlp-main.133" in text
    authors = re.findall(r"family-names: (\w+)", text)
    readme = (PROJECT / "README.md").read_text()
    paper = re.search(r"subject of Merrill,\n(\w+), (\w+), (\w+) and (\w+), \*([^*]*)\*", readme)
    assert ["Merrill", *paper.groups()[:4]] == authors and paper[5] in text


def test_tarballs_know_their_commit():
    """git writes the commit into this file when it makes a tarball; here it is as it is committed, or in a tarball."""
    text = (PROJECT / ".ci" / "commit").read_text()
    assert text == "$Format:%H$\n" or re.fullmatch(r"[0-9a-f]{40}\n", text)
    assert "/.ci/commit export-subst" in (PROJECT / ".gitattributes").read_text()
