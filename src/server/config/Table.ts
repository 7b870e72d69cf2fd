/** Every variable of a server, with its kind, its default and its description. */
import { base, usdcNetworks } from "../../../schema/payments/Usdc.ts"
import { relayerLimits } from "../../payments/x402/settle/Settlement.ts"
import { defaults } from "../../room/Ceiling.ts"
import * as Kinds from "./Kinds.ts"
import { optional, preset, type Variable, type Words } from "./Kinds.ts"

export const sufficient = {
  databaseUrl: optional("DATABASE_URL", Kinds.database, {
    says: "The PostgreSQL database; it is migrated at start. The sandbox brings its own.",
    example: "postgres://altar:password@127.0.0.1:5432/altar",
  }),
  publicUrl: optional("PUBLIC_URL", Kinds.origin, {
    says: "The server's public address, without a path: permalinks and signed URLs begin with it.",
  }),
  payTo: optional("PAY_TO", Kinds.recipient, {
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
  host: preset("HOST", "127.0.0.1", Kinds.host, {
    says: "The address to listen on; 0.0.0.0 means all.",
  }),
  port: preset("PORT", 3000, Kinds.port, { says: "The port to listen on." }),
  trustedProxies: preset("TRUSTED_PROXIES", [], Kinds.networks, {
    says: "Proxies whose X-Forwarded-For or Forwarded is trusted: addresses or CIDRs, separated by commas.",
  }),
  rooms: preset("ROOMS_MAX", defaults.rooms, Kinds.whole(1, 10_000_000), {
    says: "Maximum number of signal rooms; above it, creating one answers 503.",
  }),
}

export const operator = {
  name: optional("OPERATOR_NAME", Kinds.text("a name"), {
    says: "The name of this server's operator, shown in its terms and on its privacy page.",
  }),
  contact: optional("OPERATOR_CONTACT", Kinds.contact, {
    says: "The operator's contact: an e-mail address, mailto: or https:. It enables security.txt.",
  }),
  terms: optional("TERMS_FILE", Kinds.textFile, {
    says: "A plain text file for /terms, instead of the built-in text.",
  }),
  privacy: optional("PRIVACY_FILE", Kinds.textFile, {
    says: "A plain text file for /privacy, instead of the built-in text.",
  }),
}

export const sandbox = {
  dataDir: preset("DATA_DIR", ".data", Kinds.text("a path"), {
    says: "The folder of the sandbox's database and chain; a production server does not use it.",
  }),
  limits: preset("SANDBOX_LIMITS", "strict", Kinds.oneOf("strict", "loose"), {
    says: "loose multiplies the limits of the sandbox by 100, for a run of contract tests.",
  }),
}

export const log = {
  key: optional("LOG_KEY", Kinds.secret("a key as `spirit-altar log key` makes it"), {
    says: "The private key of the transparency log, from `spirit-altar log key`. Without it there is no log.",
  }),
  origin: optional("LOG_ORIGIN", Kinds.text("the name of a log"), {
    says: "The permanent name of the log and of its key: by default the host of PUBLIC_URL, and /log.",
  }),
  checkpointFile: optional("LOG_CHECKPOINT_FILE", Kinds.replacedFile, {
    says: "A file for the last signed checkpoint, outside the database, so that a restored database causes no fork.",
  }),
  policy: optional("LOG_COSIGNERS", Kinds.policyFile, {
    says: "A policy file (C2SP tlog-policy) of the cosigners, which sign each checkpoint.",
  }),
}

/** Earlier names. A start refuses them, since the setting would be lost in silence. */
export const renamed = { LOG_WITNESSES: log.policy.name }

export const receipts = {
  key: optional("RECEIPT_KEY", Kinds.secret("a key as `spirit-altar admin receipt-key` makes it"), {
    says: "The private key that signs receipts, from `spirit-altar admin receipt-key`. Without it receipts are not signed.",
  }),
  retired: preset("RECEIPT_KEYS_RETIRED", [], Kinds.verifierKeys, {
    says: "The verifier keys of earlier receipt keys, separated by commas: they stay in /.well-known/did.json.",
  }),
}

export const lines = {
  level: preset("LOG_LEVEL", "Info", Kinds.logLevel, {
    says: "The log level: Trace, Debug, Info, Warn, Error, Fatal or None; the sandbox logs at Warn.",
  }),
}

export const metrics = {
  at: optional("METRICS_PORT", Kinds.listening, {
    says: "The port of /metrics for Prometheus on 127.0.0.1, or address:port; off by default. Never make it public.",
  }),
}

export const payment = {
  network: preset("X402_NETWORK", base, Kinds.oneOf(...usdcNetworks), {
    says: "Base (eip155:8453), or its test network (eip155:84532).",
  }),
  inFlight: preset("RELAYER_IN_FLIGHT", relayerLimits.inFlight, Kinds.whole(1, 1_000), {
    says: "Transactions of the relayer that may wait in the node, which takes 16 from one sender by default.",
  }),
  facilitatorUrl: optional("FACILITATOR_URL", Kinds.baseUrl, {
    says: "An x402 facilitator that settles instead of a relayer key. Without either, paid routes are off.",
  }),
  isCatalogued: preset("FACILITATOR_CATALOGUES", false, Kinds.boolean, {
    says: "Whether the facilitator lists paid routes (bazaar): each 402 then describes its route, and grows by 2 to 3 KB.",
  }),
  keyId: optional("CDP_API_KEY_ID", Kinds.text("the id of a key"), {
    says: "The id of the facilitator's API key, where it needs one.",
  }),
  keySecret: optional("CDP_API_KEY_SECRET", Kinds.apiSecret, {
    says: "The secret of the facilitator's API key.",
  }),
}

export const cards = {
  profile: optional("CARD_PROFILE_ID", Kinds.text("the id of a profile"), {
    says: "The processor's profile that receives card tokens.",
  }),
  secretKey: optional("CARD_SECRET_KEY", Kinds.secret("a secret key"), {
    says: "The secret key at the card processor.",
  }),
  apiUrl: preset("CARD_API_URL", "https://api.stripe.com", Kinds.baseUrl, {
    says: "The card processor's API. Another address is for a rehearsal with a processor of your own.",
  }),
}

export const buyer = {
  url: optional("SPIRIT_ALTAR_URL", Kinds.anyText, {
    says: "The altar to buy from without --url; else the sandbox of this folder, or http://127.0.0.1:3000.",
  }),
  privateKey: optional("SPIRIT_ALTAR_PRIVATE_KEY", Kinds.secretText, {
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
  ["Logs and metrics", all(lines, metrics)],
  ["Payments, beside the required ones", all(payment)],
  ["Cards, beside USDC, for week and month candles: both, or none", all(cards)],
  ["The buyer's commands, not the server", all(buyer)],
]

/** The variables of a production server. */
export const serving = all(sufficient, listening, operator, log, receipts, lines, metrics, payment, cards)

const { databaseUrl, publicUrl } = sufficient

/** Variables of a sandbox. */
export const rehearsing = all({ databaseUrl, publicUrl }, sandbox, listening, lines, metrics)

export const helpOf = (variables: ReadonlyArray<Words>): string =>
  variables
    .map(({ fallback, name, says }) => `  ${name}: ${says}${fallback === "" ? "" : ` Default: ${fallback}`}`)
    .join("\n")
