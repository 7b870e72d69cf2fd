/** A privilege that the database role lacks, as one sentence with the statement that grants it. */
import { type Cause, Effect, Redacted } from "effect"
import { missingGrant, roleOf } from "../../platform/Sql.ts"
import { Trouble } from "../Trouble.ts"

/** The same failure, unless a privilege is missing. */
export const ungranted = <E>(
  cause: Cause.Cause<E>,
  url: Redacted.Redacted<string>,
): Effect.Effect<never, E | Trouble> => {
  const message = missingGrant(cause, roleOf(Redacted.value(url)))
  return message === undefined ? Effect.failCause(cause) : Effect.fail(new Trouble({ message: `${message}.` }))
}
