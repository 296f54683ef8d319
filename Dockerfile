# The service in a container: `docker build -t fader .`, then `docker compose -f deploy/compose.yaml up`.
# The steps are those of deploy/install.sh, which deploy/try.sh tries in a fresh Debian root without Docker.
FROM debian:bookworm-slim
COPY . /src
RUN sh /src/deploy/install.sh /src && rm -rf /src /var/lib/apt/lists/*
USER fader
WORKDIR /var/lib/fader
ENV HOME=/var/lib/fader
VOLUME /var/lib/fader/indexes
EXPOSE 8080
HEALTHCHECK --start-period=60s CMD ["curl", "-fsS", "http://127.0.0.1:8080/healthz"]
ENTRYPOINT ["/opt/fader/bin/fader"]
CMD ["serve", "/var/lib/fader/demo/index", "--host", "0.0.0.0", "--port", "8080"]
