/** The variables of a server, each named once, with what `--help` says of it: help must not load what reads them. */

/** What each means that the sandbox reads too; those that only mean something together share one meaning. */
const everywhere = [
  [["HOST"], "address to listen on (127.0.0.1)"],
  [["PORT"], "port to listen on (3000)"],
  [["PUBLIC_URL"], "the address the world knows this server by (http://HOST:PORT)"],
  [["DATABASE_URL"], "postgres://user:password@host:port/database (the sandbox brings its own)"],
  [["DATA_DIR"], "where the sandbox keeps its data (.data)"],
  [["TRUSTED_PROXIES"], "addresses or CIDRs whose X-Forwarded-For or Forwarded counts, comma separated (none)"],
  [
    ["RATE_LIMIT_SECRET"],
    "16 or more characters that addresses are made pseudonymous with (random, kept in the database)",
  ],
  [["ROOMS_MAX"], "signal rooms that may exist at once (20000)"],
  [["ROOMS_MAX_BYTES"], "bytes of all rooms together, each counted as a full one of 65536 (2147483648)"],
  [["LOG_LEVEL"], "Trace, Debug, Info, Warn, Error, Fatal or None (Info; in the sandbox Warn)"],
  [["LOG_FORMAT"], "json, one object a line (default), or pretty, for people (in the sandbox the default)"],
  [["LOG_READS"], "share of the reads that went well which are logged at Info, 0 to 1 (0.01)"],
  [["METRICS_PORT"], "port on which Prometheus may ask for /metrics (none)"],
  [["METRICS_HOST"], "address of that port (127.0.0.1)"],
  [["OTEL_EXPORTER_OTLP_ENDPOINT"], "base URL of a collector of traces and metrics, OTLP over HTTP (none)"],
  [["OTEL_EXPORTER_OTLP_HEADERS"], "headers that the collector asks for, name=value, comma separated (none)"],
  [["OTEL_EXPORTER_OTLP_PROTOCOL"], "http/protobuf (default) or http/json"],
  [["OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER"], "otlp (default) or none"],
  [["OTEL_SERVICE_NAME"], "what this server is called there (spirit-altar)"],
  [["OTEL_RESOURCE_ATTRIBUTES"], "what else is said of it there, name=value, comma separated (none)"],
  [
    ["OTEL_TRACES_SAMPLER"],
    "which traces are kept: always_on, always_off, traceidratio, or one of these after parentbased_ (parentbased_always_on)",
  ],
  [["OTEL_TRACES_SAMPLER_ARG"], "share of traces that a ratio's sampler keeps, 0 to 1 (1)"],
  [["OTEL_METRIC_EXPORT_INTERVAL"], "milliseconds between two exports of metrics (60000)"],
  [["OTEL_SDK_DISABLED"], "true turns traces and exported metrics off (false)"],
] as const

/** And each that production alone reads. */
const production = [
  [["OPERATOR_NAME"], "who runs this server, for its terms, privacy and agent card (not said)"],
  [["OPERATOR_CONTACT"], "how they are reached: an e-mail address, mailto: or https:; also makes security.txt (none)"],
  [["SOURCE_URL"], "where the software's source is, for the page on checking the chain: an https URL (none)"],
  [["TERMS_FILE"], "plain text that is shown at /terms instead of the text that comes with the server"],
  [["PRIVACY_FILE"], "plain text that is shown at /privacy instead of the text that comes with the server"],
  [["LOG_KEY"], "private key of the transparency log, as `spirit-altar log key` makes it (none: no log)"],
  [["LOG_ORIGIN"], "name of the log and of its key, the same for its life (host of PUBLIC_URL, then /log)"],
  [
    ["LOG_CHECKPOINT_FILE"],
    "file that keeps the last signed checkpoint, so that a restored database forks nothing (none)",
  ],
  [["LOG_WITNESSES"], "policy file that names the witnesses of the log: keys, URLs, quorum (none)"],
  [["X402_NETWORK"], "eip155:8453, Base (default), or eip155:84532, its test network"],
  [["PAY_TO"], "address that receives the USDC, of this altar alone"],
  [["RPC_URL"], "JSON-RPC of the network, for evidence and for self-settlement"],
  [["RELAYER_KEY"], "private key that settles payments and pays their gas"],
  [["SETTLE_GROUP_MAX"], "payments the relayer sends in one transaction at most, 1 to 50; 1 sends each alone (50)"],
  [["RELAYER_KEY_PREVIOUS"], "the key before it, while what it sent is still on its way (none)"],
  [["FACILITATOR_URL"], "x402 facilitator that settles instead of a relayer key"],
  [["FACILITATOR_CATALOGUES"], "true where it lists paid routes (bazaar): each 402 then says how it is called (false)"],
  [["CDP_API_KEY_ID", "CDP_API_KEY_SECRET"], "key of a facilitator that asks for one"],
  [["CHAIN_FINALITY"], "block tag from which nothing is taken back: finalized (default), safe or latest"],
  [
    ["WALLET_FACTORIES"],
    "factories whose smart wallets may be deployed by their first payment, comma separated (none)",
  ],
  [
    ["CARD_PROFILE_ID"],
    "profile that card tokens are granted to; with the next two, week and month candles take cards",
  ],
  [["CARD_SECRET_KEY"], "secret key at the card processor"],
  [["CARD_CHALLENGE_SECRET"], "32 or more characters that card challenges are made with, the same on all servers"],
  [["CARD_API_URL"], "the card processor (https://api.stripe.com)"],
  [["SETTLE_TIMEOUT_SECONDS"], "how long a settlement may take before its outcome counts as unknown (30)"],
  [["SWEEP_SECONDS"], "pause of the background reconciler (5)"],
  [
    ["MAX_TIMEOUT_SECONDS"],
    "life of an authorization that clients are asked for; one that lives 300 seconds longer is refused (300)",
  ],
] as const

export const variables = [...everywhere, ...production] as const

/** The names of those that the sandbox reads. */
export const sandboxVariables: ReadonlyArray<Variable> = everywhere.flatMap(([names]) => names)

export type Variable = (typeof variables)[number][0][number]

/** A name that the list has: what reads a variable cannot misspell it, nor leave it out of the help. */
export const variable = <const Name extends Variable>(name: Name): Name => name

/** Those whose value nobody else may read: a file for one server, or the secrets of whatever starts it. */
export const secrets = [
  "CARD_CHALLENGE_SECRET",
  "CARD_SECRET_KEY",
  "CDP_API_KEY_SECRET",
  "DATABASE_URL",
  "LOG_KEY",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "RATE_LIMIT_SECRET",
  "RELAYER_KEY",
  "RELAYER_KEY_PREVIOUS",
  "RPC_URL",
] as const satisfies ReadonlyArray<Variable>

/** The lines of `--help` for all variables, or for those that are named. */
export const variablesHelp = (only?: ReadonlyArray<Variable>): string =>
  variables
    .filter(([names]) => only === undefined || names.some((name) => only.includes(name)))
    .map(([names, meaning]) => `  ${names.join(", ")}: ${meaning}`)
    .join("\n")
