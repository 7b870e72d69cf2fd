/** The specification: clients, two servers, the database and the chain, and in which order they may take their steps. */
import { dryRun, moves, nonceOf, senderOf } from "./Chain.ts"
import type { Emit, Specification } from "./Explorer.ts"
import { invariantsOf, isEnded } from "./Invariants.ts"
import { claimed, patched } from "./Ledger.ts"
import { works } from "./Payment.ts"
import { asked, checked, inquired } from "./Requests.ts"
import {
  type Configuration,
  type Database,
  idle,
  isFollowed,
  type Row,
  type Server,
  type State,
  steps,
  type ClientAnswers,
  trimmed,
  type Work,
} from "./State.ts"

const servers = ["one", "two"] as const

/** Which attempts have been seen unable to pay since their refusal became old; it is what a refusal promises. */
const witnessed = (state: State, { adversary }: Configuration): State => {
  const poor = Object.entries(state.database.rows).filter(
    ([, row]) =>
      row.state === "pending" &&
      row.doubt === "facilitator" &&
      row.isRipe &&
      !row.wasPoor &&
      dryRun(state.truth.blocks, row.authorization, adversary.expiry) === "funds",
  )
  return poor.length === 0
    ? state
    : { ...state, database: poor.reduce((all, [key]) => patched(all, key, { wasPoor: true }), state.database) }
}

/** Time in which every node has heard what any of them knew; an earlier doubt stays valid. */
const aSweepPasses = (state: State, emit: Emit<State>) => {
  const doubted = Object.entries(state.database.rows).filter(([, row]) => row.doubt !== "" && !row.isRipe)
  if (doubted.length === 0) return
  const database = doubted.reduce((all, [key]) => patched(all, key, { isRipe: true }), state.database)
  emit("a sweep's time passes", { ...state, lag: state.truth, database })
}

/** A look that finds it open, where nothing was doubted before, has nothing to write. */
const isIdle = ({ at, hint, outcome }: Work, row: Row | undefined) =>
  at === "defer" &&
  (row === undefined ||
    row.state !== "pending" ||
    (hint === row.transaction && row.refusal === "" && (outcome === row.doubt || outcome === "unavailable")))

/** Where looks are whole, what only reads follows at once upon what came before; each question still goes to any node. */
const whole = (server: Server, configuration: Configuration, emit: Emit<State>): Emit<State> => {
  const kept: Emit<State> = (says, to) => emit(says, { ...to, [server]: trimmed(to[server]) })
  const isOver = ({ at, key }: Work) => (at === "receipt" || at === "heads") && !isFollowed(configuration, key)
  if (configuration.looksAreWhole !== true) return kept
  const goOn: Emit<State> = (says, to) =>
    isOver(to[server])
      ? emit(says, { ...to, [server]: idle })
      : steps[to[server].at].reads === true
        ? works(to, server, configuration, (more, end) =>
            goOn(`${says}; ${more.replace(`server ${server}: `, "")}`, end),
          )
        : isIdle(to[server], to.database.rows[to[server].key])
          ? emit(says, { ...to, [server]: idle })
          : kept(says, to)
  return goOn
}

const next = (configuration: Configuration) => (state: State, emitRaw: Emit<State>) => {
  const emit: Emit<State> =
    configuration.adversary.moneyMoves === true
      ? (says, to) => emitRaw(says, witnessed(to, configuration))
      : configuration.requests.some(({ after }) => after !== undefined)
        ? emitRaw
        : deaf(emitRaw)
  moves(state.truth, state.lag, state.pool, configuration.adversary, (says, change) => {
    const mined = change.truth === undefined ? "" : (change.truth.blocks.split("|").at(-1) ?? "")
    const pool = change.pool ?? state.pool
    const isOurs =
      mined !== "" && senderOf(mined) === "R" && pool.known.some((known) => nonceOf(known) === nonceOf(mined))
    // A mined transaction waits no longer, and neither does another one under its nonce.
    const known = isOurs ? pool.known.filter((one) => nonceOf(one) !== nonceOf(mined)) : pool.known
    emit(says, { ...state, ...change, pool: isOurs ? { ...pool, known } : pool })
  })
  aSweepPasses(state, emit)
  for (const server of configuration.servers === 1 ? (["one"] as const) : servers) {
    const then = whole(server, configuration, emit)
    if (state[server].at !== "idle") {
      emit(`server ${server} is killed`, { ...state, [server]: idle })
      works(state, server, configuration, then)
      continue
    }
    if (configuration.groups !== true)
      for (const request of configuration.requests) asked(state, server, request, configuration, then)
    for (const [key, row] of Object.entries(state.database.rows)) {
      if (!isFollowed(configuration, key)) continue
      inquired(state, server, key, row, configuration, then)
      checked(state, server, key, row, configuration, then)
    }
  }
}

const nothingYet: Database = { rows: {}, claims: {}, strays: "" }

/** A client that signs as told is told; others' answers change nothing that comes after. */
const deaf =
  (emit: Emit<State>): Emit<State> =>
  (says, to) =>
    emit(says, { ...to, told: unheard })

const unheard: ClientAnswers = { refused: "", failed: "" }

/** Where both requests are claimed, and the first server has taken the other one along. */
const together = (configuration: Configuration): Pick<State, "database" | "one" | "two"> => {
  const works = configuration.requests.map(({ authorization, key }): Work => ({
    ...idle,
    at: "rehearse",
    key,
    authorization,
    isFirst: true,
  }))
  const database = works.reduce((all, work) => claimed(all, work, configuration) ?? all, nothingYet)
  const [leader = idle, other = idle] = works
  return {
    database,
    one: { ...leader, passenger: other.key },
    two: configuration.servers === 2 ? other : idle,
  }
}

export const specificationOf = (configuration: Configuration): Specification<State> => ({
  initial: {
    truth: { blocks: "", final: 0 },
    lag: { blocks: "", final: 0 },
    pool: { sent: [], known: [], open: "" },
    database: nothingYet,
    told: unheard,
    one: idle,
    two: idle,
    ...(configuration.groups === true ? together(configuration) : {}),
  },
  next: next(configuration),
  invariants: invariantsOf(configuration),
  end: { name: "from here every attempt can still end", reached: isEnded(configuration) },
  ...(configuration.servers === 2 ? { alike: ["one", "two"] as const } : {}),
})
