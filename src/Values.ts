/** Each variable as a value: how it is read, and in words what is expected of it; no refusal quotes what was given. */
import { Config, ConfigProvider, Option, Redacted, Result, Schema } from "effect"
import { base, secondsMaximum, usdcNetworks } from "../schema/payments/Usdc.ts"
import { network } from "./limits/Address.ts"
import { groupMost } from "./payments/Settlement.ts"
import * as Ceiling from "./room/Ceiling.ts"
import { type Variable, variable } from "./Variables.ts"

export const AddressText = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u))
const KeyText = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/u))

export const refused = (message: string) => Config.fail(new ConfigProvider.SourceError({ message }))

const wrong = (name: Variable, expected: string) => refused(`${name} is wrong: expected ${expected}.`)

/** Refused in one sentence when it is there and not as expected. */
const optional = <A>(name: Variable, expected: string, read: (name: Variable) => Config.Config<A>) =>
  Config.orElse(Config.option(read(name)), () => wrong(name, expected))

const withDefault = <A, const B>(
  name: Variable,
  fallback: B,
  expected: string,
  read: (name: Variable) => Config.Config<A>,
) => Config.orElse(Config.withDefault(read(name), fallback), () => wrong(name, expected))

const text =
  (isAsExpected: (text: string) => boolean) =>
  (name: Variable): Config.Config<string> =>
    Config.schema(Schema.String.check(Schema.makeFilter((one) => isAsExpected(one))), name)

const secret =
  (isAsExpected: (text: string) => boolean) =>
  (name: Variable): Config.Config<Redacted.Redacted<string>> =>
    Config.map(text(isAsExpected)(name), (one) => Redacted.make(one, { label: name }))

const isUrl =
  (protocols: RegExp) =>
  (one: string): boolean => {
    const url = URL.parse(one)
    return url !== null && protocols.test(url.protocol)
  }
const isHttp = isUrl(/^https?:$/u)
const isLong = (least: number) => (one: string) => one.length >= least

/** What the driver knows of `sslmode`; anything else would be asked for again every second, for ever. */
const sslModes = new Set(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])

const isDatabase = (one: string) => {
  const url = URL.parse(one)
  if (url === null || !/^postgres(?:ql)?:$/u.test(url.protocol)) return false
  const mode = url.searchParams.get("sslmode")
  return mode === null || sslModes.has(mode)
}

export const parts = (list: string) =>
  list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

const isAddress = Schema.is(AddressText)
const isNetwork = (part: string) => Result.isSuccess(network(part))

const seconds = (name: Variable, fallback: number) =>
  withDefault(name, fallback, `a number of seconds from 1 to ${secondsMaximum}`, (one) =>
    Config.schema(Schema.FiniteFromString.check(Schema.isBetween({ minimum: 1, maximum: secondsMaximum })), one),
  )

const whole = (name: Variable, fallback: number, range: { readonly minimum: number; readonly maximum: number }) =>
  withDefault(name, fallback, `a whole number from ${range.minimum} to ${range.maximum}`, (one) =>
    Config.schema(Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween(range)), one),
  )

const boolean = (name: Variable) => withDefault(name, false, "true or false", (one) => Config.Boolean(one))

const privateKey = (name: Variable) =>
  optional(name, "a private key: 0x and 64 hexadecimal digits", (one) => Config.schema(Schema.Redacted(KeyText), one))

const database = "postgres://user:password@host:port/database, with an sslmode of PostgreSQL's if it has one"

export const listening = {
  host: withDefault("HOST", "127.0.0.1", "an address to listen on", (name) => Config.NonEmptyString(name)),
  port: withDefault("PORT", 3000, "a port, 0 to 65535", (name) => Config.Port(name)),
  publicUrl: optional("PUBLIC_URL", "an http or https URL", text(isHttp)),
  trustedProxies: Config.map(
    withDefault(
      "TRUSTED_PROXIES",
      "",
      "addresses or CIDRs, separated by commas",
      text((list) => parts(list).every(isNetwork)),
    ),
    (list) =>
      parts(list).flatMap((part) => Result.match(network(part), { onFailure: () => [], onSuccess: (one) => [one] })),
  ),
  rateLimitSecret: optional("RATE_LIMIT_SECRET", "16 characters or more", secret(isLong(16))),
  rooms: whole("ROOMS_MAX", Ceiling.defaults.rooms, { minimum: 1, maximum: 10_000_000 }),
  roomBytes: whole("ROOMS_MAX_BYTES", Ceiling.defaults.bytes, { minimum: Ceiling.roomBytes, maximum: 2 ** 50 }),
}

export const databaseUrl = Config.flatMap(optional("DATABASE_URL", database, secret(isDatabase)), (given) =>
  Option.match(given, {
    onSome: (url) => Config.succeed(url),
    onNone: () => refused(`DATABASE_URL is not set: set it to ${database}.`),
  }),
)

export const paying = {
  network: withDefault("X402_NETWORK", base, usdcNetworks.join(" or "), (name) =>
    Config.schema(Schema.Literals(usdcNetworks), name),
  ),
  payTo: optional("PAY_TO", "an address: 0x and 40 hexadecimal digits", (name) => Config.schema(AddressText, name)),
  rpcUrl: optional("RPC_URL", "an http or https URL", secret(isHttp)),
  relayerKey: privateKey("RELAYER_KEY"),
  previousRelayerKey: privateKey("RELAYER_KEY_PREVIOUS"),
  groupMost: whole("SETTLE_GROUP_MAX", groupMost, { minimum: 1, maximum: groupMost }),
  facilitatorUrl: optional("FACILITATOR_URL", "an http or https URL", text(isHttp)),
  isCatalogued: boolean("FACILITATOR_CATALOGUES"),
  keyId: optional("CDP_API_KEY_ID", "the id of a key", (name) => Config.NonEmptyString(name)),
  keySecret: optional("CDP_API_KEY_SECRET", "the secret of a key", secret(isLong(1))),
  finalTag: withDefault("CHAIN_FINALITY", "finalized", "finalized, safe or latest", (name) =>
    Config.schema(Schema.Literals(["finalized", "safe", "latest"]), name),
  ),
  walletFactories: Config.map(
    withDefault(
      "WALLET_FACTORIES",
      "",
      "addresses, separated by commas",
      text((list) => parts(list).every(isAddress)),
    ),
    (list) => parts(list).filter(isAddress),
  ),
  patience: seconds("SETTLE_TIMEOUT_SECONDS", 30),
  sweepEvery: seconds("SWEEP_SECONDS", 5),
  maxTimeoutSeconds: seconds("MAX_TIMEOUT_SECONDS", 300),
}

export const cards = {
  profile: optional("CARD_PROFILE_ID", "the id of a profile", (name) => Config.NonEmptyString(name)),
  secretKey: optional("CARD_SECRET_KEY", "a secret key", secret(isLong(1))),
  challengeSecret: optional("CARD_CHALLENGE_SECRET", "32 characters or more", secret(isLong(32))),
  apiUrl: Config.map(
    withDefault("CARD_API_URL", "https://api.stripe.com", "an http or https URL", text(isHttp)),
    (url) => new URL(url).href,
  ),
}

export const log = {
  key: optional("LOG_KEY", "a key as `spirit-altar log key` makes it", secret(isLong(1))),
  origin: optional("LOG_ORIGIN", "the name of a log", (name) => Config.NonEmptyString(name)),
  checkpointFile: optional("LOG_CHECKPOINT_FILE", "the path of a file", (name) => Config.NonEmptyString(name)),
  policyFile: optional("LOG_WITNESSES", "the path of a file", (name) => Config.NonEmptyString(name)),
}

/** Read where it is needed first; refused together with everything else. */
export const logLevel = withDefault(
  variable("LOG_LEVEL"),
  "Info",
  "Trace, Debug, Info, Warn, Error, Fatal or None",
  (name) => Config.LogLevel(name),
)

const contact = /^(?:mailto:)?[^\s@:]+@[^\s@]+$|^https:\/\/\S+$/u

export const operator = {
  name: optional("OPERATOR_NAME", "a name", (name) => Config.NonEmptyString(name)),
  contact: Config.map(
    optional(
      "OPERATOR_CONTACT",
      "an e-mail address or an https URL",
      text((one) => contact.test(one)),
    ),
    Option.map((one) => (/^(?:mailto|https):/u.test(one) ? one : `mailto:${one}`)),
  ),
  source: optional(
    "SOURCE_URL",
    "an https URL",
    text((one) => /^https:\/\/\S+$/u.test(one)),
  ),
  termsFile: optional("TERMS_FILE", "a path", (name) => Config.NonEmptyString(name)),
  privacyFile: optional("PRIVACY_FILE", "a path", (name) => Config.NonEmptyString(name)),
}
