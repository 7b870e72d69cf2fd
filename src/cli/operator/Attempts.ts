/** `admin attempts` and `admin attempt`: purchases, what was found out of each, and what is left to a person. */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { priceUsd } from "../../../schema/payments/Usdc.ts"
import { type InspectedAttempt, make as unresolved } from "../../payments/ledger/Unresolved.ts"
import { common } from "../Flags.ts"
import { plain } from "../Output.ts"
import { Trouble } from "../Trouble.ts"
import { type Asked, database, limit, run } from "./AdminDatabase.ts"

const { json } = common

const age = (seconds: number) =>
  seconds < 120
    ? `${seconds} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3_600)} h`

/** What was found out so far. */
const evidenceOf = (attempt: InspectedAttempt): string =>
  [
    attempt.transaction === null ? undefined : `transaction ${attempt.transaction}`,
    attempt.broadcast === null
      ? undefined
      : `our relayer sent ${attempt.broadcast} (nonce ${attempt.broadcastNonce}) at ${attempt.broadcastAt}`,
    attempt.refusal === null ? undefined : `the facilitator refused it: ${attempt.refusal}`,
    attempt.doubtedReason === null ? undefined : `one look found ${attempt.doubtedReason}; a second has to agree`,
    attempt.reason === null ? undefined : `ended as ${attempt.reason}`,
  ]
    .filter((part) => part !== undefined)
    .join("; ") || "nothing was found on the chain yet"

/** Evidence alone ends an attempt: what is left to a person is to see that it can be found. */
const adviceOf = ({ checks, finality, isPayable, rail, state, validBefore }: InspectedAttempt): string => {
  if (finality === "lost")
    return "The chain took its transfer back. Deliver or refund as you see fit, then say that you have looked: docs/operations.md, A lost payment."
  if (state !== "pending") return "It has ended; nothing is to be done."
  if (rail === "card") return "See that the card processor answers; it is asked again by itself."
  const until = new Date(Number(validBefore) * 1000)
  return isPayable
    ? `It can still be paid${Number.isNaN(until.getTime()) ? "" : ` until ${until.toISOString()}`}; wait, and see that RPC_URL answers.`
    : checks > 20
      ? "Its time is over and nobody could prove the end: is RPC_URL behind, without logs, or without the final block? spirit-altar serve --check says."
      : "Its time is over; it ends once a final block proves it."
}

const told = (attempt: InspectedAttempt) =>
  [
    `${attempt.id}  ${attempt.state}${attempt.finality === "lost" ? ", lost" : ""}`,
    `  key       ${attempt.idempotencyKey}`,
    `  bought    ${attempt.act} for ${priceUsd(BigInt(attempt.amountAtomic))} by ${attempt.payer}, ${age(attempt.ageSeconds)} ago`,
    `  evidence  ${evidenceOf(attempt)}`,
    ...(attempt.state === "pending" ? [`  next look ${attempt.nextCheckAt}, after ${attempt.checks} so far`] : []),
    `  to do     ${adviceOf(attempt)}`,
  ]
    .map(plain)
    .join("\n")

const tell = (flags: Asked, attempts: ReadonlyArray<InspectedAttempt>, none: string) =>
  flags.json
    ? Console.log(
        JSON.stringify({
          ok: true,
          attempts: attempts.map((one) => ({ ...one, evidence: evidenceOf(one), toDo: adviceOf(one) })),
        }),
      )
    : Console.log(attempts.length === 0 ? none : attempts.map(told).join("\n\n"))

export const attempts = Command.make("attempts", { json, limit }, (flags) =>
  run(
    flags,
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.flatMap(unresolved(sql).list(flags.limit), (found) => tell(flags, found, "Every attempt has ended.")),
    ),
  ),
).pipe(
  Command.withDescription(
    `List purchases whose outcome is not known yet, oldest first: age, evidence so far, the next look, and what a person can do. Nothing is ended by hand: evidence alone does. ${database}`,
  ),
  Command.withShortDescription("Purchases whose outcome is not known"),
  Command.withExamples([{ command: "spirit-altar admin attempts", description: "What is open" }]),
)

export const attempt = Command.make(
  "attempt",
  {
    what: Argument.String("what").pipe(
      Argument.withDescription("An idempotency key, an id, a transaction hash, or a wallet"),
    ),
    json,
    limit,
  },
  (flags) =>
    run(
      flags,
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.flatMap(unresolved(sql).find(flags.what, flags.limit), (found) =>
          found.length === 0
            ? Effect.fail(
                new Trouble({ message: `No attempt has the key, id, transaction or wallet ${plain(flags.what)}.` }),
              )
            : tell(flags, found, ""),
        ),
      ),
    ),
).pipe(
  Command.withDescription(`Look up what became of a purchase. ${database}`),
  Command.withShortDescription("What became of a purchase"),
  Command.withExamples([{ command: "spirit-altar admin attempt 0x…", description: "By wallet or transaction" }]),
)
