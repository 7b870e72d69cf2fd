# The package, built from a checkout and installed alone: what it was made from stays behind.
#   docker build --build-arg SOURCE_COMMIT=$(git rev-parse HEAD) -t spirit-altar .
# With buildah: `buildah bud --format docker …`, for its own format keeps no health check.
#   docker run --read-only --tmpfs /tmp --env-file .env -p 127.0.0.1:3000:3000 spirit-altar

FROM node:24-bookworm-slim AS build
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.pack.json README.md LICENSE ./
COPY schema schema
COPY migrations migrations
COPY src src
# What `--version` and `/api/health` say it was built from; git is not here to be asked.
ARG SOURCE_COMMIT
RUN npm run package -- --silent --pack-destination /tmp

FROM node:24-bookworm-slim AS install
WORKDIR /app
COPY --from=build /tmp/spirit-altar-*.tgz /tmp/
RUN npm install --omit=dev --no-audit --no-fund /tmp/spirit-altar-*.tgz \
  # V8's compiled form of the bundle, for starts on a root that cannot be written.
  && node node_modules/.bin/spirit-altar serve --help > /dev/null

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY --from=install /app/node_modules node_modules
# For a volume: what is kept outside of the database.
RUN mkdir /data && chown node /data
USER node
EXPOSE 3000
# SIGTERM reaches the server itself: it ends what is in flight, twenty seconds at most, and its exit code is 0.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=32", "--heap-growing-percent=50", "--expose-gc", "/app/node_modules/spirit-altar/src/start.js"]
CMD ["serve"]
