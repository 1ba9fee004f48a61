FROM node:22-slim AS assets
WORKDIR /src
COPY scripts/assets scripts/
COPY web/playground web/playground
RUN scripts/assets

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=assets /src/web/playground web/playground
# The final image has no time zones of its own.
RUN CGO_ENABLED=0 go build -trimpath -tags timetzdata -ldflags "-s -w" -o /out/circle .

FROM alpine:3
RUN adduser -D -H -u 10001 circle && mkdir /data && chown circle:circle /data
COPY --from=build /out/circle /usr/local/bin/circle
USER 10001
ENV CIRCLE_ADDR=0.0.0.0:8080 CIRCLE_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/readyz"]
ENTRYPOINT ["circle"]
