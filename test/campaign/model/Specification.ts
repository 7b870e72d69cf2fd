/** The specification: servers, their row, the chain, what they may do in which order, and what must always hold. */
import { couldNotPay } from "../../../src/payments/decision.ts"
import { execute, finalEnd, moves, rowOf } from "./ModelChain.ts"
import type { Emit, Invariant, Specification } from "./Explorer.ts"
import { looksOf } from "./Inquiry.ts"
import { begins, works } from "./Servers.ts"
import { idle, paysBy, type Row, type State, type World } from "./State.ts"

/** The scan reads final blocks by one of the nodes. Its table makes a settled act final. */
const scans = (state: State, { adversary, fault }: World, emit: Emit<State>) => {
  const { lag, row, table, truth } = state
  for (const view of new Set([truth, lag])) {
    const read = fault === "the scan reads to the head" ? view.blocks.length : view.final
    if (read <= table.read) continue
    const { end } = execute(view.blocks.slice(0, read), adversary.expiry)
    const found = rowOf(end)
    for (const by of new Set(adversary.forgets === true ? [found, ""] : [found]))
      emit(`the scan reads up to block ${read}`, { ...state, table: { read, row: table.row || by } })
  }
  if (row.state === "settled" && row.finality !== "final" && paysBy(table))
    emit("the scan makes it final", { ...state, row: { ...row, finality: "final", doubt: "", isRipe: false } })
}

const next = (world: World) => {
  const looks = looksOf(world)
  return (state: State, emit: Emit<State>) => {
    const { lag, pool, row, truth } = state
    scans(state, world, emit)
    moves(truth, lag, pool, world.adversary, (says, change) => emit(says, { ...state, ...change }))
    // In this time every node has heard what any of them knew; an earlier doubt stays valid.
    if (row.doubt !== "" && !row.isRipe)
      emit("a sweep's time passes", { ...state, lag: truth, row: { ...row, isRipe: true } })
    for (const server of (["one", "two"] as const).slice(0, world.servers)) {
      if (state[server].at !== "idle") {
        emit(`server ${server} is killed`, { ...state, [server]: idle })
        works(state, server, world, looks, emit)
        continue
      }
      const work = begins(state, world)
      if (work !== undefined) works({ ...state, [server]: work }, server, world, looks, emit)
    }
  }
}

const invariantsOf = ({ adversary }: World): ReadonlyArray<Invariant<State>> => {
  /** The sender of a final charge. */
  const chargedBy = ({ truth }: State) => {
    const end = finalEnd(truth, adversary)
    return end?.isPaid === true ? end.by : undefined
  }
  return [
    {
      name: "a client charged for good has an attempt that has not failed",
      holds: (state) =>
        chargedBy(state) === undefined || state.row.state !== "failed" || state.row.reason === couldNotPay,
    },
    {
      name: "a settled act that is final was paid for good, and a lost one was not",
      // One look calls a payment final, also where a provider splits its questions: see README.md.
      holds: (state) =>
        state.row.finality === "pending" ||
        (adversary.splitsBatches === true && state.row.finality === "final") ||
        (chargedBy(state) !== undefined) === (state.row.finality === "final"),
    },
    {
      name: "an act is recorded once, and stays settled",
      holds: ({ row: { records, state } }) => records === 0 || (records === 1 && state === "settled"),
    },
    {
      name: "an attempt that failed for lack of money is never charged by our relayer",
      holds: (state) => chargedBy(state) !== "r" || state.row.reason !== couldNotPay,
    },
    {
      name: "our relayer sends nothing that no row knows of",
      holds: ({ pool, row }) => !pool.isSent || row.isNoted,
    },
  ]
}

/** Every attempt is settled for good or lost, or has failed. */
const isEnded = ({ row }: State) => (row.state === "settled" && row.finality !== "pending") || row.state === "failed"

const claimed: Row = {
  state: "pending",
  reason: "",
  transaction: "",
  settledBlock: 0,
  finality: "pending",
  doubt: "",
  isRipe: false,
  isNoted: false,
  records: 0,
}

/** Numbers the parts of states: a step changes one or two of them, and short keys are compared quickly. */
const numbering = () => {
  const ofTexts = new Map<string, number>()
  const ofParts = new WeakMap<object, number>()
  return (part: object): number => {
    const known = ofParts.get(part)
    if (known !== undefined) return known
    const text = JSON.stringify(part)
    const number = ofTexts.get(text) ?? ofTexts.size
    ofTexts.set(text, number)
    ofParts.set(part, number)
    return number
  }
}

export const specificationOf = (world: World): Specification<State> => {
  const numberOf = numbering()
  return {
    initial: {
      truth: { blocks: "", final: 0 },
      table: { read: 0, row: "" },
      lag: { blocks: "", final: 0 },
      pool: { isSent: false, isRead: false },
      row: claimed,
      one: { ...idle, at: world.settles === "relayer" ? "note" : "facilitator", isFirst: true },
      two: idle,
    },
    next: next(world),
    invariants: invariantsOf(world),
    end: { name: "from here every attempt can still end", reached: isEnded },
    keyOf: ({ lag, one, pool, row, table, truth, two }) => {
      const [first, second] = [numberOf(one), numberOf(two)]
      const works = first < second ? `${first},${second}` : `${second},${first}`
      return `${numberOf(truth)},${numberOf(table)},${numberOf(lag)},${numberOf(pool)},${numberOf(row)},${works}`
    },
  }
}
