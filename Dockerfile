# weft as a server: `docker build -t weft .`, then
#   docker run -d --name weft -p 127.0.0.1:8420:8420 -v weft:/data weft
#   docker exec weft weft token create --agent my-agent
# Everything that is kept is in the volume /data. Put TLS in front before anyone else may reach it: docs/deploy.md.
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/weft && /opt/weft/bin/pip install --no-cache-dir .

FROM python:3.13-slim
RUN useradd --system --uid 8420 --home-dir /data --shell /usr/sbin/nologin weft \
    && install -d -o weft -g weft -m 0700 /data
COPY --from=build /opt/weft /opt/weft
ENV PATH=/opt/weft/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    WEFT_STORE=sqlite:///data/store \
    WEFT_OUTBOX=/data/outbox \
    WEFT_SITES=/data/sites \
    WEFT_PROJECT=shared \
    WEFT_HOST=0.0.0.0
USER weft
WORKDIR /data
VOLUME /data
EXPOSE 8420
# SIGTERM drains: what was asked is answered, then the store is closed.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8420/ready', timeout=2)"]
CMD ["weft", "serve"]
