/** The kinds of variables and how each is read. An error names the expected form and never quotes the given value. */
import { Config, ConfigProvider, Redacted, Result, Schema } from "effect"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { keyTypes, parseVerifierKey } from "../../../schema/log/Note.ts"
import { network } from "../../limits/Address.ts"
import { isVerifierKey } from "../../log/Signer.ts"

export interface Kind<A> {
  readonly expected: string
  readonly read: (name: string) => Config.Config<A>
  /** Secret values belong in a file for one server, or in the secrets of its service manager. */
  readonly isSecret?: true
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

const make = <A, B>(
  { expected, isSecret }: Kind<A>,
  words: Omit<Words, "isSecret">,
  config: Config.Config<B>,
): Variable<B> =>
  Object.assign(
    Config.orElse(config, () => refused(`${words.name} is wrong: expected ${expected}.`)),
    { ...words, isSecret: isSecret === true },
  )

interface Told {
  readonly says: string
  readonly example?: string
}

export const optional = <A>(name: string, kind: Kind<A>, told: Told) =>
  make(kind, { example: "", ...told, name, fallback: "" }, Config.option(kind.read(name)))

export const preset = <A, const B>(name: string, fallback: B, kind: Kind<A>, told: Told) =>
  make(kind, { example: "", ...told, name, fallback: String(fallback) }, Config.withDefault(kind.read(name), fallback))

const matching = (expected: string, isAsExpected: (text: string) => boolean): Kind<string> => ({
  expected,
  read: (name) => Config.schema(Schema.String.check(Schema.makeFilter((one) => isAsExpected(one))), name),
})

const secretly = ({ expected, read }: Kind<string>): Kind<Redacted.Redacted<string>> => ({
  expected,
  isSecret: true,
  read: (name) => Config.map(read(name), (one) => Redacted.make(one, { label: name })),
})

const hasProtocol = (protocols: RegExp) => (one: string) => protocols.test(URL.parse(one)?.protocol ?? "")

/** The driver's values of `sslmode`. Any other value would fail every connection attempt, for ever. */
const sslModes = new Set(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])

const isDatabase = (one: string) => {
  const mode = URL.parse(one)?.searchParams.get("sslmode")
  return hasProtocol(/^postgres(?:ql)?:$/u)(one) && (typeof mode !== "string" || sslModes.has(mode))
}

const parts = (list: string) =>
  list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

const listOf = <A>(expected: string, read: (part: string) => ReadonlyArray<A>): Kind<ReadonlyArray<A>> => {
  const kind = matching(expected, (list) => parts(list).every((part) => read(part).length === 1))
  return { ...kind, read: (name) => Config.map(kind.read(name), (list) => parts(list).flatMap(read)) }
}

const hex = (digits: number) =>
  Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(new RegExp(`^0x[0-9a-fA-F]{${digits}}$`, "u")))

export const text = (expected: string): Kind<string> => ({ expected, read: (name) => Config.NonEmptyString(name) })
export const anyText: Kind<string> = { expected: "text", read: (name) => Config.String(name) }
/** Read elsewhere and as a secret. */
export const secretText: Kind<string> = { ...anyText, isSecret: true }
export const url = matching("an http or https URL", hasProtocol(/^https?:$/u))
export const secretUrl = secretly(url)
export const secret = (expected: string) => secretly(matching(expected, (one) => one !== ""))
export const database = secretly(
  matching("postgres://user:password@host:port/database, with an sslmode of PostgreSQL's if it has one", isDatabase),
)
export const contact = matching("an e-mail address or an https URL", (one) =>
  /^(?:mailto:)?[^\s@:]+@[^\s@]+$|^https:\/\/\S+$/u.test(one),
)
export const networks = listOf("addresses or CIDRs, separated by commas", (part) =>
  Result.match(network(part), { onFailure: () => [], onSuccess: (one) => [one] }),
)
/** Keys of type Ed25519 alone. */
export const verifierKeys = listOf("verifier keys, name+hash+base64, separated by commas", (part) => {
  const key = parseVerifierKey(part)
  return key instanceof Malformed || key.type !== keyTypes.ed25519 || !isVerifierKey(key) ? [] : [key]
})
export const address: Kind<`0x${string}`> = {
  expected: "an address: 0x and 40 hexadecimal digits",
  read: (name) => Config.schema(hex(40), name),
}
export const privateKey: Kind<Redacted.Redacted<`0x${string}`>> = {
  expected: "a private key: 0x and 64 hexadecimal digits",
  isSecret: true,
  read: (name) => Config.schema(Schema.Redacted(hex(64)), name),
}
export const port: Kind<number> = { expected: "a port, 0 to 65535", read: (name) => Config.Port(name) }
/** A port on the loopback, or an address and a port. */
export const listening: Kind<{ readonly host: string; readonly port: number }> = {
  expected: "a port, 0 to 65535, or address:port",
  read: (name) =>
    Config.map(Config.schema(Schema.String.check(Schema.isPattern(/^(?:\S+:)?\d{1,5}$/u)), name), (given) => {
      const end = given.lastIndexOf(":")
      return { host: end < 0 ? "127.0.0.1" : given.slice(0, end), port: Number(given.slice(end + 1)) }
    }),
}
export const boolean: Kind<boolean> = { expected: "true or false", read: (name) => Config.Boolean(name) }
export const whole = (minimum: number, maximum: number): Kind<number> => ({
  expected: `a whole number from ${minimum} to ${maximum}`,
  read: (name) =>
    Config.schema(Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum, maximum })), name),
})
export const logLevel = {
  expected: "Trace, Debug, Info, Warn, Error, Fatal or None",
  read: (name: string) => Config.LogLevel(name),
}
const either = new Intl.ListFormat("en", { type: "disjunction" })
export const oneOf = <const Literals extends ReadonlyArray<string>>(...literals: Literals) => ({
  expected: either.format(literals).replace(/, or /u, " or "),
  read: (name: string) => Config.schema(Schema.Literals(literals), name),
})
