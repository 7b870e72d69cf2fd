/** Two paid requests at once, as pure functions. */
import type * as AltarHarness from "./AltarHarness.ts"
import * as Model from "./AltarModel.ts"

/** A request with a payment, and the server it is sent to. */
export interface Paid {
  readonly at: AltarHarness.At
  readonly key: number
  readonly order: Model.Order
  readonly authorization: number
}

/** The altar after two concurrent requests, if one after the other is answered so; the state of the first one is unknown then. */
export const inTurn = (
  { altar, now, truth }: { readonly altar: Model.Altar; readonly now: number; readonly truth: Model.Truth },
  first: Paid,
  firstSaid: string,
  second: Paid,
  secondSaid: string,
) => {
  if (!Model.paid(altar, truth, first.key, first.order, first.authorization, now).includes(firstSaid)) return undefined
  const between = Model.afterPaid(altar, first.key, first.order, first.authorization, firstSaid, now)
  const open = {
    ...between,
    attempts: between.attempts.map((attempt) =>
      attempt.key === first.key && Model.attemptOf(altar, first.key) === undefined
        ? { ...attempt, state: "pending" as const }
        : attempt,
    ),
  }
  const allowed = [between, open].flatMap((state) =>
    Model.paid(state, truth, second.key, second.order, second.authorization, now),
  )
  return allowed.includes(secondSaid)
    ? Model.afterPaid(between, second.key, second.order, second.authorization, secondSaid, now)
    : undefined
}
