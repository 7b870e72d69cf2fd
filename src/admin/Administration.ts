/** The manual changes of an operator. Each change and its audit line are one transaction. */
import { Context, Effect, Layer, Schema } from "effect"
import { Moderation } from "../altar/Moderation.ts"
import { type Refund, Refunds } from "../payments/store/Refunds.ts"
import * as Acknowledgement from "../payments/store/Acknowledgement.ts"
import { Selling } from "../payments/Availability.ts"
import { transaction } from "../platform/Sql.ts"
import * as Removal from "../room/Removal.ts"
import * as Audit from "./Audit.ts"

/** The person who requests a change, and the reason. */
export interface Actor {
  readonly who: string
  readonly why: string
}

/** Nothing was changed, for this reason. */
export class NothingDone extends Schema.TaggedError<NothingDone>()("NothingDone", { message: Schema.String }) {}

export class Administration extends Context.Service<Administration>()("spirit-altar/admin/Administration", {
  make: Effect.gen(function* () {
    const selling = yield* Selling
    const moderation = yield* Moderation
    const refunds = yield* Refunds
    const removeRoom = yield* Removal.make
    const acknowledge = yield* Acknowledgement.make
    const inTransaction = yield* transaction
    const audit = yield* Audit.make

    const audited = <E>(what: string, subject: string, by: Actor, change: Effect.Effect<unknown, E>) =>
      inTransaction(Effect.andThen(change, Effect.asVoid(audit.record({ ...by, what, subject }))))

    /** Fails if the change found its result already in place. */
    const unless = <E>(change: Effect.Effect<boolean, E>, message: string) =>
      Effect.flatMap(change, (isChanged) => (isChanged ? Effect.void : Effect.fail(new NothingDone({ message }))))

    return {
      pause: (by: Actor) =>
        audited("pause", "selling", by, unless(selling.pause(by.why), "Selling is paused already.")),
      resume: (by: Actor) => audited("resume", "selling", by, unless(selling.resume, "Selling is not paused.")),
      hide: (act: string, field: string, by: Actor) => audited(`hide ${field}`, act, by, moderation.hide(act, field)),
      show: (act: string, field: string, by: Actor) => audited(`show ${field}`, act, by, moderation.show(act, field)),
      refunded: (payment: string, refund: Refund, by: Actor) =>
        audited("refunded", refund.originalTransaction, by, refunds.record(payment, refund)),
      acknowledge: (act: string, by: Actor) =>
        audited(
          "acknowledge",
          act,
          by,
          unless(acknowledge(act), `The act ${act} has no lost payment that is to be acknowledged. Nothing changed.`),
        ),
      deleteRoom: (room: string, by: Actor) =>
        audited("delete room", room, by, unless(removeRoom(room), `No room has the id ${room}.`)),
    }
  }),
}) {
  static readonly layer = Layer.effect(Administration, Administration.make)
}
