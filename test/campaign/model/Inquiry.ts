/** One look at an authorization by the program's own `Evidence`: all its conclusions, as each question may meet either node. */
import { Duration, Effect, Option } from "effect"
import * as Evidence from "../../../src/payments/x402/evidence/Evidence.ts"
import type { Found } from "../../../src/payments/protocol/Decision.ts"
import { authorization } from "../../lab/TransferLogs.ts"
import { nodeOf, type View } from "./Chain.ts"
import type { State, World } from "./State.ts"

/** A finding, and whether a node called its block final. */
export interface Look {
  readonly found: Found<{ readonly transaction: string; readonly block: number }>
  readonly isFinal: boolean
}

/** Every result of work that is answered, question by question, by any of these views. */
const everyAnswer = <A>(views: ReadonlyArray<View>, work: (answering: () => View) => A): ReadonlyArray<A> => {
  const results: Array<A> = []
  const choices: Array<number> = []
  do {
    let asked = 0
    const answering = () => {
      choices[asked] ??= 0
      asked += 1
      return views[choices[asked - 1] ?? 0] as View
    }
    results.push(work(answering))
    while (choices.length > 0 && choices.at(-1) === views.length - 1) choices.pop()
    if (choices.length > 0) choices.push((choices.pop() ?? 0) + 1)
  } while (choices.length > 0)
  return results
}

/** The node with a deliberate fault of the server in what it makes of the answers. */
const faulty = (node: Evidence.Node<never>, { fault }: World): Evidence.Node<never> => ({
  ...node,
  ...(fault === "the newest block is final"
    ? { heads: Effect.map(node.heads, ({ newest }) => ({ newest, final: newest })) }
    : {}),
  ...(fault === "a revert past the end agrees"
    ? { heads: Effect.map(node.heads, (heads) => ({ ...heads, newest: { ...heads.newest, timestamp: 0n } })) }
    : {}),
  ...(fault === "any node makes it final"
    ? {
        finalAnd: (number) => Effect.map(node.finalAnd(number), (told) => ({ ...told, again: told.final })),
      }
    : {}),
})

const silence: Look = { found: { is: "silence" }, isFinal: false }

/** The looks of a world; each is made once. */
export const looksOf = (world: World) => {
  const { adversary, fault } = world
  const known = new Map<string, ReadonlyArray<Look>>()
  const signed = { ...authorization, validBefore: BigInt(adversary.expiry) }

  const lookAt = ({ row: { settledBlock, state, transaction } }: State, answering: () => View) => {
    const chain = Evidence.make(faulty(nodeOf(adversary, answering), world))
    return Effect.runSync(
      Effect.gen(function* () {
        const evidence = yield* chain.evidence({
          authorization: signed,
          fromBlock: 0n,
          transaction: transaction === "" ? Option.none() : Option.some(`0x${transaction}` as const),
          patience: Duration.zero,
          foundIn: state === "settled" ? Option.some(BigInt(settledBlock)) : Option.none(),
        })
        const found = Evidence.findingOf(evidence)
        if (fault === "a used log is a payment" && evidence._tag === "Void" && evidence.transaction !== undefined)
          return { found: { is: "paid", proof: { transaction: "c", block: 1 } }, isFinal: false } satisfies Look
        if (found.is !== "paid") return { found, isFinal: false } satisfies Look
        const { block, transaction: by } = found.proof
        return {
          found: { is: "paid", proof: { transaction: by.slice(2), block: Number(block.number) } },
          isFinal: yield* chain.isFinal(block),
        } satisfies Look
      }),
    )
  }

  return (state: State): ReadonlyArray<Look> => {
    const { lag, row, truth } = state
    const key = JSON.stringify([truth, lag, row.transaction, row.state === "settled" ? row.settledBlock : 0, row.state])
    const before = known.get(key)
    if (before !== undefined) return before
    const views = JSON.stringify(truth) === JSON.stringify(lag) ? [truth] : [truth, lag]
    const all = everyAnswer<Look>(views, (answering) => lookAt(state, answering))
    const looks = [...new Map([silence, ...all].map((one) => [JSON.stringify(one), one])).values()]
    known.set(key, looks)
    return looks
  }
}
