/** The operator who pays back: payments that bought nothing, transfers from any wallet, and the command. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Hex, parseEther } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { network, payToKey, token } from "../Chain.ts"
import { commandRun } from "../CommandRun.ts"
import { newPayer } from "../Fixture.ts"
import * as Purchase from "./Purchase.ts"
import type { Signed } from "./ThirdParty.ts"
import { direct } from "../server/ServerProcess.ts"

export const payTo = privateKeyToAccount(payToKey)

/** Records a payment as a server does that learns of it after its authorization could buy anything. */
export const note = Effect.fnUntraced(function* ({ nonce, payer }: Pick<Signed, "nonce" | "payer">, transaction: Hex) {
  const sql = yield* SqlClient.SqlClient
  const { asset, payTo: paid } = yield* LocalChain
  yield* Effect.orDie(sql`
    INSERT INTO unmatched_payments (name, network, asset, pay_to, payer, nonce, amount_atomic, valid_before, transaction, recorded_at,
      attempt)
    VALUES (lower(${`authorization:${network}:${asset}:${payer.address}:${nonce}`}), ${network}, ${asset}, ${paid},
      lower(${payer.address}), ${nonce}, 10000, extract(epoch FROM now())::bigint - 120, ${transaction}, now(),
      (SELECT id FROM payment_attempts WHERE payment #>> '{authorization,nonce}' = ${nonce} LIMIT 1))`)
})

/** Transfers from a wallet of the operator; answers the transaction. */
export const repay = Effect.fnUntraced(function* (to: Hex, amount = Purchase.price) {
  const account = yield* newPayer(amount)
  return yield* Purchase.onChain(async (client, { asset }) => {
    await client.setBalance({ address: account.address, value: parseEther("1") })
    const call = { address: asset, abi: token, functionName: "transfer", args: [to, amount] } as const
    const hash = await client.writeContract({ ...call, account, chain: null })
    await client.waitForTransactionReceipt({ hash })
    return hash
  })
})

/** `admin refunded` with the server's settings, in this process. */
export const refunded = Effect.fnUntraced(function* (
  what: string,
  transaction: string,
  ...flags: ReadonlyArray<string>
) {
  return yield* commandRun(["admin", "refunded", what, transaction, ...flags], yield* direct)
})

export const attempts = Effect.flatMap(direct, (environment) =>
  commandRun(["admin", "attempts", "--json"], environment),
)
