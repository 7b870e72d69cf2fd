/** Every log message by level, with the operator's action or the meaning of the event. Repeated ones go through `Lasting.ts`. */
import { type Cause, Effect } from "effect"

/** `admin messages` prints them. Names between asterisks are sections of docs/operating.md. */
export const messages = {
  /** Stored data contradicts itself. */
  Fatal: {
    "hash chain broken": "A stored row was changed. Pause sales and compare the chain with a backup.",
    "reveal broken": "Words, salt or commitment of `act` were changed. Restore them from a backup.",
    "log stopped": "Follow *A log that stopped*. Stones are sold as before.",
  },
  /** Someone must act. */
  Error: {
    "database unreachable": "Start the database or correct `DATABASE_URL`. Every request answers 503 until then.",
    "database lost during start": "Nothing, if it comes back: the start is retried every second.",
    "block not scanned": "Use a node that answers all logs of a block. Compare the block's payments by hand.",
    "facilitator unavailable": "Read the cause. Sales resume when the facilitator settles again.",
    "page failed": "Report the cause: it is a bug, or a missing privilege, which `reason` names.",
    "payment lost": "Follow *A lost payment*.",
    "payments unavailable": "`reason` says why: send gas, change `RPC_URL` or `PAY_TO`.",
    "relayer out of gas": "Send gas to the relayer. Sales resume by themselves.",
    "request failed": "Report the cause: it is a bug, or a missing privilege, which `reason` names.",
    "row skipped": "Read the cause: a stored row is malformed.",
    "tool failed": "Report the cause: it is a bug, or a missing privilege, which `reason` names.",
    "unmatched payment": "Follow *Refund a payment*.",
    "unmatched payment not recorded": "Record `transaction` by hand, then follow *Refund a payment*.",
  },
  /** Degraded: the server retries. Act if the message stays. */
  Warn: {
    "authorization search failed": "Check `RPC_URL`. The buyer retries.",
    "broadcast record failed": "Check the database. Nothing is sent without its record.",
    "card processor unavailable": "Check the network and the processor's status page.",
    "chain inquiry failed": "Change `RPC_URL`. Attempts stay pending.",
    "checkpoint publication failed": "Read the cause, and run `spirit-altar log status`.",
    "configuration advice": "`advice` names the variable to set.",
    "final block replaced": "Check `RPC_URL`: the node has another block where a final one was read.",
    "limit cleanup failed": "Check the database.",
    "log rereading failed": "Read the cause, and run `spirit-altar log status`.",
    "log waiting": "Wait a minute, then follow *A log that waits* for what `evidence` names.",
    "cosigner not signing": "Ask the operator of `cosigner`. The rest of the log goes on.",
    "cosigner recall failed": "Ask the operator of `cosigner`.",
    "migration waiting": "End the dump or transaction that holds a table. The server retries every 10 seconds.",
    "payment not made": "Nothing. Its wallet may have one payment in flight for an hour.",
    "payment not settled":
      "Read the facilitator's `reason`. If it names another address, set `FACILITATOR_URL` to it. The attempt stays pending.",
    "payment orphaned": "Nothing. The server resubmits the payment.",
    "payment verification failed": "Check `RPC_URL`. The buyer retries.",
    "reconciliation failed": "Read the cause: node, database or gas.",
    "relayer gas lost": "Watch the relayer's balance. Pause sales if the failed transfers cost too much.",
    "resubmission failed": "Read the cause: node, database or gas.",
    "room cleanup failed": "Check the database.",
    "room limit reached": "Raise `ROOMS_MAX` if the disk allows.",
    "standing check failed": "Read the cause: node or database.",
    "sweep failed": "Read the cause: node or database.",
    "transactions not tended": "Read the cause: node or database.",
    "transfer scan failed": "Check `RPC_URL`. The scan goes on where it was.",
    "transfer sweep failed": "Read the cause: node or database.",
  },
  Info: {
    attempt: "An attempt changed its state.",
    "database reachable": "The database answers again.",
    "log confirmed": "The log may sign again.",
    "cosigner signing": "A cosigner signs again.",
    "payments available": "Sales resumed.",
    "room limit cleared": "Rooms can be created again.",
    "sales paused": "The operator paused sales.",
    "server listening": "The socket is open.",
    "transaction replaced": "A transaction of the relayer waited too long, and was replaced at a higher fee.",
  },
  Debug: { "attempt deferred": "An inquiry left an attempt pending." },
} as const

type Messages = typeof messages
type Level = keyof Messages
export type LogMessage = { readonly [One in Level]: keyof Messages[One] }[Level]

const levels: ReadonlyMap<string, Level> = new Map(
  (["Fatal", "Error", "Warn", "Info", "Debug"] as const).flatMap((level) =>
    Object.keys(messages[level]).map((message) => [message, level] as const),
  ),
)

/** Logs a message at its level. Everything that varies is a field. */
export const log = (
  message: LogMessage,
  fields: Readonly<Record<string, unknown>> = {},
  ...cause: ReadonlyArray<Cause.Cause<unknown> | Error>
): Effect.Effect<void> =>
  Effect.logWithLevel(levels.get(message) ?? "Error")(
    message,
    ...(Object.keys(fields).length === 0 ? [] : [fields]),
    ...cause,
  )
