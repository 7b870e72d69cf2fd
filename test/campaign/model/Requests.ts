/** The start of a server's work: requests, looks at open attempts, checks of settled ones; and the verification of a payment. */
import { dryRun, execute } from "./Chain.ts"
import type { Emit } from "./Explorer.ts"
import { patched } from "./Ledger.ts"
import { inquiring, nodes } from "./Inquiry.ts"
import {
  type Configuration,
  idle,
  type Request,
  type Row,
  type Server,
  type State,
  type ClientAnswers,
  tooPoor,
  type Work,
} from "./State.ts"

/** A server at its work, and how its next step is told. */
export interface Turn {
  readonly state: State
  readonly server: Server
  readonly configuration: Configuration
  readonly work: Work
  readonly say: (says: string, to: State) => void
  /** The same with the server's next work, and what else has changed. */
  readonly to: (says: string, next: Work, rest?: Partial<State>) => void
}

export const turnOf = (state: State, server: Server, configuration: Configuration, emit: Emit<State>): Turn => {
  const say = (says: string, to: State) => emit(`server ${server}: ${says}`, to)
  const to: Turn["to"] = (says, next, rest = {}) => say(says, { ...state, ...rest, [server]: next })
  return { state, server, configuration, work: state[server], say, to }
}

export const including = (known: string, one: string) => (known.includes(one) ? known : [...known, one].sort().join(""))

/** The answer about an attempt on disk: 200, 202, or 402 once it has failed. */
export const heard = (told: ClientAnswers, row: Row | undefined): ClientAnswers =>
  row?.state === "failed" ? { ...told, failed: including(told.failed, row.authorization) } : told

/** A request arrives: its first query. */
export const asked = (
  state: State,
  server: Server,
  request: Request,
  configuration: Configuration,
  emit: Emit<State>,
) => {
  const { authorization, key, slot = "" } = request
  if (request.after !== undefined && !state.told[request.after.told].includes(request.after.authorization)) return
  const says = `server ${server}: a request under ${key} pays with ${authorization}`
  const row = state.database.rows[key]
  if (row !== undefined) {
    const told =
      configuration.fault === "402 while pending" && row.state === "pending"
        ? { ...state.told, failed: including(state.told.failed, row.authorization) }
        : heard(state.told, row)
    if (told.failed !== state.told.failed) emit(`${says} and hears how it ended`, { ...state, told })
    return
  }
  if (slot !== "" && state.database.claims[slot] !== undefined) return
  emit(says, { ...state, [server]: { ...idle, at: "verify", key, authorization, slot } })
}

/** A later look: a client's reconcile, the sweeper, or the start after a crash. */
export const inquired = (
  state: State,
  server: Server,
  key: string,
  row: Row,
  { fault }: Configuration,
  emit: Emit<State>,
) => {
  const isLate = row.reason === tooPoor && fault !== "nobody looks for what pays late"
  if (row.state !== "pending" && !isLate) return
  const work: Work = {
    ...idle,
    at: "heads",
    key,
    authorization: row.authorization,
    asks: isLate ? "late" : "conclude",
    hint: row.transaction,
    ripe: row.isRipe ? row.doubt : "",
    refusal: row.refusal,
    fromBlock: row.fromBlock,
  }
  emit(`server ${server}: looks at ${key}`, { ...state, [server]: inquiring(work) })
}

/** The finality sweep takes a settled transfer whose block is below a final one; where our relayer can send it again, any. */
export const checked = (
  state: State,
  server: Server,
  key: string,
  row: Row,
  configuration: Configuration,
  emit: Emit<State>,
) => {
  if (row.state !== "settled" || row.finality !== "pending") return
  const isEarly = row.settledBlock > state.truth.final
  if (isEarly && configuration.settles !== "relayer") return
  const says = `server ${server}: checks ${isEarly ? "early whether" : "the finality of"} ${key}${isEarly ? " is still there" : ""}`
  if (configuration.fault === "final without looking") {
    if (isEarly) return
    emit(says, { ...state, database: patched(state.database, key, { finality: "final" }) })
    return
  }
  const work: Work = {
    ...idle,
    at: "heads",
    key,
    authorization: row.authorization,
    asks: isEarly ? "early" : "finality",
    hint: row.moved === "" ? row.transaction : row.moved,
    ripe: row.isRipe ? row.doubt : "",
    fromBlock: row.fromBlock,
  }
  emit(says, { ...state, [server]: inquiring(work) })
}

/** A new payment is tried on the chain before it is claimed. */
export const verifies = ({ configuration, state, to, work }: Turn) => {
  const { authorization } = work
  for (const [who, { blocks, final }] of nodes(state)) {
    const revert = dryRun(blocks, authorization, configuration.adversary.expiry)
    const says = `a node${who} tries ${authorization}: ${revert === "" ? "good" : revert}`
    const { height } = execute(blocks, configuration.adversary.expiry)
    const fromBlock = configuration.fault === "the search begins at the head" ? height + 1 : final
    if (revert === "funds") to(says, { ...work, at: "answer", outcome: "refused" })
    else if (revert !== "") to(says, { ...work, at: "owner", outcome: revert })
    else if (configuration.fault === "claim after network")
      to(says, { ...work, at: "rehearse", isFirst: true, fromBlock })
    else to(says, { ...work, at: "claim", fromBlock })
  }
  if (configuration.clocksDiffer === true)
    to(`its clock calls ${authorization} untimely`, { ...work, at: "owner", outcome: "untimely" })
}
