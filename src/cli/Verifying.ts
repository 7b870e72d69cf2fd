/** An independent check of a whole witness chain; loaded when it is asked for. */
import { Console, Effect, Option, Schema } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { type ChainPoint, genesis, headFault, linkFault } from "../../schema/altar/ChainCheck.ts"
import { segmentMaximum } from "../../schema/Common.ts"
import { checkLinks } from "../buyer/core/Chain.ts"
import { Trouble } from "./Trouble.ts"

const Entry = Schema.Struct({
  sequence: Schema.Int,
  id: Schema.String,
  commitment: Schema.String,
  witnessedAt: Schema.String,
  transaction: Schema.String,
  payer: Schema.String,
  previousHash: Schema.String,
  chainHash: Schema.String,
})
type Entry = typeof Entry.Type

const Segment = Schema.Struct({
  entries: Schema.Array(Entry),
  head: Schema.Struct({ sequence: Schema.Int, chainHash: Schema.String }),
  next: Schema.NullOr(Schema.Int),
})

const Answer = Schema.Struct({
  receipt: Schema.Struct({ asset: Schema.String, payTo: Schema.String, amountAtomic: Schema.String }),
})
const Sandbox = Schema.Struct({ rpcUrl: Schema.String })
const Rpc = Schema.Struct({
  result: Schema.NullOr(
    Schema.Struct({
      status: Schema.String,
      logs: Schema.Array(
        Schema.Struct({ address: Schema.String, topics: Schema.Array(Schema.String), data: Schema.String }),
      ),
    }),
  ),
})

const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

const asTopic = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`

const getJson = <A>(address: string, schema: Schema.Decoder<A>) =>
  HttpClient.get(address).pipe(
    Effect.flatMap((response) =>
      Effect.flatMap(response.json, (json) => Schema.decodeEffect(schema)(response.status === 200 ? json : null)),
    ),
    Effect.mapError((error) => new Trouble({ message: `${address} could not be read: ${error.message}` })),
  )

const receiptOf = (rpcUrl: string, hash: string) =>
  Effect.tryPromise({
    try: () =>
      fetch(rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [hash] }),
        redirect: "error",
        signal: AbortSignal.timeout(20_000),
      }).then((response) => response.json()),
    catch: () => new Trouble({ message: `${rpcUrl} does not answer` }),
  }).pipe(
    Effect.flatMap((json) =>
      Effect.mapError(
        Schema.decodeUnknownEffect(Rpc)(json),
        () => new Trouble({ message: `${rpcUrl} is not an EVM node` }),
      ),
    ),
    Effect.map(({ result }) => result),
  )

const wrongPayment = Effect.fnUntraced(function* (
  base: string,
  rpcUrl: string,
  entry: Entry,
  spent: Map<string, number>,
) {
  const { receipt } = yield* getJson(`${base}/api/witness/${entry.id}`, Answer)
  const mined = yield* receiptOf(rpcUrl, entry.transaction)
  if (mined === null) return `its transaction ${entry.transaction} is not on the chain`
  if (mined.status !== "0x1") return `its transaction ${entry.transaction} was reverted`
  const transfers = mined.logs.filter(
    (log) =>
      log.address.toLowerCase() === receipt.asset.toLowerCase() &&
      log.topics[0] === transferTopic &&
      log.topics[1] === asTopic(entry.payer) &&
      log.topics[2] === asTopic(receipt.payTo) &&
      BigInt(log.data) === BigInt(receipt.amountAtomic),
  )
  // One transaction may pay for many stones, but one transfer pays for one.
  const name = [entry.transaction, entry.payer, receipt.payTo, receipt.amountAtomic].join(" ").toLowerCase()
  const before = spent.get(name) ?? 0
  spent.set(name, before + 1)
  return transfers.length > before ? undefined : `its transaction ${entry.transaction} does not hold the payment`
})

const broken = (sequence: number, why: string) => new Trouble({ message: `BROKEN at stone ${sequence}: ${why}` })

/** Checks all links, and with an RPC all payments; fails naming the first broken link. */
export const verifyChain = Effect.fn("verifyChain")(function* (base: string, rpcUrl: Option.Option<string>) {
  let last: ChainPoint = genesis
  let next: number | null = 1
  const spent = new Map<string, number>()
  while (next !== null) {
    const segment: typeof Segment.Type = yield* getJson(
      `${base}/api/witness/chain?from=${next}&limit=${segmentMaximum}`,
      Segment,
    )
    const from: ChainPoint = last
    for (const check of yield* Effect.promise(() => checkLinks(segment.entries, from))) {
      const { link } = check
      const why =
        linkFault(check)?.summary ??
        (Option.isSome(rpcUrl) ? yield* wrongPayment(base, rpcUrl.value, link, spent) : undefined)
      if (why !== undefined) return yield* broken(link.sequence, why)
      last = link
    }
    next = segment.next
    if (next !== null) yield* Console.log(`  ${last.sequence} of ${segment.head.sequence} links hold`)
    const fault = next === null ? headFault(segment.head, last) : undefined
    if (fault !== undefined) return yield* broken(fault.sequence, fault.summary)
  }
  return { stones: last.sequence, chainHash: last.chainHash }
})

export interface VerifyFlags {
  readonly url: string
  readonly rpc: Option.Option<string>
  readonly log: boolean
  readonly vkey: Option.Option<string>
  readonly seen: Option.Option<string>
}

/** Checks the chain at `url` and says what holds; payments are looked up at `rpc`, or where a sandbox says. */
export const verifying = Effect.fn("verifying")(function* ({ log, rpc, seen, url, vkey }: VerifyFlags) {
  const base = url.replace(/\/+$/u, "")
  const rpcUrl = Option.isSome(rpc)
    ? rpc
    : yield* getJson(`${base}/sandbox`, Sandbox).pipe(
        Effect.map(({ rpcUrl: own }) => own),
        Effect.option,
      )
  const { chainHash, stones } = yield* verifyChain(base, rpcUrl)
  yield* Console.log(
    Option.isSome(rpcUrl)
      ? `${stones} stones: every link hashes, every payment is on the chain.`
      : `${stones} stones: every link hashes. Payments were not checked: name the network's RPC with --rpc.`,
  )
  yield* Console.log(`head ${chainHash}`)
  if (!log) return
  yield* (yield* Effect.promise(() => import("./LogVerifying.ts"))).verifyLog({ base, vkey, seen })
}, Effect.provide(FetchHttpClient.layer))
