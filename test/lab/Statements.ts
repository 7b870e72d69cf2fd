/** Counts the statements that effects send to the database. */
import { Context, Effect } from "effect"
import { Statement } from "effect/sql"

/** A context that counts every statement sent in it. */
export const counting = () => {
  const sent = { statements: 0 }
  const context = Context.make(Statement.CurrentTransformer, (statement) =>
    Effect.sync(() => {
      sent.statements += 1
      return statement
    }),
  )
  return { sent, context }
}

/** How many statements an effect sends, however it ends. */
export const statementsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const { context, sent } = counting()
    return Effect.as(Effect.exit(Effect.provideContext(effect, context)), sent).pipe(
      Effect.map((all) => all.statements),
    )
  })
