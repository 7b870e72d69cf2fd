/** Decodes database rows by schemas that are compiled once. */
import { Array, Effect, Option, Schema, SchemaTransformation } from "effect"
import { issuesOf } from "./Issues.ts"
import { log } from "./LogMessages.ts"

/** A row that does not fit its schema. The error names columns without values, since a row may hold secrets. */
export class MalformedRow extends Schema.TaggedError<MalformedRow>()("MalformedRow", {
  table: Schema.String,
  columns: Schema.Array(Schema.String),
}) {
  override get message() {
    return `a row of ${this.table} does not have its form: ${this.columns.join(", ")}`
  }
}

/** `int8` and `count(*)` as a number. */
export const Whole = Schema.BigInt.pipe(
  Schema.decodeTo(Schema.Int, SchemaTransformation.transform({ decode: Number, encode: BigInt })),
)

const asText = SchemaTransformation.transform({
  decode: (date: Date) => date.toISOString(),
  encode: (text: string) => new Date(text),
})

/** `timestamptz` as RFC 3339 UTC with milliseconds. */
export const Moment = Schema.Date.pipe(Schema.decodeTo(Schema.String, asText))

/** The same for rows that PostgreSQL aggregated as JSON, in its own format of a time. */
export const JsonMoment = Schema.DateFromString.pipe(Schema.decodeTo(Schema.String, asText))

const malformed = (table: string, error: Schema.SchemaError) =>
  Effect.die(new MalformedRow({ table, columns: issuesOf(error).map(({ path }) => path) }))

/** A reader of a table's rows. The schema is compiled once; a malformed row is a defect. */
export const rowReader = <S extends Schema.Decoder<unknown>>(table: string, schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (row: unknown): Effect.Effect<S["Type"]> => Effect.catch(decode(row), (error) => malformed(table, error))
}

/** Decodes the result of a statement. `table` names its rows in an error. */
export const rowsOf = <Row>(table: string, row: Schema.Codec<Row, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(row))
  return <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<ReadonlyArray<Row>, E, R> =>
    Effect.flatMap(statement, (rows) => Effect.catch(decode(rows), (error) => malformed(table, error)))
}

/** Reads rows and leaves out malformed ones with a log line, so that they do not block the others. */
export const readable = <A, R>(rows: ReadonlyArray<unknown>, decode: (row: unknown) => Effect.Effect<A, never, R>) =>
  Effect.map(
    Effect.forEach(rows, (row) =>
      decode(row).pipe(
        Effect.asSome,
        Effect.catchCause((cause) => Effect.as(log("row skipped", {}, cause), Option.none<A>())),
      ),
    ),
    Array.getSomes,
  )
