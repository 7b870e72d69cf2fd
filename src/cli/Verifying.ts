/** An independent check of a whole witness chain; loaded when it is asked for. */
import { Console, Effect, Option, Schema } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { type ChainPoint, genesis, headFault, linkFault } from "../../schema/altar/ChainCheck.ts"
import { segmentMaximum } from "../../schema/Common.ts"
import { usdcOn } from "../../schema/payments/Usdc.ts"
import { checkLinks } from "../buyer/core/Chain.ts"
import { textOf } from "../platform/Answers.ts"
import { isLoopback } from "../platform/http/Origins.ts"
import { Broken } from "./Broken.ts"
import * as Download from "./Download.ts"
import { onlyLogOf, policyIn } from "./LogPolicy.ts"
import { plain } from "./Output.ts"
import * as ProgressBar from "./ProgressBar.ts"
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
const ChainId = Schema.Struct({ result: Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{1,12}$/iu)) })
const Mined = Schema.Struct({
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

const ask = <A>(
  rpcUrl: string,
  schema: Schema.Decoder<{ readonly result: A }>,
  method: string,
  params: Array<string>,
) =>
  HttpClientRequest.post(rpcUrl).pipe(
    HttpClientRequest.setBody(
      HttpBody.text(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), "application/json"),
    ),
    HttpClient.execute,
    Effect.flatMap(textOf),
    Effect.timeout("20 seconds"),
    Effect.mapError(() => new Trouble({ message: `${rpcUrl} does not answer` })),
    Effect.flatMap((body) =>
      Effect.mapError(
        Schema.decodeEffect(Schema.fromJsonString(schema))(body),
        () => new Trouble({ message: `${rpcUrl} is not an EVM node` }),
      ),
    ),
    Effect.map(({ result }) => result),
  )

/** Where payments are looked up, and the token they are made in: known here, whatever the altar says. */
interface Ledger {
  readonly rpcUrl: string
  readonly asset: string
}

const ledgerAt = Effect.fnUntraced(function* (rpcUrl: string) {
  const network = `eip155:${BigInt(yield* ask(rpcUrl, ChainId, "eth_chainId", []))}`
  const asset = usdcOn(network)
  return asset === undefined
    ? yield* new Trouble({ message: `${rpcUrl} is a node of ${network}, where no altar is paid: name another --rpc.` })
    : ({ rpcUrl, asset } satisfies Ledger)
})

/** Whom a stone was paid to, as its receipt says, and what is wrong with that payment. */
const paymentOf = Effect.fnUntraced(function* (base: string, { asset, rpcUrl }: Ledger, entry: Entry) {
  const { receipt } = yield* Download.json(`${base}/api/witness/${entry.id}`, Answer)
  const { payTo } = receipt
  // One transaction may pay for many stones, but one transfer pays for one.
  const name = [entry.transaction, entry.payer, payTo, receipt.amountAtomic].join(" ").toLowerCase()
  const wrong = (why: string) => ({ payTo, name, transfers: 0, wrong: why })
  if (receipt.asset.toLowerCase() !== asset.toLowerCase()) {
    return wrong(`its receipt names the token ${receipt.asset}, and USDC is ${asset} there`)
  }
  const mined = yield* ask(rpcUrl, Mined, "eth_getTransactionReceipt", [entry.transaction])
  if (mined === null) return wrong(`its transaction ${entry.transaction} is not on the chain`)
  if (mined.status !== "0x1") return wrong(`its transaction ${entry.transaction} was reverted`)
  const transfers = mined.logs.filter(
    (log) =>
      log.address.toLowerCase() === asset.toLowerCase() &&
      log.topics[0] === transferTopic &&
      log.topics[1] === asTopic(entry.payer) &&
      log.topics[2] === asTopic(payTo) &&
      BigInt(log.data) === BigInt(receipt.amountAtomic),
  )
  return { payTo, name, transfers: transfers.length, wrong: undefined }
})

const broken = (sequence: number, why: string) => new Broken({ message: plain(`BROKEN at stone ${sequence}: ${why}`) })

/** Payments asked for at once. */
const paymentsAtOnce = 8

/** Checks all links, and with an RPC all payments, which went to `payees` or else to one; fails naming the first broken link. */
export const verifyChain = Effect.fn("verifyChain")(function* (
  base: string,
  rpcUrl: Option.Option<string>,
  payees: ReadonlyArray<string> = [],
) {
  const ledger = Option.isSome(rpcUrl) ? yield* ledgerAt(rpcUrl.value) : undefined
  let paidTo = payees.map((one) => one.toLowerCase())
  const progress = ProgressBar.make("links hold")
  let last: ChainPoint = genesis
  let next: number | null = 1
  const spent = new Map<string, number>()
  while (next !== null) {
    const asked: number = next
    const segment: typeof Segment.Type = yield* Download.json(
      `${base}/api/witness/chain?from=${asked}&limit=${segmentMaximum}`,
      Segment,
    )
    const from: ChainPoint = last
    const checks = yield* Effect.promise(() => checkLinks(segment.entries, from))
    const held = checks.findIndex((check) => linkFault(check) !== undefined)
    const whole = held === -1 ? checks : checks.slice(0, held)
    if (ledger !== undefined) {
      const payments = yield* Effect.forEach(
        whole,
        ({ link }) => Effect.map(paymentOf(base, ledger, link), (payment) => ({ ...payment, link })),
        { concurrency: paymentsAtOnce },
      )
      for (const { link, name, payTo, transfers, wrong } of payments) {
        if (wrong !== undefined) return yield* broken(link.sequence, wrong)
        const before = spent.get(name) ?? 0
        spent.set(name, before + 1)
        if (transfers <= before) {
          return yield* broken(link.sequence, `its transaction ${link.transaction} does not hold the payment`)
        }
        if (paidTo.length === 0) paidTo = [payTo.toLowerCase()]
        if (!paidTo.includes(payTo.toLowerCase())) {
          return yield* broken(
            link.sequence,
            `it was paid to ${payTo}, not to ${paidTo.join(" or ")}. If the altar has changed its address, name each with --pay-to.`,
          )
        }
      }
    }
    const check = checks[held]
    const fault = check === undefined ? undefined : linkFault(check)
    if (check !== undefined && fault !== undefined) return yield* broken(check.link.sequence, fault.summary)
    last = segment.entries.at(-1) ?? last
    next = segment.next
    // What is over at once needs no bar.
    if (asked > 1 || next !== null) yield* progress(last.sequence, segment.head.sequence)
    const missing = next === null ? headFault(segment.head, last) : undefined
    if (missing !== undefined) return yield* broken(missing.sequence, missing.summary)
    if (next !== null && (next <= asked || next !== last.sequence + 1)) {
      return yield* broken(
        last.sequence + 1,
        `asked for the links from ${asked} on, the server showed those to ${last.sequence} and says that the next are those from ${next}: so its chain would never end.`,
      )
    }
  }
  return { stones: last.sequence, chainHash: last.chainHash, payTo: ledger === undefined ? [] : paidTo }
})

export interface VerifyFlags {
  readonly url: string
  readonly rpc: Option.Option<string>
  /** Addresses that payments went to; one, whichever it is, when there are none. */
  readonly payTo: ReadonlyArray<string>
  readonly log: boolean
  readonly vkey: Option.Option<string>
  readonly policy: Option.Option<string>
  readonly seen: Option.Option<string>
  readonly json: boolean
}

/** The node of a sandbox on this machine: what is elsewhere does not choose whom its check believes. */
const ownNode = Effect.fnUntraced(function* (base: string) {
  const isHere = (url: string) => URL.canParse(url) && isLoopback(url)
  if (!isHere(base)) return Option.none<string>()
  const told = yield* Effect.option(Download.json(`${base}/sandbox`, Sandbox))
  return Option.filter(
    Option.map(told, ({ rpcUrl }) => rpcUrl),
    isHere,
  )
})

const check = Effect.fnUntraced(function* (flags: VerifyFlags) {
  const { log: isLogAsked, payTo, policy: policyFile, rpc, seen, url, vkey } = flags
  const base = url.replace(/\/+$/u, "")
  const policy = Option.isSome(policyFile) ? Option.some(yield* policyIn(policyFile.value)) : Option.none()
  const rpcUrl = Option.isSome(rpc) ? rpc : yield* ownNode(base)
  if (payTo.length > 0 && Option.isNone(rpcUrl)) {
    return yield* new Trouble({ message: "--pay-to says where payments went: name the network's RPC with --rpc." })
  }
  const chain = yield* verifyChain(base, rpcUrl, payTo)
  const known = Option.orElse(vkey, () => Option.flatMap(policy, onlyLogOf))
  const log = isLogAsked
    ? yield* (yield* Effect.promise(() => import("./LogVerifying.ts"))).verifyLog({ base, vkey: known, policy, seen })
    : undefined
  return { ok: true, ...chain, payments: Option.isSome(rpcUrl) ? "checked" : "unchecked", log } as const
})

/** Checks the chain at `url` and says what holds; payments are looked up at `rpc`, or where a sandbox on this machine says. */
export const verifying = Effect.fn("verifying")(function* (flags: VerifyFlags) {
  const { chainHash, log, payTo, payments, stones, ...rest } = yield* check(flags).pipe(
    Effect.tapError((error) =>
      flags.json
        ? Console.log(JSON.stringify({ ok: false, code: error._tag.toLowerCase(), message: error.message }))
        : Effect.void,
    ),
  )
  if (flags.json)
    return yield* Console.log(JSON.stringify({ ...rest, stones, chainHash, payments, payTo, log: log ?? null }))
  yield* Console.log(
    payments === "checked"
      ? `${stones} stones: every link hashes, every payment is on the chain.`
      : `${stones} stones: every link hashes. NO payment was looked up: name the network's RPC with --rpc.`,
  )
  if (payTo.length > 0) yield* Console.log(plain(`paid to ${payTo.join(", ")}`))
  yield* Console.log(`head ${chainHash}`)
  if (log === undefined) return
  const { sentencesOf } = yield* Effect.promise(() => import("./LogVerifying.ts"))
  for (const sentence of sentencesOf(log)) yield* Console.log(plain(sentence))
}, Effect.provide(Download.client))
