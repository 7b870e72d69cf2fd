/** The kinds of variables and how each is read. An error names the expected form and never quotes the given value. */
import { isIP } from "node:net"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Config, ConfigProvider, Effect, type FileSystem, Option, Redacted, Result, Schema } from "effect"
import { isAddress } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { keyTypes, parseVerifierKey } from "../../../schema/log/Note.ts"
import { parsePolicy, type Policy } from "../../../schema/log/Policy.ts"
import { usdc } from "../../../schema/payments/Usdc.ts"
import { network } from "../../limits/Address.ts"
import { isVerifierKey } from "../../log/Signer.ts"
import { encryptionsOf } from "../../platform/Encryption.ts"
import { cosignatureVerifier } from "../../log/Verifier.ts"
import { maySign } from "../../payments/x402/settle/Facilitator.ts"
import { inLowerCase } from "../../payments/x402/chain/Eip3009.ts"
import * as Files from "../../platform/DurableFile.ts"

export interface Kind<A> {
  readonly expected: string
  readonly configOf: (name: string) => Config.Config<A>
  /** Secret values belong in a file for one server, or in the secrets of its service manager. */
  readonly isSecret?: true
  readonly hasLines?: true
}

/**
 * The texts of a variable in `--help`, `.env.example` and the operator's guide. `npm run variables` writes the last
 * two.
 */
export interface Words {
  readonly name: string
  /** One sentence that ends in a full stop. */
  readonly says: string
  /** The default as text, empty without one. */
  readonly fallback: string
  /** The example's value if there is no default. */
  readonly example: string
  readonly isSecret: boolean
}

export type Variable<A> = Config.Config<A> & Words

export const refused = (message: string) => Config.fail(new ConfigProvider.SourceError({ message }))

/** The error of a variable, with the sentence of its kind that says more, if there is one. */
const wrong = (name: string, expected: string, cause: Config.ConfigError["cause"]) =>
  refused(`${name} is wrong: expected ${expected}. ${cause._tag === "SourceError" ? cause.message : ""}`.trim())

const make = <A, B>(
  { expected, isSecret }: Kind<A>,
  words: Omit<Words, "isSecret">,
  config: Config.Config<B>,
): Variable<B> =>
  Object.assign(
    Config.orElse(config, ({ cause }) => wrong(words.name, expected, cause)),
    { ...words, isSecret: isSecret === true },
  )

/** Files and secret stores add line ends, which break URLs and headers much later. */
const reading = <A>(name: string, { hasLines, configOf }: Kind<A>) =>
  Config.flatMap(Config.option(Config.String(name)), (text) =>
    hasLines !== true && Option.exists(text, (given) => /\p{Cc}/u.test(given))
      ? refused("It has a line end or another control character.")
      : configOf(name),
  )

interface Description {
  readonly says: string
  readonly example?: string
}

export const optional = <A>(name: string, kind: Kind<A>, description: Description) =>
  make(kind, { example: "", ...description, name, fallback: "" }, Config.option(reading(name, kind)))

export const preset = <A, const B>(name: string, fallback: B, kind: Kind<A>, description: Description) =>
  make(
    kind,
    { example: "", ...description, name, fallback: String(fallback) },
    Config.withDefault(reading(name, kind), fallback),
  )

/** A text that fits, or does not; a sentence says what is wrong with it. */
const matching = (expected: string, fits: (text: string) => boolean | string): Kind<string> => ({
  expected,
  configOf: (name) =>
    Config.flatMap(Config.String(name), (text) => {
      const fault = fits(text)
      return fault === true ? Config.succeed(text) : refused(fault === false ? "" : fault)
    }),
})

const secretly = ({ expected, configOf }: Kind<string>): Kind<Redacted.Redacted<string>> => ({
  expected,
  isSecret: true,
  configOf: (name) => Config.map(configOf(name), (secret) => Redacted.make(secret, { label: name })),
})

/** A client decodes these parts of a URL. A lone percent sign cannot be decoded. */
const isDecodable = (...parts: ReadonlyArray<string>) =>
  Result.isSuccess(Result.try(() => parts.map((part) => decodeURIComponent(part))))

const hasProtocol = (protocols: RegExp) => (text: string) => {
  const { password = "", protocol = "", username = "" } = URL.parse(text) ?? {}
  if (!protocols.test(protocol)) return false
  return isDecodable(username, password) || "Write a percent sign in its user or password as %25."
}
const isWeb = hasProtocol(/^https?:$/u)

const isPort = (text: string) => text === "" || (/^(?!0+$)\d{1,5}$/u.test(text) && Number(text) < 65_536)

const isDatabase = (text: string) => {
  const { pathname = "", port = "", searchParams: given = new URLSearchParams() } = URL.parse(text) ?? {}
  if (![port, given.get("port") ?? ""].every(isPort)) return "Its port is none."
  if (!isDecodable(pathname)) return "Write a percent sign in the database's name as %25."
  const encryptions = URL.canParse(text) ? encryptionsOf(new URL(text)) : []
  return typeof encryptions === "string" ? encryptions : hasProtocol(/^postgres(?:ql)?:$/u)(text)
}

const parts = (list: string) =>
  list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

const listOf = <A>(expected: string, valuesOf: (part: string) => ReadonlyArray<A>): Kind<ReadonlyArray<A>> => {
  const kind = matching(expected, (list) => parts(list).every((part) => valuesOf(part).length === 1))
  return { ...kind, configOf: (name) => Config.map(kind.configOf(name), (list) => parts(list).flatMap(valuesOf)) }
}

const hex = (digits: number) =>
  Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(new RegExp(`^0x[0-9a-fA-F]{${digits}}$`, "u")))

export const text = (expected: string): Kind<string> => ({ expected, configOf: (name) => Config.NonEmptyString(name) })
export const anyText: Kind<string> = { expected: "text", configOf: (name) => Config.String(name) }
/** Read elsewhere and as a secret. */
export const secretText: Kind<string> = { ...anyText, isSecret: true }
/** An origin: other parts would stand in the middle of each link that begins with it. */
export const origin: Kind<string> = {
  expected: "an http or https URL without path, query, fragment or user",
  configOf: (name) =>
    Config.flatMap(Config.String(name), (given) => {
      const address = URL.parse(given)
      return isWeb(given) === true && address?.href === `${address?.origin}/`
        ? Config.succeed(address.origin)
        : refused("")
    }),
}
/** A path is appended, so nothing may follow the URL's own. */
export const baseUrl = matching("an http or https URL without query, fragment or user", (text) => {
  const { password, search, username } = URL.parse(text) ?? {}
  return isWeb(text) === true && !/[?#]/u.test(text) && [password, search, username].every((part) => part === "")
})
export const secretUrl = secretly(matching("an http or https URL", isWeb))
/** Sent in a header, which takes nothing else. */
export const secret = (expected: string) => secretly(matching(expected, (text) => /^[!-~]+$/u.test(text)))
export const apiSecret: Kind<Redacted.Redacted<string>> = {
  ...secretly(matching("the secret of a key: base64 of 64 bytes, or a PEM EC key with real line ends", maySign)),
  hasLines: true,
}
export const database = secretly(
  matching("postgres://user:password@host:port/database, with an sslmode of PostgreSQL's if it has one", isDatabase),
)
export const contact = matching(
  "an e-mail address or an https URL",
  (text) => /^(?:mailto:)?[^\s@:]+@[^\s@]+$/u.test(text) || (/^https:\/\/\S+$/u.test(text) && URL.canParse(text)),
)
export const networks = listOf("addresses or CIDRs, separated by commas", (part) =>
  Result.match(network(part), { onFailure: () => [], onSuccess: (parsed) => [parsed] }),
)
/** Keys of type Ed25519 alone. */
export const verifierKeys = listOf("verifier keys, name+hash+base64, separated by commas", (part) => {
  const key = parseVerifierKey(part)
  return key instanceof Malformed || key.type !== keyTypes.ed25519 || !isVerifierKey(key) ? [] : [key]
})
const tokens: ReadonlySet<string> = new Set(Object.values(usdc).map(({ asset }) => inLowerCase(asset)))

/** Money for any of the refused addresses is lost. */
const faultOfRecipient = (address: `0x${string}`) => {
  const digits = address.slice(2)
  if (/^0+$/u.test(digits)) return "It is the zero address."
  if (tokens.has(inLowerCase(address))) return "It is the address of the token itself."
  return isAddress(address) || digits === digits.toUpperCase() ? "" : "Its checksum is wrong: copy it again."
}

export const recipient: Kind<`0x${string}`> = {
  expected: "an address: 0x and 40 hexadecimal digits",
  configOf: (name) =>
    Config.flatMap(Config.schema(hex(40), name), (address) => {
      const fault = faultOfRecipient(address)
      return fault === "" ? Config.succeed(address) : refused(fault)
    }),
}
export const privateKey: Kind<Redacted.Redacted<`0x${string}`>> = {
  expected: "a private key: 0x and 64 hexadecimal digits",
  isSecret: true,
  configOf: (name) =>
    Config.flatMap(Config.schema(Schema.Redacted(hex(64)), name), (key) =>
      Result.isSuccess(Result.try(() => privateKeyToAccount(Redacted.value(key))))
        ? Config.succeed(key)
        : refused("The curve has no such key."),
    ),
}
export const port: Kind<number> = { expected: "a port, 1 to 65535", configOf: (name) => Config.Port(name) }
const isHost = (text: string) => isIP(text) > 0 || /^(?=.*[a-z])[a-z\d](?:[a-z\d._-]*[a-z\d])?$/iu.test(text)

export const host = matching("an address of this machine, such as 127.0.0.1, 0.0.0.0 or ::1, or its name", (text) =>
  /^\[.*\]$/u.test(text) ? "Leave out the brackets." : isHost(text),
)
/** A port on the loopback, or an address and a port. */
export const listening: Kind<{ readonly host: string; readonly port: number }> = {
  expected: "a port, 0 to 65535, or address:port",
  configOf: (name) =>
    Config.flatMap(Config.String(name), (given) => {
      const [, bracketed, plain = "127.0.0.1", digits] = /^(?:\[(.+)\]:|(.+):)?(\d{1,5})$/u.exec(given) ?? []
      const address = { host: bracketed ?? plain, port: Number(digits ?? "none") }
      return isHost(address.host) && address.port < 65_536 ? Config.succeed(address) : refused("")
    }),
}
const fileOf = <A>(
  expected: string,
  use: (path: string) => Effect.Effect<A, Files.FileUnfit | Config.ConfigError, FileSystem.FileSystem>,
): Kind<A> => ({
  expected,
  configOf: (name) =>
    Config.mapEffect(Config.NonEmptyString(name), (path) =>
      use(path).pipe(
        Effect.catchTag("FileUnfit", ({ message }) => refused(message)),
        Effect.provide(NodeFileSystem.layer),
      ),
    ),
})
export const textFile = fileOf("the path of a text file", Files.readText)
/** A file that is replaced as a whole. */
export const replacedFile = fileOf("the path of a file in a folder where it can be replaced", (path) =>
  Effect.as(Files.rehearse(path), path),
)
export const policyFile: Kind<Policy> = fileOf("the path of a policy (C2SP tlog-policy)", (path) =>
  Effect.flatMap(Files.readText(path), (text) => {
    const policy = parsePolicy(text)
    if (policy instanceof Malformed) return refused(policy.message)
    const fault = policy.cosigners.map(({ vkey }) => cosignatureVerifier(vkey)).find((key) => key instanceof Malformed)
    return fault instanceof Malformed ? refused(fault.message) : Config.succeed(policy)
  }),
)
export const boolean: Kind<boolean> = { expected: "true or false", configOf: (name) => Config.Boolean(name) }
export const whole = (minimum: number, maximum: number): Kind<number> => ({
  expected: `a whole number from ${minimum} to ${maximum}`,
  configOf: (name) =>
    Config.schema(Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum, maximum })), name),
})
export const logLevel = {
  expected: "Trace, Debug, Info, Warn, Error, Fatal or None",
  configOf: (name: string) => Config.LogLevel(name),
}
const either = new Intl.ListFormat("en", { type: "disjunction" })
export const oneOf = <const Literals extends ReadonlyArray<string>>(...literals: Literals) => ({
  expected: either.format(literals).replace(/, or /u, " or "),
  configOf: (name: string) => Config.schema(Schema.Literals(literals), name),
})
