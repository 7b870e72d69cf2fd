/** Rows as the database hands them out, decoded by a schema that is compiled once. */
import { Effect, Result, Schema, SchemaTransformation } from "effect"

/** A row does not have the form this version reads: a fault of ours, so it is a defect and never a default. */
export class WrongRow extends Schema.TaggedError<WrongRow>()("WrongRow", {
  /** Whose rows: a table, or what a statement gathers. */
  rows: Schema.String,
  message: Schema.String,
}) {}

/** `int8` and `count(*)`, as a number. */
export const Whole = Schema.BigInt.pipe(
  Schema.decodeTo(Schema.Int, SchemaTransformation.transform({ decode: Number, encode: BigInt })),
)

/** `timestamptz`, as RFC 3339 UTC with milliseconds. */
export const Moment = Schema.Date.pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: (date) => date.toISOString(), encode: (text) => new Date(text) }),
  ),
)

/** The same where PostgreSQL gathered the rows as JSON: its own spelling of a time. */
export const JsonMoment = Schema.DateFromString.pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: (date) => date.toISOString(), encode: (text) => new Date(text) }),
  ),
)

/** Decodes what a statement returns; `rows` names them where one does not have its form. */
export const rowsOf = <Row>(rows: string, row: Schema.Codec<Row, unknown>) => {
  const decode = Schema.decodeUnknownResult(Schema.Array(row))
  return <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<ReadonlyArray<Row>, E, R> =>
    Effect.flatMap(statement, (found) =>
      Result.match(decode(found), {
        onSuccess: (decoded) => Effect.succeed(decoded),
        onFailure: ({ message }) =>
          Effect.die(new WrongRow({ rows, message: `A row of ${rows} does not have its form: ${message}` })),
      }),
    )
}
