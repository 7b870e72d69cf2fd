/** The flags that several commands share, each described once; what a variable may give instead is said beside it. */
import { Config, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { reasonMaximum } from "../../schema/altar/Keeper.ts"
import { dollars as plainDollars } from "../../schema/payments/Sale.ts"
import { sealBounds } from "../buyer/core/Commitment.ts"
import { defaultMaxPerDay } from "../buyer/Policy.ts"
import { buyer } from "../server/config/Table.ts"
import { defaultUrl } from "./Environment.ts"

/** Atomic USDC of dollars as people write them, `0.01` or `$0.01`. */
const atomicOf = (dollars: string) => {
  const [, whole, cents = ""] = /^\$?(\d{1,9})(?:\.(\d{1,6}))?$/u.exec(dollars.trim()) ?? []
  return whole === undefined ? Option.none() : Option.some(BigInt(whole) * 1_000_000n + BigInt(cents.padEnd(6, "0")))
}

const dollars = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("dollars"),
    Flag.withDescription(description),
    Flag.filterMap(atomicOf, (given) => `${given} is no amount in dollars; write 0.05`),
    Flag.optional,
  )

/** Where nobody names an altar, the sandbox that runs in this folder is meant. */
const found = Effect.gen(function* () {
  const { livingHere } = yield* Effect.promise(() => import("../sandbox/DataFolder.ts"))
  return Option.match(yield* livingHere, { onNone: () => defaultUrl, onSome: (sandbox) => sandbox.url })
})

const url = Flag.String("url").pipe(
  Flag.withDescription(
    `Public URL of the altar (${buyer.url.name}; else the sandbox that runs in this folder, else ${defaultUrl})`,
  ),
  Flag.withFallbackConfig(Config.String(buyer.url.name)),
  Flag.optional,
  Flag.mapEffect(Option.match({ onNone: () => found, onSome: Effect.succeed })),
)

const data = Flag.String("data").pipe(
  Flag.withMetavar("directory"),
  Flag.withDescription(
    `Where salts, words, keys and receipts are kept (${buyer.data.name}; else .data/buyer in a checkout, the state folder of your account outside)`,
  ),
  Flag.withFallbackConfig(Config.String(buyer.data.name)),
  Flag.optional,
)

const json = Flag.Boolean("json").pipe(
  Flag.withDescription("One JSON document on stdout; everything else goes to stderr"),
  Flag.withDefault(false),
)

const insecure = Flag.Boolean("insecure").pipe(
  Flag.withDescription("Allow plain http to another machine, where anybody on the way can read and change everything"),
  Flag.withDefault(false),
)

export const common = { url, data, json, insecure }

export const paying = {
  ...common,
  key: Flag.String("key").pipe(
    Flag.withDescription(
      "Idempotency key, 12 to 128 characters: repeat it to repeat this purchase without paying twice",
    ),
    Flag.optional,
  ),
  wallet: Flag.String("wallet").pipe(
    Flag.withMetavar("file"),
    Flag.withDescription(
      `File with the private key that pays (else ${buyer.privateKey.name}; a sandbox funds its own)`,
    ),
    Flag.optional,
  ),
  max: dollars("max", "Pay no more than this at once; never more than the listed price in any case"),
  maxPerDay: dollars(
    "max-per-day",
    `Sign for no more than this in a UTC day with this journal (${plainDollars(defaultMaxPerDay)})`,
  ),
  payTo: Flag.String("pay-to").pipe(
    Flag.withMetavar("address"),
    Flag.withDescription("The only address to pay (else the one this altar was paid at before, or names on first use)"),
    Flag.optional,
  ),
}

export const agentName = Flag.String("name").pipe(Flag.withDescription("Your public name"), Flag.optional)

export const salt = Flag.String("salt").pipe(
  Flag.withDescription(
    `${sealBounds.salt.join(" to ")} characters, for these words alone, since a reveal publishes it; made at random when absent`,
  ),
  Flag.optional,
)

export const reason = Flag.String("reason").pipe(
  Flag.withDescription(`Why, in public, 1 to ${reasonMaximum} characters`),
  Flag.optional,
)

/** The members that were given. */
export const provided = <Name extends string, A>(members: Readonly<Record<Name, Option.Option<A>>>) => {
  const given: { [_ in Name]?: A } = {}
  for (const name in members) {
    const value = members[name]
    if (Option.isSome(value)) given[name] = value.value
  }
  return given
}
