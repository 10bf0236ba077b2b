# Copyright The normsweep developers. See LICENSE.
#
# SPDX-License-Identifier: MIT

import os

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Normsweep(MakefilePackage):
    """Trains one small transformer for every cell of a grid, such as learning rate
    and weight decay, on one node or many, and records how the norms of its
    parameters grow, in one netCDF file."""

    # Write the tarball with `make dist`, put it beside this file, and give its checksum,
    # which `make dist` prints, to version().
    url = f"file://{os.path.dirname(os.path.abspath(__file__))}/normsweep-0.1.0.tar.gz"
    manual_download = True

    license("MIT", checked_by="normsweep")

    version("0.1.0")

    variant("figures", default=True, description="Install what figures, reports and tables need")

    depends_on("c", type="build")
    depends_on("gmake@4:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi@3:")  # openmpi@4.1: or mpich@4:
    depends_on("openblas@0.3.20: ~ilp64 threads=none")
    depends_on("netcdf-c@4.6.2: ~mpi")
    depends_on("libyaml@0.1.7:")

    with when("+figures"):
        depends_on("python@3.9:", type="run")
        depends_on("py-numpy@1.22:", type="run")
        depends_on("py-xarray@2022.9:", type="run")
        depends_on("py-netcdf4@1.5.4:", type="run")
        depends_on("py-matplotlib@3.6:", type="run")
        depends_on("py-pandas@1.5:", type="run")
        depends_on("py-scipy@1.8:", type="run")

    def edit(self, spec, prefix):
        pass  # make asks pkg-config for the libraries

    def check(self):
        pass  # `make check` would install what the tests need

    @property
    def build_targets(self):
        return [f"CC={self.spec['mpi'].mpicc}", "all"]

    @property
    def install_targets(self):
        return [f"CC={self.spec['mpi'].mpicc}", f"PREFIX={self.prefix}", "install"]
