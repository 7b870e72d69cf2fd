/** How a claimed payment is brought to the chain by our relayer: rehearsed, noted and sent, alone or with another one. */
import { dryRun, execute, membersOf, nonceOf, versionOf } from "./Chain.ts"
import { noted, versionAfter } from "./Ledger.ts"
import { inquiring, nodes } from "./Inquiry.ts"
import { including, type Turn } from "./Requests.ts"
import { type Configuration, isOfSettled, type State, type Work } from "./State.ts"

/** Nothing is sent, and it is looked at again later. */
export const letBe = (work: Work): Work => ({ ...work, at: isOfSettled(work) ? "still open" : "defer", outcome: "" })

/** The settlement's answer goes to the first or a later inquiry of the reconciler; a settled one is looked at again later. */
export const submitted = (work: Work, said: Partial<Work>): Work =>
  isOfSettled(work)
    ? letBe(work)
    : inquiring({
        ...work,
        making: "",
        noted: "",
        passenger: "",
        passengerNoted: "",
        asks: "conclude",
        isSubmitted: true,
        refusal: "",
        ...said,
      })

/** Our relayer's refusal; the first request may end by it. */
export const refusedByUs = (work: Work, reason: string): Work =>
  submitted(work, work.isFirst ? { refusal: "", unsent: reason } : { refusal: reason })

/** Where a claim goes on that was made: to its submitter, or to its earlier payment. */
export const handedIn = (work: Work, { settles }: Configuration): Work => {
  const first = { ...work, isFirst: true, slot: "" }
  if (work.hint !== "") return submitted(first, {})
  return settles === "relayer" ? { ...first, at: "rehearse" } : { ...first, at: "facilitator" }
}

/** Whether a broadcast may still wait with this node; a mined transaction does not. */
const waits = ({ pool }: State, transaction: string) => pool.known.includes(transaction)

/** `Groups.join`: every waiting payment without a transaction in flight joins. */
const joins = ({ configuration, state, to, work }: Turn) => {
  const { adversary, groups } = configuration
  const { database, truth } = state
  const { transactions } = execute(truth.blocks, adversary.expiry)
  const isOnItsWay = (note: string) => note !== "" && (waits(state, note) || transactions.includes(note))
  if (groups !== true || work.passenger !== "" || isOnItsWay(work.noted)) return
  for (const [key, row] of Object.entries(database.rows)) {
    if (key === work.key || row.state !== "pending" || isOnItsWay(row.note)) continue
    to(`takes ${key} along`, { ...work, passenger: key, passengerNoted: row.note })
  }
}

export const rehearses = (turn: Turn) => {
  const { configuration, state, to, work } = turn
  const { authorization, noted, passenger } = work
  const { expiry } = configuration.adversary
  const { database, pool, truth } = state
  joins(turn)
  const isStuck = noted !== "" && pool.known.includes(noted) && configuration.fault !== "a second nonce"
  let nonce = isStuck ? nonceOf(noted) : execute(truth.blocks, expiry).relayed
  if (isOfSettled(work) && noted !== "" && configuration.fault === "what was taken back is sent in another place")
    nonce = nonceOf(noted) + 1
  if (!isStuck) while (pool.known.some((known) => nonceOf(known) === nonce)) nonce += 1
  const along = database.rows[passenger]?.authorization ?? ""
  const alone = { ...work, passenger: "", passengerNoted: "" }
  for (const [who, { blocks }] of nodes(state)) {
    const revert = dryRun(blocks, authorization, expiry)
    // A payment that cannot succeed travels alone, where it is refused; the other one stays.
    const isLeftAlone = passenger === "" || dryRun(blocks, along, expiry) !== ""
    const together = isLeftAlone ? alone : work
    const members = isLeftAlone ? authorization : [authorization, along].sort().join("")
    const making = versionAfter(together, nonce, members, configuration)
    if (revert !== "") to(`a node${who} refuses the transfer: ${revert}`, { ...alone, at: "refused", outcome: revert })
    else if (making === undefined) to("gives up", submitted(alone, { hint: noted }))
    else {
      const at =
        configuration.fault === "sent before noted" || configuration.fault === "claim after network" ? "send" : "note"
      to(`a node${who} would take ${making}`, { ...together, at, making })
    }
  }
  to("no node answers its rehearsal", submitted(alone, noted === "" ? {} : { hint: noted }))
}

/** `Dispatch`: a member without a record is no longer ours to send, and then the group is not sent; a single member goes alone. */
export const notes = ({ configuration, say, server, state, work }: Turn) => {
  const { fault } = configuration
  const { making, passenger } = work
  const { leader, passenger: along, state: after } = noted(state, server, work, configuration)
  const to = (says: string, next: Work) => say(says, { ...after, [server]: next })
  const alone = { ...work, passenger: "", passengerNoted: "", making: "" }
  if (leader && (along || fault === "a group is sent without those it lost")) {
    to(`notes ${making}`, fault === "sent before noted" ? submitted(work, { hint: making }) : { ...work, at: "send" })
  } else if (leader) to(`notes ${making}, without ${passenger}`, { ...alone, at: "rehearse", noted: making })
  else if (passenger !== "" && along) {
    const row = after.database.rows[passenger]
    if (row === undefined) return
    const { authorization, fromBlock } = row
    const next: Work = {
      ...alone,
      key: passenger,
      authorization,
      asks: "",
      fromBlock,
      isFirst: false,
      hint: row.transaction,
      ripe: "",
    }
    to(`notes ${making} for ${passenger} alone`, { ...next, at: "rehearse", noted: making })
  } else to("somebody else has sent it", submitted(work, {}))
}

export const sends = ({ configuration, state, to, work }: Turn) => {
  const { making } = work
  const { pool, truth } = state
  const { relayed } = execute(truth.blocks, configuration.adversary.expiry)
  const after: Work =
    configuration.fault === "claim after network"
      ? { ...work, at: "claim", hint: making, making: "" }
      : configuration.fault === "sent before noted"
        ? { ...work, at: "note" }
        : submitted(work, { hint: making })
  const rival = pool.known.find((known) => nonceOf(known) === nonceOf(making))
  const isOutbid =
    rival !== undefined && !(membersOf(rival).includes(work.authorization) && versionOf(rival) < versionOf(making))
  if (nonceOf(making) < relayed || (isOutbid && rival !== making)) {
    const passengerNoted = work.passenger === "" ? "" : making
    return to(`the nonce of ${making} is taken`, { ...work, at: "rehearse", noted: making, passengerNoted, making: "" })
  }
  const known = pool.known.filter((one) => one !== rival && one !== making)
  to(`sends ${making}`, after, {
    pool: {
      sent: [...new Set([...pool.sent, making])].sort(),
      known: [...known, making].sort(),
      open: [...membersOf(making)].reduce(including, pool.open),
    },
  })
  to(`${making} does not arrive`, after)
}
