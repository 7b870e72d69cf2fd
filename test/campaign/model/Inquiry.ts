/** `Evidence.ts`, one step for each question to a node, since each may be answered by another one; the protocol's table decides. */
import { Option } from "effect"
import * as Protocol from "../../../src/payments/protocol/Decision.ts"
import type { Submission } from "../../../src/payments/Settlement.ts"
import { dryRun, endOf, execute, hashOf, isGroup, type View } from "./Chain.ts"
import { idle, type Configuration, type Server, type State, type Work } from "./State.ts"

export type Emit = (says: string, to: State) => void

export const nodes = (state: State): ReadonlyArray<readonly [string, View]> =>
  state.truth.blocks === state.lag.blocks && state.truth.final === state.lag.final
    ? [["", state.truth]]
    : [
        ["", state.truth],
        [" that is behind", state.lag],
      ]

/** Nodes that answer two questions that are asked together. */
const pairs = (state: State, configuration: Configuration) =>
  nodes(state).flatMap(([who, first]) =>
    configuration.splitsBatches === true
      ? nodes(state).map(([other, second]) => [`${who} and one${other}`, first, second] as const)
      : [[who, first, first] as const],
  )

/** The stored result of an inquiry. */
const over = { upTo: 0, isUsed: false } as const

/** Begins to look for evidence. */
export const inquiring = (work: Work): Work => ({ ...work, at: work.hint === "" ? "heads" : "receipt" })

interface Transfer {
  readonly transaction: string
  readonly block: string
}

type Found = Protocol.Found<Transfer>

const nothing: Found = { is: "nothing" }

const isUnused = ({ is }: Found) => is === "unused" || is === "reverts" || is === "poor"

/** Where work goes on, by what was found. */
const goesOn = (work: Work, found: Found, configuration: Configuration): Work => {
  const clean = { ...work, ...over }
  switch (work.asks) {
    case "is unused": {
      // Unused, it is refused in words that ask for a new one.
      if (found.is === "void" || isUnused(found)) return { ...clean, at: "answer", asks: "", outcome: "refused" }
      return found.is === "silence" ? idle : { ...clean, at: "heads", asks: "used by" }
    }
    case "used by": {
      if (found.is === "paid") return { ...clean, at: "fresh", log: found.proof.transaction, block: found.proof.block }
      return found.is === "void" && found.reason !== "expired"
        ? { ...clean, at: "answer", asks: "", outcome: found.reason === "cancelled" ? "cancelled" : "refused" }
        : idle
    }
    case "late": {
      const decision = decided(clean, found, { is: "failed" }, configuration)
      return decision.is === "settle" ? { ...clean, at: "stray", ...foundIn(decision.proof) } : idle
    }
    case "early":
    case "finality":
      return checked(clean, decided(clean, found, { is: "settled" }, configuration), configuration)
    default: {
      const isUnchecked =
        configuration.settles !== "relayer" || configuration.fault === "too poor though it was sent again"
      return found.is === "poor" && !isUnchecked
        ? { ...clean, at: "newest broadcast" }
        : concluded(clean, found, configuration)
    }
  }
}

const foundIn = ({ block, transaction }: Transfer) => ({ log: transaction, block })

/** `decide` of the protocol; a fault stands before it or behind it. */
const decided = (work: Work, found: Found, standing: Protocol.SubmissionState, { fault }: Configuration) => {
  const isBelieved =
    fault === "a refusal is believed" && (standing.is === "declined" || standing.is === "refused") && isOpen(found)
  const reason = work.ripe.replace("!", "")
  const doubt = reason === "" ? null : { reason, ageMillis: 1 }
  const decision = Protocol.decide(isBelieved ? { is: "reverts" } : found, standing, doubt, 1)
  const isEnough = fault === (standing.is === "settled" ? "one look loses" : "one look is enough")
  return isEnough && decision.is === "doubt"
    ? ({ is: "agreed", doubt: { reason: decision.reason, ageMillis: 0 }, isAlive: false } as const)
    : decision
}

const isOpen = ({ is }: Found) => is !== "paid" && is !== "void" && is !== "silence"

/** The settlement's latest answer, as its code has it. */
const saidTo = ({ isSubmitted, refusal, unsent }: Work): Submission | undefined => {
  if (unsent !== "") return { _tag: "Refused", reason: unsent === "used" ? Protocol.alreadyUsed : unsent, unsent: true }
  if (!isSubmitted) return undefined
  return refusal === ""
    ? { _tag: "Unclear", reason: "", transaction: Option.none() }
    : { _tag: "Refused", reason: refusal }
}

/** `Reconciler`: carries out what follows for an attempt that is open. */
export const concluded = (work: Work, found: Found, configuration: Configuration): Work => {
  const standing = Protocol.submissionStateOf(
    saidTo(work),
    work.refusal === "" ? null : work.refusal,
    work.unsent !== "",
  )
  const decision = decided(work, found, standing, configuration)
  switch (decision.is) {
    case "settle":
      return { ...work, at: "settle", ...foundIn(decision.proof) }
    case "agreed":
      return { ...work, at: "fail", outcome: decision.doubt.reason }
    case "doubt":
      return { ...work, at: "defer", outcome: decision.reason }
    case "fail":
    case "fail unsent":
      return { ...work, at: decision.is, outcome: decision.reason }
    case "keep":
      return { ...work, at: "defer", outcome: "unavailable" }
    case "wait":
      return { ...work, at: "defer", outcome: "" }
    case "submit": {
      if (configuration.settles === "relayer") return { ...work, at: "find broadcast" }
      // A facilitator said nothing of it, and its transfer would pass.
      const isGivenUp = found.is === "unused" && work.hint === "" && work.refusal === ""
      return isGivenUp ? { ...work, at: "hold", isFirst: false } : { ...work, at: "defer", outcome: "" }
    }
  }
}

/** `Finality`: carries out what follows for a settled attempt. */
const checked = (work: Work, decision: ReturnType<typeof decided>, { fault, settles }: Configuration): Work => {
  switch (decision.is) {
    case "settle": {
      const there = { ...work, ...foundIn(decision.proof) }
      if (work.asks === "finality") return { ...there, at: "still final" }
      if (fault === "an early look makes it final") return { ...there, at: "found", outcome: "final" }
      return there.log === work.hint ? idle : { ...there, at: "found", outcome: "pending" }
    }
    case "agreed":
      return { ...work, at: "lose", outcome: decision.doubt.reason }
    case "doubt":
      return { ...work, at: "still open", outcome: decision.reason }
    case "submit":
      if (settles !== "relayer") return { ...work, at: "still open", outcome: "" }
      return { ...work, at: fault === "what was taken back is pending again" ? "open again" : "find broadcast" }
    case "keep":
      return idle
    default:
      return { ...work, at: "still open", outcome: "" }
  }
}

/** Whether what was to charge it is final and did not, and its wallet was too poor there. */
const wasTooPoor = (work: Work, { blocks, final }: View, { adversary: { expiry }, fault }: Configuration) => {
  if (work.hint === "") return false
  const there = fault === "too poor before it is final" ? blocks : hashOf(blocks, final)
  return (
    execute(there, expiry).transactions.includes(work.hint) && dryRun(there, work.authorization, expiry) === "funds"
  )
}

/** One question of a look, and every way it can be answered. */
export const inquiries = (state: State, server: Server, configuration: Configuration, say: Emit) => {
  const work = state[server]
  const { authorization } = work
  const { expiry } = configuration.adversary
  const { fault } = configuration
  const said = new Set<string>()
  /** Two nodes that say the same are one answer. */
  const to = (says: string, next: Work) => {
    const name = [next.at, next.asks, next.log, next.block, next.upTo, next.isUsed, next.outcome].join()
    if (said.has(name)) return
    said.add(name)
    say(`server ${server}: ${says}`, { ...state, [server]: next })
  }
  const on = (says: string, found: Found) => to(says, goesOn(work, found, configuration))
  on(`no node answers about ${authorization}`, { is: "silence" })

  switch (work.at) {
    case "receipt": {
      for (const [who, { blocks }] of nodes(state)) {
        const { ends, reverted, transactions } = execute(blocks, expiry)
        const block = hashOf(blocks, transactions.indexOf(work.hint) + 1)
        const isThere = transactions.includes(work.hint)
        const hasPaid = Object.values(ends).some(({ isPaid, transaction }) => isPaid && transaction === work.hint)
        if (fault === "a group's receipt pays for all" && isGroup(work.hint) && isThere && hasPaid) {
          on(`a node${who} has the receipt of ${work.hint}`, { is: "paid", proof: { transaction: work.hint, block } })
        } else if (
          fault === "what fails in a group is over" &&
          isGroup(work.hint) &&
          isThere &&
          ends[authorization] === undefined
        ) {
          on(`a node${who} says that ${work.hint} did not pay it`, { is: "void", reason: "not paid" })
        } else if (isThere && ends[authorization]?.transaction === work.hint && ends[authorization].isPaid) {
          on(`a node${who} has the receipt of ${work.hint}`, { is: "paid", proof: { transaction: work.hint, block } })
        } else if (fault === "a reverted receipt fails" && isThere && reverted.includes(work.hint)) {
          on(`a node${who} says that ${work.hint} reverted`, { is: "void", reason: "reverted" })
        } else to(`a node${who} has no successful receipt of ${work.hint}`, { ...work, at: "heads" })
      }
      return
    }
    case "heads": {
      // The state is asked of the newest block by its hash: a node with that block has only one answer.
      for (const [who, newest, finalView] of pairs(state, configuration)) {
        const { ends, height } = execute(newest.blocks, expiry)
        const { final } = finalView
        const says = `a node${who} is at block ${height}, final ${final}, ${authorization} ${ends[authorization] === undefined ? "unused" : "used"}`
        if (height < final) {
          on(says, nothing)
          continue
        }
        const isUsed = ends[authorization] !== undefined
        const reverts = dryRun(newest.blocks, authorization, expiry)
        const isOver =
          (fault === "the newest block judges the end" || fault === "time alone fails" ? height : final) >=
          endOf(authorization, expiry)
        if (fault === "time alone fails" && isOver) on(says, { is: "void", reason: "expired" })
        else if (!isUsed && !isOver) {
          const counts = fault === "a revert past the end agrees" || height < endOf(authorization, expiry)
          const isPoor = reverts === "funds" && wasTooPoor(work, finalView, configuration)
          on(says, { is: reverts === "" || !counts ? "unused" : isPoor ? "poor" : "reverts" })
        } else if (!isUsed && reverts === "") on(says, nothing)
        else if (work.asks === "is unused") on(says, isUsed ? nothing : { is: "void", reason: "expired" })
        else to(says, { ...work, at: "logs", isUsed, upTo: height })
      }
      return
    }
    case "logs": {
      for (const [who, { blocks }] of nodes(state)) {
        const end = execute(blocks, expiry).ends[authorization]
        const from = work.asks === "used by" ? 0 : work.fromBlock
        if (end === undefined || end.block > work.upTo || end.block <= from - 1) {
          on(`a node${who} finds no log`, work.isUsed ? nothing : { is: "void", reason: "expired" })
        } else {
          const block = hashOf(blocks, end.block)
          to(`a node${who} finds a log in ${end.transaction}`, {
            ...work,
            at: "receipt of log",
            log: end.transaction,
            block,
          })
        }
      }
      return
    }
    case "receipt of log": {
      const without = { ...work, log: "", block: "" }
      for (const [who, { blocks }] of nodes(state)) {
        const { ends, transactions } = execute(blocks, expiry)
        const end = ends[authorization]
        const number = transactions.indexOf(work.log) + 1
        const block = hashOf(blocks, number)
        const next =
          number === 0 || end?.transaction !== work.log
            ? goesOn(without, nothing, configuration)
            : end.isPaid || fault === "a used log is a payment"
              ? goesOn(without, { is: "paid", proof: { transaction: work.log, block } }, configuration)
              : !work.isUsed || block !== work.block
                ? goesOn(without, nothing, configuration)
                : fault === "a cancellation need not be final"
                  ? goesOn(without, { is: "void", reason: "cancelled" }, configuration)
                  : { ...work, at: "final block" as const }
        to(`a node${who} answers for the receipt of ${work.log}`, next)
      }
      return
    }
    case "final block": {
      const without = { ...work, log: "", block: "" }
      return isFinal(state, work.block, configuration, (who, isNow) =>
        to(
          `a node${who} calls its block ${isNow ? "final" : "not final"}`,
          goesOn(without, isNow ? { is: "void", reason: "cancelled" } : nothing, configuration),
        ),
      )
    }
    default:
  }
}

/**
 * `Chain.isFinal`, of every node that may answer: one says which block is final; then what has the number of `block` and what
 * has that of the final one are asked together. A node with the final block has no orphanable block below it.
 */
export const isFinal = (
  state: State,
  block: string,
  configuration: Configuration,
  answer: (who: string, isFinal: boolean) => void,
) => {
  const said = new Set<boolean>()
  const number = execute(block, configuration.adversary.expiry).height
  for (const [, { blocks, final }] of nodes(state)) {
    for (const [who, there, again] of pairs(state, configuration)) {
      const isOfFinal =
        hashOf(again.blocks, final) === hashOf(blocks, final) || configuration.fault === "two nodes make it final"
      const isNow = number <= final && isOfFinal && hashOf(there.blocks, number) === block
      if (!said.has(isNow)) answer(who, isNow)
      said.add(isNow)
    }
  }
}
