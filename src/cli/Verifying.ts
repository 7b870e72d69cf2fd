/** An independent check of a whole witness chain; loaded when it is asked for. */
import { Console, Effect, Option, Schema } from "effect"
import { type ChainPoint, genesis, headFault, linkFault } from "../../schema/altar/ChainCheck.ts"
import { segmentMaximum, TransactionHash } from "../../schema/Common.ts"
import { checkLinks } from "../buyer/core/Chain.ts"
import { isLoopback } from "../platform/http/Origins.ts"
import * as Download from "./Download.ts"
import { onlyLogOf, policyIn } from "./LogPolicy.ts"
import { plain } from "./Output.ts"
import * as ProgressBar from "./ProgressBar.ts"
import { Trouble } from "./Trouble.ts"
import * as Payments from "./VerifyingPayments.ts"
import { broken } from "./VerifyingPayments.ts"
import { type RevealedStone, verifyReveals } from "./VerifyingReveals.ts"

const Entry = Schema.Struct({
  sequence: Schema.Int,
  id: Schema.String,
  commitment: Schema.String,
  witnessedAt: Schema.String,
  transaction: TransactionHash,
  payer: Schema.String,
  previousHash: Schema.String,
  chainHash: Schema.String,
})

const Segment = Schema.Struct({
  entries: Schema.Array(Entry),
  head: Schema.Struct({ sequence: Schema.Int, chainHash: Schema.String }),
  next: Schema.NullOr(Schema.Int),
})

const Sandbox = Schema.Struct({ rpcUrl: Schema.String })

/** The chain is whole, and these stones in it are not paid for: the altar says so itself. */
class Lost extends Schema.TaggedError<Lost>()("Lost", { message: Schema.String }) {}

/** Named in one sentence; the rest is in the document of `--json`. */
const namedMost = 10

const lostOf = (stones: ReadonlyArray<number>) => {
  const named = stones.slice(0, namedMost).join(", ")
  const more = stones.length > namedMost ? ` and ${stones.length - namedMost} more` : ""
  return new Lost({
    message: `NOT PAID: the altar itself declares the payments of ${stones.length} stones lost in a reorganisation of the chain: ${named}${more}. Everything else holds.`,
  })
}

/** Of the stones that show a reveal, by their ids, those that the chain has not yet confirmed. */
type Revealed = ReadonlyMap<string, RevealedStone>

/** Finds stones of the chain that are revealed with another commitment than they hold, or that are not in it. */
const confirming = (revealed: Revealed) => {
  const left = new Map(revealed)
  const link = Effect.fnUntraced(function* ({ commitment, id, sequence }: typeof Entry.Type) {
    const shown = left.get(id)
    left.delete(id)
    if (shown !== undefined && (shown.commitment !== commitment || shown.sequence !== sequence)) {
      return yield* broken(
        sequence,
        `its revealed words are shown with the commitment ${shown.commitment}, which is not its own.`,
      )
    }
  })
  const end = Effect.suspend(() => {
    const [stone] = left.values()
    return stone === undefined
      ? Effect.void
      : broken(stone.sequence, "its words are revealed, but it is not in the chain.")
  })
  return { link, end }
}

/**
 * Checks all links, and with an RPC all payments, which went to `payees` or else to one; fails naming the first broken
 * link. `marked` is a stone there has to be, whose hash is told: a log covers those up to it. `revealed` are stones whose
 * reveals were checked against commitments that the chain has to hold.
 */
export const verifyChain = Effect.fn("verifyChain")(function* (
  base: string,
  rpcUrl: Option.Option<string>,
  payees: ReadonlyArray<string> = [],
  marked = 0,
  revealed: Revealed = new Map(),
) {
  const reveals = confirming(revealed)
  const payments = Option.isSome(rpcUrl) ? yield* Payments.make(base, rpcUrl.value, payees) : undefined
  const progress = ProgressBar.make("links hold")
  let last: ChainPoint = genesis
  let mark: ChainPoint = genesis
  let next: number | null = 1
  while (next !== null) {
    const asked: number = next
    const segment: typeof Segment.Type = yield* Download.json(
      `${base}/api/witness/chain?from=${asked}&limit=${segmentMaximum}`,
      Segment,
    )
    const from: ChainPoint = last
    const checks = yield* Effect.promise(() => checkLinks(segment.entries, from))
    const held = checks.findIndex((check) => linkFault(check) !== undefined)
    const whole = (held === -1 ? checks : checks.slice(0, held)).map(({ link }) => link)
    if (payments !== undefined) yield* payments.check(whole)
    const check = checks[held]
    const fault = check === undefined ? undefined : linkFault(check)
    if (check !== undefined && fault !== undefined) return yield* broken(check.link.sequence, fault.summary)
    yield* Effect.forEach(whole, reveals.link, { discard: true })
    mark = whole.find(({ sequence }) => sequence === marked) ?? mark
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
  if (last.sequence < marked) {
    return yield* broken(
      last.sequence + 1,
      `the chain ends before it, and the log has signed a checkpoint of ${marked} stones. If a cache on the way is old, check again later.`,
    )
  }
  yield* reveals.end
  const found = payments === undefined ? { payTo: [], lost: [] } : yield* payments.found
  return { stones: last.sequence, chainHash: last.chainHash, markedHash: mark.chainHash, ...found }
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
  const known = Option.orElse(vkey, () => Option.flatMap(policy, onlyLogOf))
  const log = isLogAsked ? yield* Effect.promise(() => import("./LogVerifying.ts")) : undefined
  // Opened before the chain is walked, which then has all stones that it covers: what is compared is this very walk.
  const opened = yield* log === undefined ? Effect.void : log.openLog({ base, vkey: known, policy, seen })
  // Listed before the chain is walked, which then has all stones that are revealed.
  const { stones: revealed, ...reveals } = yield* verifyReveals(base)
  const { markedHash, ...chain } = yield* verifyChain(base, rpcUrl, payTo, opened?.checkpoint.size, revealed)
  const verdict =
    log === undefined || opened === undefined
      ? undefined
      : yield* log.verifyLog(opened, { stones: chain.stones, markedHash })
  return { ...chain, reveals, payments: Option.isSome(rpcUrl) ? "checked" : "unchecked", log: verdict } as const
})

const inJson = (document: object) => Console.log(JSON.stringify(document))

const inWords = Effect.fnUntraced(function* ({
  chainHash,
  log,
  lost,
  payTo,
  payments,
  reveals: { checked, hidden },
  stones,
}: Effect.Success<ReturnType<typeof check>>) {
  const paid =
    lost.length === 0 ? "every payment is on the chain." : `${stones - lost.length} payments are on the chain.`
  yield* Console.log(
    `${stones} stones: every link hashes${payments === "checked" ? `, ${paid}` : ". NO payment was looked up: name the network's RPC with --rpc."}`,
  )
  yield* Console.log(
    `${checked} reveals: all words that are shown hash to what was sealed.${hidden === 0 ? "" : ` ${hidden} more are hidden, so nobody can check them.`}`,
  )
  if (payTo.length > 0) yield* Console.log(plain(`paid to ${payTo.join(", ")}`))
  yield* Console.log(`head ${chainHash}`)
  if (log === undefined) return
  const { sentencesOf } = yield* Effect.promise(() => import("./LogVerifying.ts"))
  for (const sentence of sentencesOf(log)) yield* Console.log(plain(sentence))
})

/** Checks the chain at `url` and says what holds; payments are looked up at `rpc`, or where a sandbox on this machine says. */
export const verifying = Effect.fn("verifying")(
  function* (flags: VerifyFlags) {
    const found = yield* check(flags).pipe(
      Effect.tapError(({ _tag, message }) =>
        flags.json ? inJson({ ok: false, code: _tag.toLowerCase(), message }) : Effect.void,
      ),
    )
    const isPaid = found.lost.length === 0
    const unpaid = lostOf(found.lost)
    const verdict = isPaid ? { ok: true } : { ok: false, code: "lost", message: unpaid.message }
    yield* flags.json ? inJson({ ...verdict, ...found, log: found.log ?? null }) : inWords(found)
    if (!isPaid) return yield* unpaid
  },
  (checked, { url }) => Effect.provide(checked, Download.client(url)),
)
