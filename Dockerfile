# incrowd in a container: not root, a read-only root, no network. The tables are mounted at /data.
#   docker build --tag incrowd .
#   docker run --rm --network none --read-only --tmpfs /tmp --user "$(id -u)" --volume "$PWD:/data" incrowd demo
FROM python:3.13-slim AS build
WORKDIR /incrowd
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python -m venv /opt/incrowd \
 && /opt/incrowd/bin/pip install --no-cache-dir --constraint constraints.txt '.[all]'

FROM python:3.13-slim
COPY --from=build /opt/incrowd /opt/incrowd
# what a run keeps for itself goes to /tmp; mount a folder and set XDG_CONFIG_HOME to keep keys
ENV PATH=/opt/incrowd/bin:$PATH \
    HOME=/tmp \
    NUMBA_CACHE_DIR=/tmp/kernels \
    PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /data
ENTRYPOINT ["incrowd"]
CMD ["--help"]
