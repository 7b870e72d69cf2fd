/** The operator who refunds: payments that bought nothing, the command line, and what chain and public say afterwards. */
import { join } from "node:path"
import { writeFileSync } from "node:fs"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Hex, parseAbiItem } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { payToKey } from "../Chain.ts"
import { until } from "../Eventually.ts"
import { ask, newCommitment, newKey, newPayer, TestServer } from "../Fixture.ts"
import { direct } from "../server/Environment.ts"
import { type Terminal, terminal } from "../Terminal.ts"
import { patience } from "../Patience.ts"
import { challengeOf, encode, sign } from "./Payment.ts"
import * as Purchase from "./Purchase.ts"
import { broadcast } from "./ThirdParty.ts"

export const payTo = privateKeyToAccount(payToKey)

export const why = ["--why", "bought nothing", "--by", "Ada"]

/** A signed stone whose authorization ends so many milliseconds from now. */
export const signedFor = Effect.fnUntraced(function* (url: string, millis: number) {
  const payer = yield* newPayer(10n * Purchase.price)
  const challenge = challengeOf(yield* ask(`${url}/api/witness`, { method: "POST" }))
  const validBefore = String(Math.floor((Date.now() + millis) / 1000))
  const payment = yield* sign(payer, challenge.accepts[0], challenge.resource, { validBefore })
  const key = newKey()
  const purchase: Purchase.Purchase = {
    key,
    body: { commitment: newCommitment() },
    headers: { "idempotency-key": key, "payment-signature": encode(payment) },
    payer,
    nonce: payment.payload.authorization.nonce,
    signature: payment.payload.signature,
    validBefore,
  }
  return purchase
})

export const over = ({ validBefore }: Purchase.Purchase) =>
  Effect.suspend(() => Effect.sleep(Math.max(0, Number(validBefore) * 1000 - Date.now() + 1500)))

/** A payment by a third party, which the server learned of after it could buy anything. */
export const unmatched = Effect.gen(function* () {
  const { url } = yield* TestServer
  const purchase = yield* signedFor(url, patience(10))
  const transaction = yield* broadcast(purchase)
  yield* Purchase.mine(3)
  yield* over(purchase)
  const refused = yield* Purchase.send(url, purchase).pipe(
    until("it was never noted", ({ text }) => text.includes("belongs to no purchase")),
  )
  assert.strictEqual(refused.status, 402, refused.text)
  return { ...purchase, transaction }
})

export interface Operator {
  readonly terminal: Terminal
  readonly keyFile: string
  readonly refund: (...args: ReadonlyArray<string>) => ReturnType<Terminal["run"]>
}

/** The command line with the server's settings, away from its host, and the key of the wallet that was paid. */
export const operator = Effect.gen(function* () {
  const made = yield* terminal
  const environment = yield* direct
  const keyFile = join(made.folder, "wallet.key")
  writeFileSync(keyFile, payToKey, { mode: 0o600 })
  return {
    terminal: made,
    keyFile,
    refund: (...args: ReadonlyArray<string>) => made.run(["admin", "refund", ...args], environment),
  } satisfies Operator
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
