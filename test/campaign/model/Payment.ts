/** The payment protocol: a server's next step, one for each statement and each call. */
import { handedIn, letBe, notes, refusedByUs, rehearses, sends, submitted } from "./Broadcast.ts"
import { endOf, execute, isGroup } from "./Chain.ts"
import type { Emit } from "./Explorer.ts"
import { authorizationClaim, claimed, deferred, failed, failedUnsent, settled, written } from "./Ledger.ts"
import { concluded, isFinal, inquiries, nodes } from "./Inquiry.ts"
import { heard, including, turnOf, verifies } from "./Requests.ts"
import { type Configuration, idle, type Server, type State } from "./State.ts"

/** One statement or call of one server. */
export const works = (state: State, server: Server, configuration: Configuration, emit: Emit<State>) => {
  const turn = turnOf(state, server, configuration, emit)
  const { say, to, work } = turn
  const { authorization, key } = work
  const { database, told } = state
  const { expiry } = configuration.adversary
  const row = database.rows[key]
  const bound = database.claims[authorizationClaim(authorization)]

  switch (work.at) {
    case "verify":
      return verifies(turn)
    case "owner": {
      if (row !== undefined) return to("finds its own attempt", idle, { told: heard(told, row) })
      if (bound !== undefined) return to("finds another attempt with it", idle)
      // An authorization that the dry run called used is not taken as unused.
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
      return rehearses(turn)
    case "note":
      return notes(turn)
    case "send":
      return sends(turn)
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
      // A second refusal proves nothing about the first submission.
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
      // After a refusal the server looks up its own key again.
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
      // A member that failed in a group may be without fault, and is sent again alone; alone it failed by itself.
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
      return inquiries(state, server, configuration, emit)
  }
}
