/** The payment protocol: clients, two servers, the database and the chain, one step for each statement and each call. */
import { dryRun, endOf, execute, isGroup, membersOf, moves, nonceOf, senderOf, versionOf } from "./Chain.ts"
import type { Emit, Specification } from "./Explorer.ts"
import { invariantsOf, isEnded } from "./Invariants.ts"
import {
  authorizationClaim,
  claimed,
  deferred,
  failed,
  failedUnsent,
  noted,
  patched,
  settled,
  versionAfter,
  written,
} from "./Ledger.ts"
import { concluded, isFinal, looking, looks, nodes } from "./Look.ts"
import {
  type Configuration,
  type Database,
  idle,
  isFollowed,
  isOfSettled,
  type Request,
  type Row,
  type Server,
  type State,
  type Told,
  tooPoor,
  type Work,
} from "./State.ts"

const servers = ["one", "two"] as const

const including = (known: string, one: string) => (known.includes(one) ? known : [...known, one].sort().join(""))

/** What a client hears of an attempt that is on disk: 200, 202, or 402 once it has failed. */
const heard = (told: Told, row: Row | undefined): Told =>
  row?.state === "failed" ? { ...told, failed: including(told.failed, row.authorization) } : told

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

/** Time in which every node has heard what any of them knew; what was doubted before counts after it. */
const aSweepPasses = (state: State, emit: Emit<State>) => {
  const doubted = Object.entries(state.database.rows).filter(([, row]) => row.doubt !== "" && !row.isRipe)
  if (doubted.length === 0) return
  const database = doubted.reduce((all, [key]) => patched(all, key, { isRipe: true }), state.database)
  emit("a sweep's time passes", { ...state, lag: state.truth, database })
}

/** A request arrives: its first query. */
const asked = (state: State, server: Server, request: Request, configuration: Configuration, emit: Emit<State>) => {
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
const looked = (state: State, server: Server, key: string, row: Row, { fault }: Configuration, emit: Emit<State>) => {
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
  emit(`server ${server}: looks at ${key}`, { ...state, [server]: looking(work) })
}

/** The finality sweep takes a settled transfer whose block is below a final one; where our relayer can send it again, any. */
const checked = (
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
  emit(says, { ...state, [server]: looking(work) })
}

/** Nothing is sent, and it is looked at again later. */
const letBe = (work: Work): Work => ({ ...work, at: isOfSettled(work) ? "still open" : "defer", outcome: "" })

/** What settlement said goes to the first or a later look of the reconciler; a settled one is looked at again later. */
const submitted = (work: Work, said: Partial<Work>): Work =>
  isOfSettled(work)
    ? letBe(work)
    : looking({
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
const refusedByUs = (work: Work, reason: string): Work =>
  submitted(work, work.isFirst ? { refusal: "", unsent: reason } : { refusal: reason })

const verifies = (state: State, server: Server, configuration: Configuration, emit: Emit<State>) => {
  const work = state[server]
  const { authorization } = work
  const to = (says: string, next: Work) => emit(`server ${server}: ${says}`, { ...state, [server]: next })
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

/** Where a claim goes on that was made: to whoever brings it to the chain, or to what has paid it already. */
const handedIn = (work: Work, { settles }: Configuration): Work => {
  const first = { ...work, isFirst: true, slot: "" }
  if (work.hint !== "") return submitted(first, {})
  return settles === "relayer" ? { ...first, at: "rehearse" } : { ...first, at: "facilitator" }
}

/** Whether a broadcast may still wait with this node; what is in a block does not. */
const waits = ({ pool }: State, transaction: string) => pool.known.includes(transaction)

/** `Groups.join`: whoever waits with nothing on its way travels along. */
const joins = (state: State, server: Server, { adversary, groups }: Configuration, emit: Emit<State>) => {
  const work = state[server]
  const { database, truth } = state
  const { transactions } = execute(truth.blocks, adversary.expiry)
  const isOnItsWay = (note: string) => note !== "" && (waits(state, note) || transactions.includes(note))
  if (groups !== true || work.passenger !== "" || isOnItsWay(work.noted)) return
  for (const [key, row] of Object.entries(database.rows)) {
    if (key === work.key || row.state !== "pending" || isOnItsWay(row.note)) continue
    emit(`server ${server}: takes ${key} along`, {
      ...state,
      [server]: { ...work, passenger: key, passengerNoted: row.note },
    })
  }
}

const rehearses = (state: State, server: Server, configuration: Configuration, emit: Emit<State>) => {
  const work = state[server]
  const { authorization, noted, passenger } = work
  const { expiry } = configuration.adversary
  const { database, pool, truth } = state
  const to = (says: string, next: Work) => emit(`server ${server}: ${says}`, { ...state, [server]: next })
  joins(state, server, configuration, emit)
  const isStuck = noted !== "" && pool.known.includes(noted) && configuration.fault !== "a second nonce"
  let nonce = isStuck ? nonceOf(noted) : execute(truth.blocks, expiry).relayed
  if (isOfSettled(work) && noted !== "" && configuration.fault === "what was taken back is sent in another place")
    nonce = nonceOf(noted) + 1
  if (!isStuck) while (pool.known.some((known) => nonceOf(known) === nonce)) nonce += 1
  const along = database.rows[passenger]?.authorization ?? ""
  const alone = { ...work, passenger: "", passengerNoted: "" }
  for (const [who, { blocks }] of nodes(state)) {
    const revert = dryRun(blocks, authorization, expiry)
    // Whoever cannot be paid for travels alone, where it is refused; the other one stays.
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

/** `Dispatch`: who is not noted is not ours to send any more, and then nobody is sent; who is left goes alone. */
const notes = (state: State, server: Server, configuration: Configuration, emit: Emit<State>) => {
  const work = state[server]
  const { fault } = configuration
  const { making, passenger } = work
  const { leader, passenger: along, state: after } = noted(state, server, work, configuration)
  const to = (says: string, next: Work) => emit(`server ${server}: ${says}`, { ...after, [server]: next })
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

const sends = (state: State, server: Server, configuration: Configuration, emit: Emit<State>) => {
  const work = state[server]
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
    emit(`server ${server}: the nonce of ${making} is taken`, {
      ...state,
      [server]: { ...work, at: "rehearse", noted: making, passengerNoted, making: "" },
    })
    return
  }
  const known = pool.known.filter((one) => one !== rival && one !== making)
  emit(`server ${server}: sends ${making}`, {
    ...state,
    pool: {
      sent: [...new Set([...pool.sent, making])].sort(),
      known: [...known, making].sort(),
      open: [...membersOf(making)].reduce(including, pool.open),
    },
    [server]: after,
  })
  emit(`server ${server}: ${making} does not arrive`, { ...state, [server]: after })
}

/** What only reads: questions to nodes, and what a server reads of the database before it acts on that. */
const reads: ReadonlySet<Work["at"]> = new Set<Work["at"]>(
  ["receipt", "heads", "logs", "receipt of log", "final block", "still final"].concat([
    "verify",
    "owner",
    "trace",
    "fresh",
    "rehearse",
    "refused",
    "newest broadcast",
    "find broadcast",
    "ask for broadcast",
    "lost claim",
    "answer",
  ]) as ReadonlyArray<Work["at"]>,
)

/** Where a look begins. */
const looksFor: ReadonlySet<Work["at"]> = new Set<Work["at"]>(["receipt", "heads"])

/** What work still needs from where it is; anything else is forgotten, so that fewer states differ. */
const inLook = [
  "key",
  "authorization",
  "slot",
  "asks",
  "isSubmitted",
  "hint",
  "ripe",
  "refusal",
  "unsent",
  "fromBlock",
] as const
const inBroadcast = [
  "key",
  "authorization",
  "asks",
  "isFirst",
  "hint",
  "ripe",
  "noted",
  "making",
  "passenger",
  "passengerNoted",
  "fromBlock",
  "outcome",
] as const
const needed: Readonly<Partial<Record<Work["at"], ReadonlyArray<keyof Work>>>> = {
  verify: ["key", "authorization", "slot"],
  rehearse: inBroadcast,
  note: inBroadcast,
  send: [...inBroadcast, "slot"],
  refused: inBroadcast,
  receipt: inLook,
  heads: inLook,
  settle: ["key", "log", "block"],
  fail: ["key", "ripe", "outcome"],
  "fail unsent": ["key", "outcome"],
  defer: ["key", "hint", "isSubmitted", "refusal", "outcome"],
  found: ["key", "log", "block", "outcome"],
  lose: ["key", "ripe", "outcome"],
  "still open": ["key", "outcome"],
  "open again": ["key"],
}

/** A look that finds it open, where nothing was doubted before, has nothing to write. */
const isIdle = ({ at, hint, outcome }: Work, row: Row | undefined) =>
  at === "defer" &&
  (row === undefined ||
    row.state !== "pending" ||
    (hint === row.transaction && row.refusal === "" && (outcome === row.doubt || outcome === "unavailable")))

const trimmed = (work: Work): Work => {
  const names = needed[work.at]
  if (names === undefined) return work
  return Object.assign({ ...idle, at: work.at }, ...names.map((name) => ({ [name]: work[name] })))
}

/** Where looks are whole, what only reads follows at once upon what came before; each question still goes to any node. */
const whole = (server: Server, configuration: Configuration, emit: Emit<State>): Emit<State> => {
  const kept: Emit<State> = (says, to) => emit(says, { ...to, [server]: trimmed(to[server]) })
  const isOver = ({ at, key }: Work) => looksFor.has(at) && !isFollowed(configuration, key)
  if (configuration.looksAreWhole !== true) return kept
  const goOn: Emit<State> = (says, to) =>
    isOver(to[server])
      ? emit(says, { ...to, [server]: idle })
      : reads.has(to[server].at)
        ? works(to, server, configuration, (more, end) =>
            goOn(`${says}; ${more.replace(`server ${server}: `, "")}`, end),
          )
        : isIdle(to[server], to.database.rows[to[server].key])
          ? emit(says, { ...to, [server]: idle })
          : kept(says, to)
  return goOn
}

/** One statement or call of one server. */
const works = (state: State, server: Server, configuration: Configuration, emit: Emit<State>) => {
  const work = state[server]
  const { authorization, key } = work
  const { database, told } = state
  const { expiry } = configuration.adversary
  const row = database.rows[key]
  const say = (says: string, to: State) => emit(`server ${server}: ${says}`, to)
  const to = (says: string, next: Work, rest: Partial<State> = {}) => say(says, { ...state, ...rest, [server]: next })
  const bound = database.claims[authorizationClaim(authorization)]

  switch (work.at) {
    case "verify":
      return verifies(state, server, configuration, emit)
    case "owner": {
      if (row !== undefined) return to("finds its own attempt", idle, { told: heard(told, row) })
      if (bound !== undefined) return to("finds another attempt with it", idle)
      // What the dry run has called used is not believed to be unused.
      return to("finds no attempt with it", { ...work, at: "trace" })
    }
    case "trace": {
      if (database.strays.includes(authorization)) return to("knows it for a stray", idle)
      const asks = work.outcome === "used" ? "used by" : "is unused"
      return to("follows it", { ...work, at: "heads", asks, outcome: "" })
    }
    case "fresh": {
      for (const [who, { final }] of nodes(state)) {
        if (final < endOf(authorization, expiry)) {
          const fromBlock = Math.min(execute(work.block, expiry).height, final)
          to(`a node${who} calls it still valid`, {
            ...work,
            at: "claim",
            asks: "",
            hint: work.log,
            log: "",
            block: "",
            fromBlock,
          })
        }
      }
      return to("its end is past", { ...work, at: "stray" })
    }
    case "stray":
      return isFinal(state, work.block, configuration, (who, isNow) =>
        to(
          `a node${who} calls the stray ${isNow ? "final" : "not final"}`,
          idle,
          isNow && bound === undefined
            ? { database: { ...database, strays: including(database.strays, authorization) } }
            : {},
        ),
      )
    case "claim": {
      const after = claimed(database, work, configuration)
      if (after === undefined) return to("cannot claim", { ...work, at: "lost claim" })
      const next =
        configuration.fault === "claim after network" && work.hint !== ""
          ? submitted({ ...work, isFirst: true }, {})
          : handedIn(work, configuration)
      return to(`claims ${authorization} for ${key}`, next, { database: after })
    }
    case "lost claim": {
      if (row !== undefined) return to("finds its own attempt", idle, { told: heard(told, row) })
      const isFree = bound === undefined && (work.slot === "" || database.claims[work.slot] === undefined)
      return to(isFree ? "claims again" : "finds it taken", isFree ? { ...work, at: "claim" } : idle)
    }
    case "rehearse":
      return rehearses(state, server, configuration, emit)
    case "note":
      return notes(state, server, configuration, emit)
    case "send":
      return sends(state, server, configuration, emit)
    case "refused": {
      const other = work.noted === "" ? (row?.note ?? "") : work.noted
      if (other !== "")
        return to(`knows ${other} may be on its way`, submitted({ ...work, outcome: "" }, { hint: other }))
      return to("knows that nothing was sent", refusedByUs({ ...work, outcome: "" }, work.outcome))
    }
    case "facilitator": {
      const open = { ...state.pool, open: including(state.pool.open, authorization) }
      to("the facilitator names its transaction", submitted(work, { hint: `${authorization}O` }), { pool: open })
      to("the facilitator says nothing clear", submitted(work, {}), { pool: open })
      to("the facilitator is not reached", submitted(work, work.isFirst ? { unsent: "unheard" } : {}))
      // What it refuses again is nothing about what it was handed before.
      return to("the facilitator refuses", submitted(work, work.isFirst ? { refusal: "facilitator" } : {}), {
        pool: open,
      })
    }
    case "hold": {
      to("only looks", letBe(work))
      if (row?.state !== "pending") return
      return say(
        `holds ${key} to hand it in again`,
        written(state, server, { ...work, at: "facilitator" }, key, { note: "held", doubt: "", isRipe: false }),
      )
    }
    case "settle": {
      const next = { ...idle, at: "answer" as const, key }
      return say(
        `records ${key} as paid by ${work.log}`,
        settled(state, server, work, next, configuration, execute(work.block, expiry).height),
      )
    }
    case "fail":
      return say(
        `fails ${key}: ${work.outcome}`,
        failed(state, server, work, { ...idle, at: "answer", key }, configuration),
      )
    case "fail unsent":
      return say(
        `fails ${key} as never sent: ${work.outcome}`,
        failedUnsent(state, server, work, { ...idle, at: "answer", key }, configuration),
      )
    case "defer":
      return say(
        `leaves ${key} open${work.outcome === "" ? "" : `, ${work.outcome}`}`,
        deferred(state, server, work, idle),
      )
    case "answer": {
      if (work.outcome === "") return to("answers", idle, { told: heard(told, row) })
      // A refusal looks its own key up once more.
      if (row !== undefined) return to("finds its own attempt", idle, { told: heard(told, row) })
      const name = work.outcome === "cancelled" ? "failed" : "refused"
      return to(`refuses ${authorization}: sign another one`, idle, {
        told: { ...told, [name]: including(told[name], authorization) },
      })
    }
    case "newest broadcast": {
      const isNewest = row === undefined || row.note === "" || row.note === work.hint
      return isNewest
        ? to("knows of no other broadcast", concluded(work, { is: "poor" }, configuration))
        : to(`knows of ${row.note} as well`, concluded(work, { is: "reverts" }, configuration))
    }
    case "find broadcast": {
      to("lets it be for now", letBe(work))
      if (row === undefined) return
      return row.note === ""
        ? to("finds that it was never sent", { ...work, at: "rehearse" })
        : to(`finds the broadcast ${row.note}`, { ...work, at: "ask for broadcast", noted: row.note })
    }
    case "ask for broadcast": {
      const isMined = execute(state.truth.blocks, expiry).transactions.includes(work.noted)
      // What failed in a group may not have been at fault, and goes once more, alone; alone it failed by itself.
      if (isMined && isGroup(work.noted)) return to(`${work.noted} did not pay it`, { ...work, at: "rehearse" })
      return isMined
        ? to(`${work.noted} is in a block`, letBe({ ...work, noted: "" }))
        : to(`${work.noted} is in no block`, { ...work, at: "rehearse" })
    }
    case "still final":
      return isFinal(state, work.block, configuration, (who, isNow) =>
        to(`a node${who} calls the block ${isNow ? "final" : "not final"}`, {
          ...work,
          at: "found",
          outcome: isNow ? "final" : "pending",
        }),
      )
    case "found": {
      if (row?.finality !== "pending") return to("finds it ended", idle)
      return say(
        `finds ${key} in ${work.log}, ${work.outcome}`,
        written(state, server, idle, key, {
          finality: work.outcome === "final" ? "final" : "pending",
          settledBlock: execute(work.block, expiry).height,
          moved: work.log === row.transaction ? "" : work.log,
          doubt: "",
          isRipe: false,
        }),
      )
    }
    case "lose": {
      const isAgreed =
        row?.finality === "pending" && (configuration.fault === "one look loses" || !work.ripe.startsWith("!"))
      return say(
        `calls ${key} lost`,
        isAgreed ? written(state, server, idle, key, { finality: "lost" }) : { ...state, [server]: idle },
      )
    }
    case "still open": {
      if (row?.finality !== "pending" || row.doubt === work.outcome) return to("changes nothing", idle)
      return say(
        `doubts that ${key} is there: ${work.outcome}`,
        written(state, server, idle, key, { doubt: work.outcome, isRipe: false }),
      )
    }
    case "open again":
      return say(`opens ${key} anew`, written(state, server, idle, key, { state: "pending" }))
    default:
      return looks(state, server, configuration, emit)
  }
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
    // What is in a block waits no longer, and nothing else under its nonce does.
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
      looked(state, server, key, row, configuration, then)
      checked(state, server, key, row, configuration, then)
    }
  }
}

const nothingYet: Database = { rows: {}, claims: {}, strays: "" }

/** Who signs what he is told to sign is told; others' answers change nothing that comes after. */
const deaf =
  (emit: Emit<State>): Emit<State> =>
  (says, to) =>
    emit(says, { ...to, told: unheard })

const unheard: Told = { refused: "", failed: "" }

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
