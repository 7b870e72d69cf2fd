/** The steps of a server: it submits, looks, decides by the program's own table, and writes. */
import { Option } from "effect"
import { decide, submissionStateOf } from "../../../src/payments/decision.ts"
import { alreadyUsed } from "../../../src/payments/x402/chain/Eip3009.ts"
import type { Submission } from "../../../src/payments/x402/settle/Settlement.ts"
import { execute, revertOf } from "./ModelChain.ts"
import type { Emit } from "./Explorer.ts"
import type { Look } from "./Inquiry.ts"
import { idle, paysBy, type Row, type Said, type Server, type State, type Work, type World } from "./State.ts"

const submissionOf = (said: Said, { settles }: World): Submission | undefined => {
  switch (said) {
    case "":
      return undefined
    case "submitted":
      return { _tag: "Submitted", transaction: settles === "relayer" ? "0xr" : "0xo" }
    case "unclear":
      return { _tag: "Unclear", reason: "", transaction: Option.none() }
    case "unsent":
    case "unsent as used":
      return { _tag: "Refused", reason: said === "unsent" ? said : alreadyUsed }
  }
}

/** The transaction that a look starts from. */
const hintOf = ({ row }: State, { said }: Work, { settles }: World) =>
  said === "submitted" ? (settles === "relayer" ? "r" : "o") : row.transaction

const decided = ({ found }: Look, work: Work, world: World) => {
  const { fault } = world
  const standing =
    work.of === "pending"
      ? submissionStateOf(submissionOf(work.said, world), work.isFirst)
      : ({ is: "settled" } as const)
  const doubt = work.ripe === "" ? null : { reason: work.ripe, ageMillis: 1 }
  const decision = decide(found, standing, doubt, 1)
  const isEnough = fault === (work.of === "settled" ? "one look loses" : "one look is enough")
  return isEnough && decision.is === "doubt"
    ? ({ is: "agreed", doubt: { reason: decision.reason, ageMillis: 1 } } as const)
    : decision
}

const toWrite = (work: Work, statement: Work["statement"], patch: Partial<Row> = {}): Work => ({
  ...work,
  at: "write",
  statement,
  patch,
})

const noDoubt = { doubt: "", isRipe: false } as const

/** The statement of an inquiry that ends nothing; a doubt of `undefined` stays as it is. */
const deferred = (state: State, work: Work, world: World, doubt: string | undefined): Work => {
  const { row } = state
  const patch = {
    ...(work.of === "pending" ? { transaction: hintOf(state, work, world) } : {}),
    ...(doubt === undefined || doubt === row.doubt ? {} : { doubt, isRipe: false }),
  }
  const changes = Object.entries(patch).some(([name, value]) => row[name as keyof Row] !== value)
  return changes ? toWrite(work, "defer", patch) : idle
}

/** Where the work goes on after a look at a pending attempt. */
const concluded = (look: Look, state: State, work: Work, world: World): Work => {
  const decision = decided(look, work, world)
  switch (decision.is) {
    case "settle": {
      const { block, transaction } = decision.proof
      return toWrite(work, "settle", { transaction, settledBlock: block })
    }
    case "agreed":
      return toWrite(work, "fail", { reason: decision.doubt.reason })
    case "fail":
    case "fail unsent":
      return toWrite(work, decision.is, { reason: decision.reason })
    case "doubt":
      return deferred(state, work, world, decision.reason)
    case "keep":
      return deferred(state, work, world, undefined)
    case "wait":
      return deferred(state, work, world, "")
    case "submit":
      return world.settles === "relayer" ? { ...work, at: "note" } : deferred(state, work, world, "")
  }
}

/** The same of a settled attempt. */
const checked = (look: Look, state: State, work: Work, world: World): Work => {
  const decision = decided(look, work, world)
  switch (decision.is) {
    case "settle": {
      const { block, transaction } = decision.proof
      const isFinal = world.fault === "an early look makes it final" || look.isFinal
      return isFinal
        ? toWrite(work, "confirm", { transaction, settledBlock: block, finality: "final" })
        : deferred(state, work, world, "")
    }
    case "agreed":
      return toWrite(work, "lose")
    case "doubt":
      return deferred(state, work, world, decision.reason)
    case "submit":
      if (world.fault === "what was taken back is pending again") return toWrite(work, "defer", { state: "pending" })
      return world.settles === "relayer" ? { ...work, at: "note" } : deferred(state, work, world, "")
    case "keep":
      return idle
    default:
      return deferred(state, work, world, "")
  }
}

/** Whether a statement finds its row as it was read. */
const isAsRead = ({ row }: State, work: Work, { fault }: World) => {
  switch (work.statement) {
    case "settle":
      return row.state === "pending" || fault === "settle without compare"
    case "fail":
      return (row.state === "pending" && !work.isStale) || fault === "fail without compare"
    case "fail unsent":
      return row.state === "pending" && (!row.isNoted || fault === "unsent without compare")
    case "lose":
      return row.state === "settled" && row.finality === "pending" && !work.isStale
    default:
      return row.state === work.of && row.finality === "pending"
  }
}

const patched = ({ patch, statement }: Work, row: Row): Partial<Row> => {
  switch (statement) {
    case "settle":
      return { ...patch, ...noDoubt, state: "settled", records: Math.min(2, row.records + 1) }
    case "fail":
    case "fail unsent":
      return { ...patch, state: "failed" }
    case "confirm":
      return { ...patch, ...noDoubt }
    case "lose":
      return { finality: "lost" }
    default: {
      // The same doubt keeps its age, whichever server had it first.
      const { doubt, isRipe: _, ...rest } = patch
      return doubt === row.doubt ? rest : patch
    }
  }
}

/** The state after a server's statement; a doubt that another server has read is stale once it is another. */
const written = (state: State, server: Server, work: Work, patch: Partial<Row>): State => {
  const row = { ...state.row, ...patch }
  const other = server === "one" ? "two" : "one"
  const isStale = state[other].isStale || (state[other].ripe !== "" && state.row.doubt !== row.doubt)
  return { ...state, row, [server]: work, [other]: { ...state[other], isStale } }
}

/** Our relayer rehearses a transfer and records its broadcast. */
const notes = (state: State, server: Server, world: World, to: (says: string, next: State) => void) => {
  const { lag, pool, row, truth } = state
  const { fault } = world
  const work = state[server]
  const go = (says: string, next: Work) => to(says, { ...state, [server]: next })
  const toLook = (said: Said): Work => (work.of === "settled" ? idle : { ...work, at: "look", said })
  const isOurs = (row.state === work.of && row.finality === "pending") || fault === "a note asks nobody"
  if (row.isNoted && truth.blocks.includes("r")) return go("knows that it is in a block", idle)
  for (const { blocks } of new Set([truth, lag])) {
    const revert = revertOf(blocks, world.adversary.expiry)
    if (revert !== undefined) {
      const said = row.isNoted || pool.isSent ? "submitted" : revert === alreadyUsed ? "unsent as used" : "unsent"
      go(`is told by a node that the transfer reverts: ${revert}`, toLook(said))
    } else if (!isOurs) go("finds that it is not to be sent", toLook("unclear"))
    else if (fault === "sent before noted") go("rehearses it", { ...work, at: "broadcast" })
    else to("records the broadcast", written(state, server, { ...work, at: "broadcast" }, { isNoted: true }))
  }
  go("gets no answer to its rehearsal", toLook(row.isNoted ? "submitted" : "unclear"))
}

/** Whether a node says that our relayer's transaction is in its final blocks and the authorization unused there. */
const standingsOf = ({ lag, row, truth }: State, { adversary, fault, settles }: World): ReadonlyArray<boolean> => {
  if (settles === "facilitator" || !row.isNoted) return [false]
  const answers = [truth, lag].map(({ blocks, final }) => {
    const read = fault === "spent before it is final" ? blocks : blocks.slice(0, final)
    return read.includes("r") && execute(read, adversary.expiry).end === undefined
  })
  return [...new Set(answers)]
}

/** One statement or call of one server. */
export const works = (
  state: State,
  server: Server,
  world: World,
  looks: (state: State) => ReadonlyArray<Look>,
  emit: Emit<State>,
) => {
  const work = state[server]
  const to = (says: string, next: State) => emit(`server ${server} ${says}`, next)
  const go = (says: string, next: Work, rest: Partial<State> = {}) => to(says, { ...state, ...rest, [server]: next })
  const read = { ...state.pool, isRead: true }
  switch (work.at) {
    case "note":
      return notes(state, server, world, to)
    case "broadcast": {
      const next: Work = work.of === "settled" ? idle : { ...work, at: "look", said: "submitted", isFirst: false }
      go("loses its broadcast", next)
      return go("broadcasts", next, { pool: { isSent: true, isRead: true } })
    }
    case "facilitator": {
      const next = (said: Said): Work => ({ ...work, at: "look", said })
      go("hears the transaction of the facilitator", next("submitted"), { pool: read })
      const refusal = world.fault === "a facilitator's refusal is believed" ? "unsent" : "unclear"
      go("hears nothing clear of the facilitator, or its refusal", next(refusal), { pool: read })
      return go("does not reach the facilitator", next("unsent"))
    }
    case "look": {
      const from = { ...state, row: { ...state.row, transaction: hintOf(state, work, world), state: work.of } }
      for (const seen of looks(from))
        for (const isSpent of standingsOf(state, world)) {
          const { is } = seen.found
          const look: Look = isSpent && is === "unused" ? { ...seen, found: { is: "spent" } } : seen
          const next = (work.of === "pending" ? concluded : checked)(look, state, work, world)
          go(`looks and finds it ${JSON.stringify(look.found)}${look.isFinal ? ", final" : ""}`, next)
        }
      return
    }
    case "write":
      return isAsRead(state, work, world)
        ? to(
            `writes: ${work.statement} ${JSON.stringify(work.patch)}`,
            written(state, server, idle, patched(work, state.row)),
          )
        : go(`finds another row than it has read, and does not ${work.statement}`, idle)
    case "idle":
  }
}

/** A sweep, a start or a client begins a look at what may be looked at. */
export const begins = ({ row, table, truth }: State, { fault }: World): Work | undefined => {
  const isEarly = row.settledBlock > truth.final
  const isUnexplained = row.state === "settled" && row.finality === "pending" && !paysBy(table)
  if (row.state !== "pending" && !isUnexplained) return undefined
  const work: Work = { ...idle, at: "look", of: row.state, ripe: row.isRipe ? row.doubt : "" }
  return fault === "final without looking" && row.state === "settled" && !isEarly
    ? toWrite(work, "confirm", { finality: "final" })
    : work
}
