/** One look at an authorization by the program's own `Evidence`: all its conclusions, as each question may meet either node. */
import { isDeepStrictEqual } from "node:util"
import { Duration, Effect, Option } from "effect"
import * as Evidence from "../../../src/payments/x402/chain/Evidence.ts"
import type { Finding } from "../../../src/payments/decision.ts"
import { type EvidenceNode, isFinalBy } from "../../../src/payments/x402/chain/Rpc.ts"
import { authorization } from "../../lab/TransferLogs.ts"
import { type Adversary, type Ask, blockOf, finalEnd, nodeOf, type View } from "./ModelChain.ts"
import type { Fault, State, World } from "./State.ts"

/** A finding, and whether a node called its block final. */
export interface Look {
  readonly found: Finding<{ readonly transaction: string; readonly block: number }>
  readonly isFinal: boolean
}

const distinct = <A>(all: ReadonlyArray<A>) =>
  all.filter((one, at) => all.findIndex((other) => isDeepStrictEqual(one, other)) === at)

/** Every result of work that is answered, question by question, by any of these views. */
const everyAnswer = <A>(views: ReadonlyArray<View>, work: (ask: Ask) => A): ReadonlyArray<A> => {
  const results: Array<A> = []
  /** Of the questions of a path: which answer was chosen, and whether another is left. */
  const path: Array<{ readonly at: number; readonly isLast: boolean }> = []
  do {
    let asked = 0
    results.push(
      work((question) => {
        // Nodes that agree give one answer.
        const answers = views.length === 1 ? views.map(question) : distinct(views.map(question))
        const at = path[asked]?.at ?? 0
        path[asked] = { at, isLast: at === answers.length - 1 }
        asked += 1
        return answers[at] as (typeof answers)[number]
      }),
    )
    while (path.at(-1)?.isLast === true) path.pop()
    const last = path.pop()
    if (last !== undefined) path.push({ at: last.at + 1, isLast: false })
  } while (path.length > 0)
  return results
}

/** Deliberate faults of the server in how it reads a node's answers. */
const misread: Partial<Record<Fault, (node: EvidenceNode<never>) => Partial<EvidenceNode<never>>>> = {
  "any node makes it final": ({ finalAnd }) => ({
    finalAnd: (number) => Effect.map(finalAnd(number), (told) => ({ ...told, again: told.final })),
  }),
}

const silence: Look = { found: { is: "silence" }, isFinal: false }

/** A look, with the transaction that used the authorization for something else. */
type Seen = Look & { readonly usedBy?: string | undefined }

/** Deliberate faults in what the server concludes of a look. */
const misjudged: Partial<Record<Fault, (seen: Seen) => Look>> = {
  "a used log is a payment": (seen) =>
    seen.usedBy === undefined ? seen : { ...silence, found: { is: "paid", proof: { transaction: "c", block: 1 } } },
  "a transfer of zero is no use": (seen) => (seen.usedBy === "0xz" ? { ...silence, found: { is: "nothing" } } : seen),
}

const makeLooks = ({ adversary, fault }: World) => {
  const known = new Map<string, ReadonlyArray<Seen>>()
  const signed = { ...authorization, validBefore: BigInt(adversary.expiry) }

  let asking: Ask
  const node = nodeOf(adversary, (question) => asking(question))
  const read = { ...node, ...(fault && misread[fault]?.(node)) }
  let now: Pick<State, "table" | "truth">
  const { evidence } = Evidence.make(read, {
    find: ({ to, value }) =>
      Effect.sync(() => {
        const { table, truth } = now
        const block = finalEnd({ ...truth, final: table.read }, adversary)?.block ?? 1
        const amount = table.row === "a" ? 1n : value
        const row = { recipient: to, amount, transaction: `0x${table.row}` as const, isFinal: true }
        return table.row === "" ? Option.none() : Option.some({ ...row, block: blockOf(truth, block) })
      }),
    hasReadPast: ({ validBefore }) => Effect.sync(() => now.table.read >= validBefore),
    recordUnmatched: () => Effect.void,
  })

  const lookAt = (state: State, ask: Ask) => {
    const { transaction } = state.row
    asking = ask
    now = state
    return Effect.runSync(
      Effect.gen(function* () {
        const conclusion = yield* evidence({
          authorization: signed,
          fromBlock: 0n,
          transaction: transaction === "" ? Option.none() : Option.some(`0x${transaction}` as const),
          patience: Duration.zero,
        })
        const found = Evidence.findingOf(conclusion)
        const usedBy = conclusion._tag === "Void" ? conclusion.transaction : undefined
        if (found.is !== "paid") return { found, isFinal: false, usedBy } satisfies Seen
        const { block, transaction: by } = found.proof
        return {
          found: { is: "paid", proof: { transaction: by.slice(2), block: Number(block.number) } },
          isFinal: yield* isFinalBy(read, block),
        } satisfies Seen
      }),
    )
  }

  return (state: State): ReadonlyArray<Seen> => {
    const { lag, row, table, truth } = state
    const key = [truth.blocks, truth.final, lag.blocks, lag.final, table.read, table.row, row.transaction].join()
    const before = known.get(key)
    if (before !== undefined) return before
    const views = isDeepStrictEqual(truth, lag) ? [truth] : [truth, lag]
    const looks = distinct([silence, ...everyAnswer<Seen>(views, (ask) => lookAt(state, ask))])
    known.set(key, looks)
    return looks
  }
}

const sound = new WeakMap<Adversary, ReturnType<typeof makeLooks>>()

/** The looks of a world; each is made once, also for other worlds whose servers read the same chain without a fault. */
export const looksOf = (world: World): ((state: State) => ReadonlyArray<Look>) => {
  const { adversary, fault } = world
  const isMisread = fault !== undefined && fault in misread
  const looks = (isMisread ? undefined : sound.get(adversary)) ?? makeLooks(world)
  if (!isMisread) sound.set(adversary, looks)
  const misjudge = fault && misjudged[fault]
  if (misjudge === undefined) return looks
  const judged = new WeakMap<ReadonlyArray<Seen>, ReadonlyArray<Look>>()
  return (state) => {
    const seen = looks(state)
    const wrong = judged.get(seen) ?? distinct(seen.map(misjudge))
    judged.set(seen, wrong)
    return wrong
  }
}
