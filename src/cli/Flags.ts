/** The flags that several commands share, each described once with its environment variable. */
import { Config, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { dollars as plainDollars } from "../../schema/payments/Sale.ts"
import { sealBounds } from "../buyer/core/Commitment.ts"
import { defaultMaxPerDay } from "../buyer/Policy.ts"
import { processesHere } from "../sandbox/DataFolder.ts"
import { buyer } from "../server/config/Table.ts"
import { on, optionalText, text } from "./Define.ts"

export const defaultUrl = "http://127.0.0.1:3000"

/** Advice where no altar answers. */
export const whichAltar = `Is that an altar? Name yours with --url or ${buyer.url.name}, or start a sandbox with npm start.`

/** Atomic USDC of dollars as people write them, `0.01` or `$0.01`. */
const atomicOf = (dollars: string) => {
  const [, whole, cents = ""] = /^\$?(\d{1,9})(?:\.(\d{1,6}))?$/u.exec(dollars.trim()) ?? []
  return whole === undefined ? Option.none() : Option.some(BigInt(whole) * 1_000_000n + BigInt(cents.padEnd(6, "0")))
}

export const dollars = (name: string, says: string) =>
  text(name, says, "dollars").pipe(
    Flag.filterMap(atomicOf, () => "an amount in dollars, such as 0.05"),
    Flag.optional,
  )

/** The default altar: the sandbox that runs in this folder, if any. */
const urlHere = Effect.map(processesHere, Option.match({ onNone: () => defaultUrl, onSome: (sandbox) => sandbox.url }))

const url = text(
  "url",
  `Public URL of the altar (${buyer.url.name}; else the sandbox that runs in this folder, else ${defaultUrl})`,
).pipe(
  Flag.withFallbackConfig(Config.String(buyer.url.name)),
  Flag.optional,
  Flag.mapEffect(Option.match({ onNone: () => urlHere, onSome: Effect.succeed })),
)

const data = text(
  "data",
  "Folder for salts, words, keys and receipts (buyer in DATA_DIR in a checkout, the state folder of your account outside)",
  "directory",
).pipe(Flag.optional)

export const common = {
  url,
  data,
  insecure: on("insecure", "Allow plain http to another machine; anyone in between can read and change everything"),
}

export const paying = {
  ...common,
  key: optionalText(
    "key",
    "Idempotency key, 12 to 128 characters: repeat it to repeat this purchase without paying twice",
  ),
  wallet: optionalText(
    "wallet",
    `File with the private key that pays (else ${buyer.privateKey.name}; a sandbox funds its own)`,
    "file",
  ),
  max: dollars("max", "Maximum for one payment; a payment never exceeds the listed price"),
  maxPerDay: dollars(
    "max-per-day",
    `Maximum to sign for in a UTC day with this journal (${plainDollars(defaultMaxPerDay)})`,
  ),
  payTo: optionalText(
    "pay-to",
    "The only address to pay (else the one that this altar was paid at before, or names on first use)",
    "address",
  ),
}

export const agentName = optionalText("name", "Your public name")

export const salt = optionalText(
  "salt",
  `${sealBounds.salt.join(" to ")} characters, for these words alone, because a reveal publishes it; random when absent`,
)

export const provided = <A extends object>(members: { readonly [Name in keyof A]: Option.Option<A[Name]> }) => {
  const given: { [Name in keyof A]?: A[Name] } = {}
  for (const name in members) {
    const value = members[name]
    if (Option.isSome(value)) given[name] = value.value
  }
  return given
}
