# docker build -t normsweep .
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" normsweep                     runs the quickstart
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" normsweep normsweep run first.yaml
FROM debian:12-slim AS build
# Versions are those of the Debian release, with its security fixes.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends \
        gcc libc6-dev make pkg-config libopenmpi-dev openmpi-bin libopenblas-dev libnetcdf-dev libyaml-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# --build-arg COMMIT="$(git rev-parse --short=12 HEAD)" for --version; a tarball of `make dist` has it.
ARG COMMIT
RUN make -j"$(nproc)" ${COMMIT:+COMMIT="$COMMIT"} all && make install DESTDIR=/there PREFIX=/usr/local

FROM debian:12-slim
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends \
        openmpi-bin libopenblas0-pthread libnetcdf19 libyaml-0-2 netcdf-bin \
        python3-numpy python3-xarray python3-netcdf4 python3-pandas python3-scipy python3-matplotlib \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 --create-home sweep && install -d -o sweep -m 1777 /data
COPY --from=build /there/ /
# Containers rarely permit what Open MPI wants for its shared memory, or have a home for an unknown user.
ENV OMPI_MCA_btl_vader_single_copy_mechanism=none HOME=/tmp MPLCONFIGDIR=/tmp/matplotlib
USER 1000
WORKDIR /data
CMD ["sh", "-c", "normsweep run /usr/local/share/normsweep/sweeps/quickstart.yaml && normsweep show quickstart.nc && normsweep-figures quickstart.nc -o quickstart-figures"]
