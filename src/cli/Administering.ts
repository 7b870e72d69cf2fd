/** What `admin` does with the database that the environment names; loaded when it is asked for. */
import { userInfo } from "node:os"
import { Config, Console, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { priceUsd } from "../../schema/payments/Usdc.ts"
import { Administration, type By } from "../admin/Administration.ts"
import * as Audit from "../admin/Audit.ts"
import { Moderation } from "../altar/Moderation.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import * as PublicActs from "../payments/ledger/PublicActs.ts"
import { Selling } from "../payments/ledger/Selling.ts"
import { type InspectedAttempt, make as unresolved } from "../payments/ledger/Unresolved.ts"
import * as Sql from "../platform/Sql.ts"
import { variable } from "../Variables.ts"
import { plain } from "./Output.ts"
import { ungranted } from "./Ungranted.ts"
import { codeOf, Trouble } from "./Trouble.ts"

export interface Asked {
  readonly json: boolean
}
export interface Doing extends Asked {
  readonly by: Option.Option<string>
  readonly why: string
}

const services = Administration.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Selling.layer, Moderation.layer, WitnessChain.layer)),
)

/** PostgreSQL's "there is no such table". */
const noTable = "42P01"

/** What goes wrong is one sentence, as JSON where that was asked for. */
const explained = <A, E, R>({ json }: Asked, doing: Effect.Effect<A, E, R>) =>
  Effect.tapError(doing, (error) =>
    json && Schema.is(Schema.Struct({ message: Schema.String }))(error)
      ? Console.log(JSON.stringify({ ok: false, code: "trouble", message: error.message }))
      : Effect.void,
  )

/** With the services over `DATABASE_URL`. */
const run = <A, E>(asked: Asked, use: Effect.Effect<A, E, Administration | WitnessChain | SqlClient.SqlClient>) =>
  explained(
    asked,
    Effect.gen(function* () {
      const url = yield* Config.Redacted(variable("DATABASE_URL"))
      return yield* Effect.catchCause(
        Effect.provide(use, services.pipe(Layer.provideMerge(Sql.layer(url, 2)))),
        (cause) => ungranted(cause, url),
      )
    }).pipe(Effect.mapError((error) => (codeOf(error) === noTable ? new Trouble({ message: unmigrated }) : error))),
  )

const unmigrated = "This database was not migrated by this version: start a server of this version on it first."

const said = ({ json }: Asked, sentence: string) =>
  Console.log(json ? JSON.stringify({ ok: true, message: sentence }) : sentence)

/** An account without a name, as containers have them, has its number. */
const account = Effect.sync(() =>
  Option.getOrElse(
    Option.liftThrowable(() => userInfo().username)(),
    () => `number ${process.getuid?.() ?? "unknown"}`,
  ),
)

/** What is said is kept beside what is known. */
const byOf = Effect.fnUntraced(function* ({ by, why }: Doing) {
  const said = Option.getOrUndefined(by)
  for (const [flag, text] of [
    ["--why", why],
    ["--by", said],
  ] as const) {
    if (text?.trim() === "")
      return yield* new Trouble({ message: `${flag} is blank: the audit needs it. Nothing changed.` })
  }
  const known = yield* account
  const found: By = { who: said === undefined ? known : `${said} (account ${known})`, why }
  return found
})

const change = <E>(
  flags: Doing,
  sentence: string,
  use: (administration: Administration["Service"], by: By) => Effect.Effect<void, E>,
) =>
  run(
    flags,
    Effect.gen(function* () {
      yield* use(yield* Administration, yield* byOf(flags))
      yield* said(flags, sentence)
    }),
  )

export const pause = (flags: Doing) =>
  change(
    flags,
    "Selling is paused on every server of this database, within two seconds: new purchases answer 503 selling_paused; what is in flight still ends.",
    (administration, by) => administration.pause(by),
  )

export const resume = (flags: Doing) =>
  change(flags, "Selling goes on, within two seconds.", (administration, by) => administration.resume(by))

/** PostgreSQL refuses what is no UUID, and that would read as if the database were at fault. */
const withId = <A, E, R>(flags: Asked, id: string, what: string, use: Effect.Effect<A, E, R>) =>
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu.test(id)
    ? use
    : explained(
        flags,
        Effect.fail(
          new Trouble({
            message: `${plain(id)} is no id of ${what}: an id is a UUID, like 5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d. Nothing changed.`,
          }),
        ),
      )

export const hide = (flags: Doing & { readonly act: string; readonly field: string }) =>
  withId(
    flags,
    flags.act,
    "an act",
    change(flags, `The ${flags.field} of ${flags.act} is hidden by the operator. Record and hashes stay.`, (one, by) =>
      one.hide(flags.act, flags.field, by),
    ),
  )

export const show = (flags: Doing & { readonly act: string; readonly field: string }) =>
  withId(
    flags,
    flags.act,
    "an act",
    change(flags, `The ${flags.field} of ${flags.act} is shown again.`, (one, by) =>
      one.show(flags.act, flags.field, by),
    ),
  )

export const deleteRoom = (flags: Doing & { readonly room: string }) =>
  withId(
    flags,
    flags.room,
    "a room",
    change(flags, `Room ${flags.room} and all its messages are gone.`, (one, by) => one.deleteRoom(flags.room, by)),
  )

export const audit = (flags: Asked & { readonly limit: number }) =>
  run(
    flags,
    Effect.gen(function* () {
      const { list } = yield* Audit.make
      const deeds = yield* list(flags.limit)
      if (flags.json) return yield* Console.log(JSON.stringify({ ok: true, deeds }))
      for (const { at, subject, what, who, why } of deeds)
        yield* Console.log([at, who, what, subject, why].map(plain).join("  "))
    }),
  )

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

export const attempts = (flags: Asked & { readonly limit: number }) =>
  run(
    flags,
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.flatMap(unresolved(sql).list(flags.limit), (found) => tell(flags, found, "Every attempt has ended.")),
    ),
  )

export const attempt = (flags: Asked & { readonly what: string; readonly limit: number }) =>
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
  )

export interface Exporting {
  readonly what: "acts" | "chain"
  readonly format: "csv" | "ndjson"
}

/** Resolved once the text is on its way: what reads slowly holds up the writing, and nothing gathers here. */
const written = (text: string) =>
  Effect.callback<void, Trouble>((resume) => {
    process.stdout.write(text, (error) =>
      resume(
        error === undefined || error === null
          ? Effect.void
          : Effect.fail(new Trouble({ message: "Nobody reads the export." })),
      ),
    )
  })

/** A cell that a spreadsheet takes for a formula is one it must not take for one. */
const cell = (value: unknown) => {
  const text =
    value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value)
  const safe = /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const pageSize = 1_000

/** A page after the other, each forgotten once it is written. */
const pages = <Row extends object, Place, E>(
  { format }: Exporting,
  next: (place: Place | undefined) => Effect.Effect<readonly [rows: ReadonlyArray<Row>, place: Place | undefined], E>,
) =>
  Effect.gen(function* () {
    let place: Place | undefined
    let isFirst = true
    do {
      const [rows, after] = yield* next(place)
      const [first] = rows
      if (first !== undefined) {
        const names = Object.keys(first)
        const head = format === "csv" && isFirst ? `${names.join(",")}\r\n` : ""
        const body = rows
          .map((row) =>
            format === "csv" ? `${Object.values(row).map(cell).join(",")}\r\n` : `${JSON.stringify(row)}\n`,
          )
          .join("")
        yield* written(head + body)
        isFirst = false
      }
      place = after
    } while (place !== undefined)
  })

const Json = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

const exportChain = (flags: Exporting) =>
  run(
    { json: false },
    Effect.flatMap(WitnessChain, (chain) =>
      pages(flags, (from: number | undefined) =>
        Effect.map(
          chain.segment(from ?? 1, pageSize),
          ({ links, next }) => [links, next === null ? undefined : next] as const,
        ),
      ),
    ),
  )

const exportActs = (flags: Exporting) =>
  run(
    { json: false },
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const acts = yield* PublicActs.make
      const all = pages(flags, (last: PublicActs.PublicAct | undefined) =>
        Effect.gen(function* () {
          const found = yield* acts.after(last, pageSize)
          const rows = yield* Effect.forEach(found, ({ receipt, record, ...act }) =>
            Effect.map(Effect.orDie(Effect.all([Json(record), Json(receipt)])), ([made, paid]) => ({
              ...act,
              record: made,
              receipt: paid,
            })),
          )
          return [rows, found.length < pageSize ? undefined : found.at(-1)] as const
        }),
      )
      // An act may be committed after one that was settled later: pages of one moment miss none.
      yield* sql.withTransaction(Effect.andThen(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`, all))
    }),
  )

/** Public rows alone: an export holds nothing that a reader of the API does not see. */
export const exporting = Effect.fn("exporting")(function* (flags: Exporting) {
  if (flags.what === "chain") return yield* exportChain(flags)
  return yield* exportActs(flags)
})
