/** `admin export`: all acts or all links of the chain, as CSV or NDJSON. */
import { Effect, Schema } from "effect"
import { Argument, type Command, Flag } from "effect/cli"
import { SqlClient } from "effect/sql"
import { WitnessChain } from "../../altar/witness/WitnessChain.ts"
import * as PublicActs from "../../payments/ledger/PublicActs.ts"
import { command } from "../Define.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { database, run } from "./AdminDatabase.ts"

const flags = {
  what: Argument.Literals("what", ["acts", "chain"]).pipe(Argument.withDescription("acts, or the witness chain")),
  format: Flag.Literals("format", ["csv", "ndjson"]).pipe(
    Flag.withDescription("csv, or one JSON document a line (ndjson)"),
    Flag.withDefault("ndjson" as const),
  ),
}

type Exporting = Command.Command.Config.Infer<typeof flags>

/** Resolves when the text is flushed, so a slow reader slows the export instead of filling memory. */
const written = (text: string) =>
  Effect.callback<void, CommandFailure>((resume) => {
    process.stdout.write(text, (error) =>
      resume(error ? Effect.fail(new CommandFailure({ message: "The export's output was closed." })) : Effect.void),
    )
  })

/** Escapes cells that a spreadsheet would run as formulas. */
const cell = (value: unknown) => {
  const text =
    value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value)
  const safe = /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const pageSize = 1_000

/** Writes page after page, each dropped once written. */
const pages = Effect.fnUntraced(function* <Row extends object, Place, E>(
  { format }: Exporting,
  next: (place: Place | undefined) => Effect.Effect<readonly [rows: ReadonlyArray<Row>, place: Place | undefined], E>,
) {
  let place: Place | undefined
  let isFirst = true
  do {
    const [rows, after]: readonly [ReadonlyArray<Row>, Place | undefined] = yield* next(place)
    const [first] = rows
    if (first !== undefined) {
      const head = format === "csv" && isFirst ? `${Object.keys(first).join(",")}\r\n` : ""
      const line = (row: Row) =>
        format === "csv" ? `${Object.values(row).map(cell).join(",")}\r\n` : `${JSON.stringify(row)}\n`
      yield* written(head + rows.map(line).join(""))
      isFirst = false
    }
    place = after
  } while (place !== undefined)
})

const Json = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

const exportChain = (asked: Exporting) =>
  Effect.flatMap(WitnessChain, (chain) =>
    pages(asked, (from: number | undefined) =>
      Effect.map(
        chain.segment(from ?? 1, pageSize),
        ({ links, next }) => [links, next === null ? undefined : next] as const,
      ),
    ),
  )

const exportActs = Effect.fnUntraced(function* (asked: Exporting) {
  const sql = yield* SqlClient.SqlClient
  const acts = yield* PublicActs.make
  const all = pages(
    asked,
    Effect.fnUntraced(function* (last: PublicActs.PublicAct | undefined) {
      const found = yield* acts.after(last, pageSize)
      const rows = yield* Effect.forEach(found, ({ receipt, record, ...act }) =>
        Effect.map(Effect.orDie(Effect.all({ record: Json(record), receipt: Json(receipt) })), (parsed) => ({
          ...act,
          ...parsed,
        })),
      )
      return [rows, found.length < pageSize ? undefined : found.at(-1)] as const
    }),
  )
  // An act may be committed after one that settled later; a single snapshot misses none.
  yield* sql.withTransaction(Effect.andThen(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`, all))
})

/** Only public rows: an export holds nothing that a reader of the API cannot see. */
export const exporting = command("export", {
  description: `Write all acts or all links of the chain to stdout, oldest first, with their public data and in constant memory. Acts are read in one transaction, which lasts as long as the output is read. ${database}`,
  summary: "All acts or the chain, as CSV or NDJSON",
  examples: [["spirit-altar admin export acts --format csv > acts.csv", "For a spreadsheet"]],
  flags,
  run: (asked) =>
    asked.what === "chain" ? run({ json: false }, exportChain(asked)) : run({ json: false }, exportActs(asked)),
})
