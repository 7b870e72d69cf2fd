/** The flags that several commands share, each described once; what a variable may give instead is said beside it. */
import { Config, Option } from "effect"
import { Flag } from "effect/cli"

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

const url = Flag.String("url").pipe(
  Flag.withDescription("Public URL of the altar (SPIRIT_ALTAR_URL; else http://127.0.0.1:3000)"),
  Flag.withFallbackConfig(Config.String("SPIRIT_ALTAR_URL")),
  Flag.withDefault("http://127.0.0.1:3000"),
)

const data = Flag.String("data").pipe(
  Flag.withMetavar("directory"),
  Flag.withDescription(
    "Where salts, words, keys and receipts are kept (SPIRIT_ALTAR_DATA; else .data/buyer in a checkout, the state folder of your account outside)",
  ),
  Flag.withFallbackConfig(Config.String("SPIRIT_ALTAR_DATA")),
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
      "File with the private key that pays (else SPIRIT_ALTAR_PRIVATE_KEY; a sandbox funds its own)",
    ),
    Flag.optional,
  ),
  max: dollars("max", "Pay no more than this at once; never more than the listed price in any case"),
  maxPerDay: dollars("max-per-day", "Sign for no more than this in a UTC day with this journal (10.00)"),
  payTo: Flag.String("pay-to").pipe(
    Flag.withMetavar("address"),
    Flag.withDescription("The only address to pay (else the one this altar was paid at before, or names on first use)"),
    Flag.optional,
  ),
}

export const agentName = Flag.String("name").pipe(Flag.withDescription("Your public name"), Flag.optional)

export const salt = Flag.String("salt").pipe(
  Flag.withDescription("16 to 256 characters; made at random when absent"),
  Flag.optional,
)

export const reason = Flag.String("reason").pipe(
  Flag.withDescription("Why, in public, 1 to 280 characters"),
  Flag.optional,
)
