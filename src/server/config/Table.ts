/** Every variable of a server, with its kind, its default and its description. */
import { base, usdcNetworks } from "../../../schema/payments/Usdc.ts"
import { groupMaximum } from "../../payments/Settlement.ts"
import { defaults, roomBytes } from "../../room/Ceiling.ts"
import { samplers } from "../../telemetry/TelemetryConfig.ts"
import * as Kinds from "./Kinds.ts"
import { optional, preset, type Variable, type Words } from "./Kinds.ts"

export const sufficient = {
  databaseUrl: optional("DATABASE_URL", Kinds.database, {
    says: "The PostgreSQL database; it is migrated at start. The sandbox brings its own.",
    example: "postgres://altar:password@127.0.0.1:5432/altar",
  }),
  publicUrl: optional("PUBLIC_URL", Kinds.url, {
    says: "The server's public address: permalinks and signed URLs begin with it.",
  }),
  payTo: optional("PAY_TO", Kinds.address, {
    says: "The address that receives the USDC, used for this altar alone.",
  }),
  rpcUrl: optional("RPC_URL", Kinds.secretUrl, {
    says: "JSON-RPC of the network, for evidence and self-settlement.",
  }),
  relayerKey: optional("RELAYER_KEY", Kinds.privateKey, {
    says: "The private key that settles payments and pays their gas. Keep only gas in its wallet.",
  }),
}

export const listening = {
  host: preset("HOST", "127.0.0.1", Kinds.text("an address to listen on"), {
    says: "The address to listen on; 0.0.0.0 means all.",
  }),
  port: preset("PORT", 3000, Kinds.port, { says: "The port to listen on." }),
  trustedProxies: preset("TRUSTED_PROXIES", [], Kinds.networks, {
    says: "Proxies whose X-Forwarded-For or Forwarded is trusted: addresses or CIDRs, separated by commas.",
  }),
  rateLimitSecret: optional("RATE_LIMIT_SECRET", Kinds.secret("16 characters or more", 16), {
    says: "The key of address pseudonyms, 16 characters or more; without it the database keeps a random one.",
  }),
  rooms: preset("ROOMS_MAX", defaults.rooms, Kinds.whole(1, 10_000_000), {
    says: "Maximum number of signal rooms; above it, creating one answers 503.",
  }),
  roomBytes: preset("ROOMS_MAX_BYTES", defaults.bytes, Kinds.whole(roomBytes, 2 ** 50), {
    says: `Maximum bytes of all rooms; each counts as full, ${roomBytes} bytes.`,
  }),
}

export const operator = {
  name: optional("OPERATOR_NAME", Kinds.text("a name"), {
    says: "The name of this server's operator, shown in its terms and on its privacy page.",
  }),
  contact: optional("OPERATOR_CONTACT", Kinds.contact, {
    says: "The operator's contact: an e-mail address, mailto: or https:. It enables security.txt.",
  }),
  source: optional("SOURCE_URL", Kinds.httpsUrl, {
    says: "The https URL of the source, for the page on checking the chain.",
  }),
  termsFile: optional("TERMS_FILE", Kinds.text("a path"), {
    says: "A plain text file for /terms, instead of the built-in text.",
  }),
  privacyFile: optional("PRIVACY_FILE", Kinds.text("a path"), {
    says: "A plain text file for /privacy, instead of the built-in text.",
  }),
}

export const sandbox = {
  dataDir: preset("DATA_DIR", ".data", Kinds.text("a path"), {
    says: "The folder of the sandbox's database and chain; a production server does not use it.",
  }),
}

export const log = {
  key: optional("LOG_KEY", Kinds.secret("a key as `spirit-altar log key` makes it"), {
    says: "The private key of the transparency log, from `spirit-altar log key`. Without it there is no log.",
  }),
  origin: optional("LOG_ORIGIN", Kinds.text("the name of a log"), {
    says: "The permanent name of the log and of its key: by default the host of PUBLIC_URL, and /log.",
  }),
  actsOrigin: optional("LOG_ACTS_ORIGIN", Kinds.text("the name of a log"), {
    says: "The permanent name of the log over all acts: by default LOG_ORIGIN and /acts.",
  }),
  checkpointFile: optional("LOG_CHECKPOINT_FILE", Kinds.text("the path of a file"), {
    says: "A file for the last signed checkpoint, outside the database, so that a restored database causes no fork.",
  }),
  policyFile: optional("LOG_WITNESSES", Kinds.text("the path of a file"), {
    says: "A policy file (C2SP tlog-policy) with the witnesses that cosign each checkpoint.",
  }),
  entriesInMemory: optional("LOG_ENTRIES_IN_MEMORY", Kinds.whole(256, 4_194_304), {
    says: "Entries of each log whose tiles and bundles stay in memory, half a kilobyte each: by default 40960.",
  }),
  publishSeconds: optional("LOG_PUBLISH_SECONDS", Kinds.whole(1, 3600), {
    says: "Minimum seconds between two checkpoints of the log, 1 to 3600: by default 10, and 1 in the sandbox.",
  }),
}

export const receipts = {
  key: optional("RECEIPT_KEY", Kinds.secret("a key as `spirit-altar receipts key` makes it"), {
    says: "The private key that signs receipts, from `spirit-altar receipts key`. Without it receipts are not signed.",
  }),
  offers: optional("OFFER_KEY", Kinds.secret("a key as `spirit-altar receipts key` makes it"), {
    says: "The private key that signs the offers of 402s, made like RECEIPT_KEY. A signed offer adds 0.8 KB to each 402, which then exceeds 1.5 KB, and to the client's payment.",
  }),
  retired: preset("RECEIPT_KEYS_RETIRED", [], Kinds.verifierKeys, {
    says: "The verifier keys of earlier receipt keys, separated by commas: they stay in /.well-known/did.json.",
  }),
  authorizations: optional("RECEIPT_AUTHORIZATIONS", Kinds.text("the path of a file"), {
    says: "A JSON list of statements from `spirit-altar receipts authorize`, each with the id of its stone as `stone`. Receipt files quote them to show why a key may sign.",
  }),
}

export const lines = {
  level: preset("LOG_LEVEL", "Info", Kinds.logLevel, {
    says: "The log level: Trace, Debug, Info, Warn, Error, Fatal or None; the sandbox logs at Warn.",
  }),
  format: preset("LOG_FORMAT", "json", Kinds.oneOf("json", "pretty"), {
    says: "The log format: json, one object a line, or pretty, for people, as in the sandbox.",
  }),
  reads: preset("LOG_READS", 0.01, Kinds.share, {
    says: "The share of successful reads that are logged at Info, 0 to 1; writes and failures are always logged.",
  }),
}

export const metrics = {
  port: optional("METRICS_PORT", Kinds.port, {
    says: "The port of /metrics for Prometheus; off by default. Never make it public.",
  }),
  host: preset("METRICS_HOST", "127.0.0.1", Kinds.text("an address to listen on"), {
    says: "The address of that port.",
  }),
}

export const otlp = {
  endpoint: optional("OTEL_EXPORTER_OTLP_ENDPOINT", Kinds.url, {
    says: "The base URL of a collector of traces and metrics (OTLP over HTTP); off by default.",
  }),
  headers: optional("OTEL_EXPORTER_OTLP_HEADERS", Kinds.secret("name=value, separated by commas"), {
    says: "Headers for the collector, such as its key: name=value, separated by commas, escaped as in a URL.",
  }),
  protocol: preset("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", Kinds.oneOf("http/protobuf", "http/json"), {
    says: "The protocol to the collector: http/protobuf or http/json.",
  }),
  traces: preset("OTEL_TRACES_EXPORTER", "otlp", Kinds.anyText, { says: "The export of traces: otlp or none." }),
  metrics: preset("OTEL_METRICS_EXPORTER", "otlp", Kinds.anyText, { says: "The export of metrics: otlp or none." }),
  serviceName: preset("OTEL_SERVICE_NAME", "", Kinds.anyText, {
    says: "The name of this server at the collector: by default the service.name of OTEL_RESOURCE_ATTRIBUTES, or spirit-altar.",
  }),
  attributes: preset("OTEL_RESOURCE_ATTRIBUTES", "", Kinds.anyText, {
    says: "Further attributes of this server at the collector: name=value, separated by commas, escaped as in a URL.",
  }),
  sampler: preset("OTEL_TRACES_SAMPLER", "parentbased_always_on", Kinds.oneOf(...samplers), {
    says: "The sampler of traces: always_on, always_off or traceidratio; with parentbased_ a trace from elsewhere keeps its decision.",
  }),
  ratio: preset("OTEL_TRACES_SAMPLER_ARG", 1, Kinds.share, {
    says: "The share of traces that a ratio's sampler keeps, 0 to 1.",
  }),
  metricsEvery: preset("OTEL_METRIC_EXPORT_INTERVAL", 60_000, Kinds.integer, {
    says: "Milliseconds between two exports of metrics.",
  }),
  isOff: preset("OTEL_SDK_DISABLED", false, Kinds.boolean, {
    says: "Turns traces and exported metrics off, whatever else is set.",
  }),
}

export const payment = {
  network: preset("X402_NETWORK", base, Kinds.oneOf(...usdcNetworks), {
    says: "Base (eip155:8453), or its test network (eip155:84532).",
  }),
  groupMaximum: preset("SETTLE_GROUP_MAX", groupMaximum, Kinds.whole(1, groupMaximum), {
    says: "Maximum number of payments in one transaction of the relayer, 1 to 50; 1 sends each alone.",
  }),
  previousRelayerKey: optional("RELAYER_KEY_PREVIOUS", Kinds.privateKey, {
    says: "The previous RELAYER_KEY after a change, until none of its transactions is in flight.",
  }),
  facilitatorUrl: optional("FACILITATOR_URL", Kinds.url, {
    says: "An x402 facilitator that settles instead of a relayer key. Without either, paid routes are off.",
  }),
  isCatalogued: preset("FACILITATOR_CATALOGUES", false, Kinds.boolean, {
    says: "Whether the facilitator lists paid routes (bazaar): each 402 then describes its route, and grows by 2 to 3 KB.",
  }),
  keyId: optional("CDP_API_KEY_ID", Kinds.text("the id of a key"), {
    says: "The id of the facilitator's API key, where it needs one.",
  }),
  keySecret: optional("CDP_API_KEY_SECRET", Kinds.secret("the secret of a key"), {
    says: "The secret of the facilitator's API key.",
  }),
  finalTag: preset("CHAIN_FINALITY", "finalized", Kinds.oneOf("finalized", "safe", "latest"), {
    says: "The block tag that counts as final: finalized, safe or latest.",
  }),
  walletFactories: preset("WALLET_FACTORIES", [], Kinds.addresses, {
    says: "Factories whose smart wallets may be deployed by their first payment, separated by commas.",
  }),
  patience: preset("SETTLE_TIMEOUT_SECONDS", 30, Kinds.seconds, {
    says: "Seconds until the outcome of a settlement counts as unknown.",
  }),
  sweepEvery: preset("SWEEP_SECONDS", 5, Kinds.seconds, {
    says: "Seconds between two rounds of the background reconciler.",
  }),
  maxTimeoutSeconds: preset("MAX_TIMEOUT_SECONDS", 300, Kinds.seconds, {
    says: "Seconds that an authorization should live; one that lives 300 seconds longer is refused.",
  }),
}

export const cards = {
  profile: optional("CARD_PROFILE_ID", Kinds.text("the id of a profile"), {
    says: "The processor's profile that receives card tokens.",
  }),
  secretKey: optional("CARD_SECRET_KEY", Kinds.secret("a secret key"), {
    says: "The secret key at the card processor.",
  }),
  challengeSecret: optional("CARD_CHALLENGE_SECRET", Kinds.secret("32 characters or more", 32), {
    says: "The key of card challenges, 32 characters or more, the same on all servers.",
  }),
  apiUrl: preset("CARD_API_URL", "https://api.stripe.com", Kinds.url, { says: "The card processor." }),
}

export const buyer = {
  url: optional("SPIRIT_ALTAR_URL", Kinds.anyText, {
    says: "The altar to buy from without --url; else the sandbox of this folder, or http://127.0.0.1:3000.",
  }),
  data: optional("SPIRIT_ALTAR_DATA", Kinds.anyText, {
    says: "The folder of the buyer's journal without --data; else one in your account's state folder.",
  }),
  privateKey: optional("SPIRIT_ALTAR_PRIVATE_KEY", Kinds.anyText, {
    says: "The private key that pays without --wallet; a sandbox funds a throw-away one.",
  }),
}

const all = (...of: ReadonlyArray<Readonly<Record<string, Variable<unknown>>>>) =>
  of.flatMap((group) => Object.values(group))

/** The groups in the order of `--help` and the guide. */
export const groups: ReadonlyArray<readonly [title: string, variables: ReadonlyArray<Words>]> = [
  ["Required to sell", all(sufficient)],
  ["Listening and limits", all(listening)],
  ["Operator", all(operator)],
  ["Storage and signing", all(sandbox, log, receipts)],
  ["Logs, metrics and traces", all(lines, metrics, otlp)],
  ["Payments, beside the required ones", all(payment)],
  ["Cards, beside USDC, for week and month candles: the first three, or none of them", all(cards)],
  ["The buyer's commands, not the server", all(buyer)],
]

/** The variables of a production server. */
export const serving = all(sufficient, listening, operator, log, receipts, lines, metrics, otlp, payment, cards)

const { databaseUrl, publicUrl } = sufficient

/** Variables of a sandbox. */
export const rehearsing = all(
  { databaseUrl, publicUrl, publishSeconds: log.publishSeconds },
  sandbox,
  listening,
  lines,
  metrics,
  otlp,
)

export const helpOf = (variables: ReadonlyArray<Words>): string =>
  variables
    .map(({ fallback, name, says }) => `  ${name}: ${says}${fallback === "" ? "" : ` Default: ${fallback}`}`)
    .join("\n")
