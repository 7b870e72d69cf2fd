/** The keys of signed receipts, out of the environment. */
import { Config, Option, Redacted, Result } from "effect"
import { isLoopback } from "../../http/Origins.ts"
import { plainFrom } from "../../log/Signer.ts"
import type { PublishedKey, ReceiptKey, ReceiptKeysConfig } from "../../payments/Receipt.ts"
import { refused } from "./Kinds.ts"
import * as Table from "./Table.ts"

/** A key's name is the fragment of a DID URL. */
const isName = (name: string) => /^[A-Za-z0-9._-]{1,64}$/u.test(name)

/** did:web reads `/.well-known/did.json` of a host, by HTTPS; a server of one machine may use HTTP. */
const isHost = (publicUrl: string) => {
  const { origin, protocol } = new URL(publicUrl)
  return origin === publicUrl && (protocol === "https:" || isLoopback(publicUrl))
}

const areDistinct = (keys: ReadonlyArray<PublishedKey>) =>
  [keys.map(({ name }) => name), keys.map(({ publicKey }) => String(publicKey))].every(
    (all) => new Set(all).size === all.length,
  )

const keyIn = (text: Redacted.Redacted<string>): Config.Config<ReceiptKey> =>
  Result.match(plainFrom(text), {
    onSuccess: (key) =>
      isName(key.name)
        ? Config.succeed<ReceiptKey>(key)
        : refused("RECEIPT_KEY is wrong: expected a key whose name has 1 to 64 of A-Z a-z 0-9 . _ -"),
    onFailure: ({ message }) => refused(`RECEIPT_KEY is wrong: ${message}`),
  })

const checked = ({ current, retired }: ReceiptKeysConfig) => {
  if (!retired.every(({ name }) => isName(name))) {
    return refused("RECEIPT_KEYS_RETIRED is wrong: expected keys whose names have 1 to 64 of A-Z a-z 0-9 . _ -")
  }
  return areDistinct([...(current === undefined ? [] : [current]), ...retired])
    ? Config.succeed({ current, retired })
    : refused("RECEIPT_KEYS_RETIRED is wrong: expected other keys than RECEIPT_KEY under other names, each once.")
}

export const receipts: Config.Config<ReceiptKeysConfig | undefined> = Config.flatMap(
  Config.all({ ...Table.receipts, logKey: Table.log.key, publicUrl: Table.sufficient.publicUrl }),
  ({ key, logKey, publicUrl, retired }): Config.Config<ReceiptKeysConfig | undefined> => {
    if (Option.isNone(key) && retired.length === 0) return Config.succeed(undefined)
    if (Option.isNone(publicUrl) || !isHost(publicUrl.value)) {
      return refused("RECEIPT_KEY needs PUBLIC_URL: an https URL of a host without a path, where did.json is read.")
    }
    if (Option.isNone(key)) return checked({ retired })
    if (Option.isSome(logKey) && Redacted.value(key.value) === Redacted.value(logKey.value)) {
      return refused("RECEIPT_KEY is wrong: expected another key than LOG_KEY, which signs checkpoints alone.")
    }
    return Config.flatMap(keyIn(key.value), (current) => checked({ current, retired }))
  },
)
