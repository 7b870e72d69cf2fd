/** `Evidence.ts` and `Reconciler.ts`, one step for each question to a node: each may be answered by another one. */
import { dryRun, endOf, execute, hashOf, isGroup, type View } from "./Chain.ts"
import { idle, type Configuration, type Server, type State, tooPoor, type Work } from "./State.ts"

export type Say = (says: string, to: State) => void

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

/** What is kept of a look once it has ended. */
const over = { upTo: 0, isUsed: false } as const

/** Begins to look for evidence. */
export const looking = (work: Work): Work => ({ ...work, at: work.hint === "" ? "heads" : "receipt" })

type Found =
  | { readonly is: "paid"; readonly transaction: string; readonly block: string }
  | { readonly is: "void"; readonly reason: string }
  | { readonly is: "open"; readonly unused: boolean; readonly reverts: boolean; readonly couldNotPay?: boolean }
  | { readonly is: "unavailable" }

const nothing: Found = { is: "open", unused: false, reverts: false }

/** Where work goes on, by what was found. */
const goesOn = (work: Work, found: Found, configuration: Configuration): Work => {
  const clean = { ...work, ...over }
  switch (work.asks) {
    case "is unused": {
      // Unused, it is refused in words that ask for a new one.
      if (found.is === "void" || (found.is === "open" && found.unused))
        return { ...clean, at: "answer", asks: "", outcome: "refused" }
      return found.is === "unavailable" ? idle : { ...clean, at: "heads", asks: "used by" }
    }
    case "used by": {
      if (found.is === "paid") return { ...clean, at: "fresh", log: found.transaction, block: found.block }
      return found.is === "void" && found.reason !== "expired"
        ? { ...clean, at: "answer", asks: "", outcome: found.reason === "cancelled" ? "cancelled" : "refused" }
        : idle
    }
    case "late":
      return found.is === "paid" ? { ...clean, at: "stray", log: found.transaction, block: found.block } : idle
    case "early":
    case "finality": {
      if (found.is === "unavailable") return idle
      if (found.is === "paid") {
        const there = { ...clean, log: found.transaction, block: found.block }
        if (work.asks === "finality") return { ...there, at: "still final" }
        if (configuration.fault === "an early look makes it final") return { ...there, at: "found", outcome: "final" }
        return found.transaction === work.hint ? idle : { ...there, at: "found", outcome: "pending" }
      }
      if (found.is === "open") {
        const isToBeSent = found.unused && configuration.settles === "relayer"
        if (!isToBeSent) return { ...clean, at: "still open", outcome: "" }
        return {
          ...clean,
          at: configuration.fault === "what was taken back is pending again" ? "open again" : "find broadcast",
        }
      }
      const isSecond = configuration.fault === "one look loses" || work.ripe.replace("!", "") === found.reason
      return { ...clean, at: isSecond ? "lose" : "still open", outcome: found.reason }
    }
    default:
      return concluded(clean, found, configuration)
  }
}

/** `Reconciler.concludeOnChain`. */
const concluded = (work: Work, found: Found, configuration: Configuration): Work => {
  if (found.is === "unavailable") return { ...work, at: "defer", outcome: "unavailable" }
  if (found.is === "paid") return { ...work, at: "settle", log: found.transaction, block: found.block }
  const reason = found.is === "void" ? found.reason : refusalThatHolds(work, found, configuration)
  if (reason === "" && found.is === "open" && found.couldNotPay === true) {
    const isUnchecked =
      configuration.settles !== "relayer" || configuration.fault === "too poor though it was sent again"
    return isUnchecked ? agreed(work, tooPoor, configuration) : { ...work, at: "newest broadcast" }
  }
  if (reason === "") {
    const isToBeSent = !work.isSubmitted && found.is === "open" && found.unused
    if (isToBeSent && configuration.settles === "relayer") return { ...work, at: "find broadcast" }
    // Nothing was heard of it, and its transfer would pass.
    const isGivenUp = isToBeSent && !found.reverts && work.hint === "" && work.refusal === ""
    return isGivenUp ? { ...work, at: "hold", isFirst: false } : { ...work, at: "defer", outcome: "" }
  }
  if (work.unsent !== "") return { ...work, at: "fail unsent", outcome: reason }
  return agreed(work, reason, configuration)
}

/** `failIfAgreed`. */
export const agreed = (work: Work, reason: string, { fault }: Configuration): Work => {
  const isSecond = fault === "one look is enough" || work.ripe.replace("!", "") === reason
  return { ...work, at: isSecond ? "fail" : "defer", outcome: reason }
}

/** Whether what was to charge it is final and did not, and its wallet was too poor there. */
const wasTooPoor = (work: Work, { blocks, final }: View, { adversary: { expiry }, fault }: Configuration) => {
  if (work.hint === "") return false
  const there = fault === "too poor before it is final" ? blocks : hashOf(blocks, final)
  return (
    execute(there, expiry).transactions.includes(work.hint) && dryRun(there, work.authorization, expiry) === "funds"
  )
}

const refusalThatHolds = (work: Work, found: Found & { readonly is: "open" }, { fault }: Configuration) => {
  if (work.unsent !== "") return found.unused && work.unsent !== "used" ? work.unsent : ""
  if (fault === "a refusal is believed") return work.refusal
  return found.unused && found.reverts ? work.refusal : ""
}

/** One question of a look, and every way it can be answered. */
export const looks = (state: State, server: Server, configuration: Configuration, say: Say) => {
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
  on(`no node answers about ${authorization}`, { is: "unavailable" })

  switch (work.at) {
    case "receipt": {
      for (const [who, { blocks }] of nodes(state)) {
        const { ends, reverted, transactions } = execute(blocks, expiry)
        const block = hashOf(blocks, transactions.indexOf(work.hint) + 1)
        const isThere = transactions.includes(work.hint)
        const hasPaid = Object.values(ends).some(({ isPaid, transaction }) => isPaid && transaction === work.hint)
        if (fault === "a group's receipt pays for all" && isGroup(work.hint) && isThere && hasPaid) {
          on(`a node${who} has the receipt of ${work.hint}`, { is: "paid", transaction: work.hint, block })
        } else if (
          fault === "what fails in a group is over" &&
          isGroup(work.hint) &&
          isThere &&
          ends[authorization] === undefined
        ) {
          on(`a node${who} says that ${work.hint} did not pay it`, { is: "void", reason: "not paid" })
        } else if (isThere && ends[authorization]?.transaction === work.hint && ends[authorization].isPaid) {
          on(`a node${who} has the receipt of ${work.hint}`, { is: "paid", transaction: work.hint, block })
        } else if (fault === "a reverted receipt fails" && isThere && reverted.includes(work.hint)) {
          on(`a node${who} says that ${work.hint} reverted`, { is: "void", reason: "reverted" })
        } else to(`a node${who} has no successful receipt of ${work.hint}`, { ...work, at: "heads" })
      }
      return
    }
    case "heads": {
      // The state is asked of the newest block by its hash: who knows that block can only say one thing.
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
          const couldNotPay = reverts === "funds" && wasTooPoor(work, finalView, configuration)
          on(says, { is: "open", unused: true, reverts: reverts !== "" && counts, couldNotPay })
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
              ? goesOn(without, { is: "paid", transaction: work.log, block }, configuration)
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
 * has that of the final one are asked together. Who knows the final block has nothing below it that can go.
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
