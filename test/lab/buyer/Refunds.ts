/** The operator who refunds: payments that bought nothing, the command line, and what chain and public say afterwards. */
import { join } from "node:path"
import { writeFileSync } from "node:fs"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Hex, parseAbiItem } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { network, payToKey } from "../Chain.ts"
import { commandRun } from "../CommandRun.ts"
import { until } from "../Eventually.ts"
import { ask, TestServer } from "../Fixture.ts"
import { newFolder } from "../Folders.ts"
import { direct } from "../server/Environment.ts"
import * as Purchase from "./Purchase.ts"
import { broadcast, type Signed } from "./ThirdParty.ts"

export const payTo = privateKeyToAccount(payToKey)

export const why = ["--why", "bought nothing", "--by", "Ada"]

/** Records a payment as a server does that learns of it after its authorization could buy anything. */
export const record = Effect.fnUntraced(function* (
  { nonce, payer }: Pick<Signed, "nonce" | "payer">,
  transaction: Hex,
) {
  const sql = yield* SqlClient.SqlClient
  const { asset, payTo: paid } = yield* LocalChain
  yield* Effect.orDie(sql`
    INSERT INTO payment_strays (name, network, asset, pay_to, payer, nonce, amount_atomic, valid_before, transaction, found_at)
    VALUES (lower(${`authorization:${network}:${asset}:${payer.address}:${nonce}`}), ${network}, ${asset}, ${paid},
      lower(${payer.address}), ${nonce}, 10000, extract(epoch FROM now())::bigint - 1, ${transaction}, now())`)
})

/** A payment by a third party, which the server learned of after it could buy anything. */
export const unmatched = Effect.gen(function* () {
  const { url } = yield* TestServer
  const purchase = yield* Purchase.prepare(url)
  const transaction = yield* broadcast(purchase)
  yield* Purchase.mine(3)
  yield* record(purchase, transaction)
  return { ...purchase, transaction }
})

/** The command line with the server's settings, in this process, and the key of the wallet that was paid. */
export const operator = Effect.gen(function* () {
  const environment = yield* direct
  const folder = newFolder()
  const keyFile = join(folder, "wallet.key")
  writeFileSync(keyFile, payToKey, { mode: 0o600 })
  const refund = (...args: ReadonlyArray<string>) => commandRun(["admin", "refund", ...args], environment)
  /** A refund of a payment that is recorded. */
  const repay = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
    const done = yield* refund(...flags, "--key-file", keyFile, ...why)
    assert.strictEqual(done.code, 0, done.stderr)
    return done.stdout
  })
  return { folder, keyFile, refund, repay }
})

const moved = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)")

/** The amounts that came back from the wallet that was paid. */
export const returned = (to: Hex) =>
  Effect.flatMap(LocalChain, ({ payTo: from }) =>
    Purchase.onChain(async (client, { asset }) => {
      const logs = await client.getLogs({ address: asset, fromBlock: 0n, event: moved, args: { from, to } })
      return logs.map(({ args }) => args.value)
    }),
  )

/** The public refunds of a transaction. */
export const refundsOf = (url: string, transaction: string) =>
  Effect.map(ask(`${url}/api/refunds/${transaction}`), ({ text }) => JSON.parse(text).refunds)

export const becomes = (transaction: string, state: string, finality?: string) =>
  Effect.gen(function* () {
    const { url } = yield* TestServer
    const [refund] = yield* refundsOf(url, transaction).pipe(
      until(
        `the refund never became ${state} ${finality ?? ""}`,
        ([one]) => one?.state === state && (finality === undefined || one.finality === finality),
      ),
    )
    return refund
  })
