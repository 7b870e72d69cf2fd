/** The keys of signed receipts, out of the environment. */
import { Config, Option, Result } from "effect"
import { plainFrom } from "../../log/Signer.ts"
import type { ReceiptKeysConfig } from "../../payments/receipts/ReceiptKeys.ts"
import { refused } from "./Kinds.ts"
import * as Table from "./Table.ts"

/** A key's name is the fragment of a DID URL. */
const isName = (name: string) => /^[A-Za-z0-9._-]{1,64}$/u.test(name)

export const receipts: Config.Config<ReceiptKeysConfig | undefined> = Config.flatMap(
  Config.all(Table.receipts),
  ({ key, retired }) => {
    if (Option.isNone(key)) return Config.succeed(undefined)
    const current = plainFrom(key.value)
    if (Result.isFailure(current)) return refused(`RECEIPT_KEY is wrong: ${current.failure.message}`)
    const names = [current.success, ...retired].map(({ name }) => name)
    if (!names.every(isName)) {
      return refused("RECEIPT_KEY is wrong: the name of a key has 1 to 64 of A-Z a-z 0-9 . _ -")
    }
    if (new Set(names).size < names.length) {
      return refused("RECEIPT_KEYS_RETIRED is wrong: expected other names than that of RECEIPT_KEY, each once.")
    }
    return Config.succeed({ current: current.success, retired })
  },
)
