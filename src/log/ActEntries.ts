/** All settled acts as entries: hashes of what their buyers got. The settling transaction gives each its position. */
import { hash } from "node:crypto"
import { Effect, Layer, Option, Schema } from "effect"
import { actEntryOf } from "../../schema/log/ActEntry.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import { ChainBroken } from "../altar/HashChain.ts"
import { ActOrder } from "../payments/store/ActOrder.ts"
import { signedReceiptIn } from "../payments/Receipt.ts"
import { rowsOf, Whole } from "../platform/Rows.ts"
import { Entries, type Found, foundColumns } from "./Entries.ts"
import { LogStore } from "./LogStore.ts"

const segmentsOf = rowsOf(
  "acts",
  Schema.Struct({ ...foundColumns, parts: Schema.NullOr(foundColumns.parts), count: Whole }),
)

const Members = Schema.Record(Schema.String, Schema.Json)
const answerOf = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ receipt: Members })))

const sha256 = (text: string) => hash("sha256", text, "hex")

/** The entry of an act; none if its stored answer is not one. */
const entryOf = ({ parts }: Pick<Found, "parts">) => {
  const [act = "", answer, header = ""] = parts
  return Option.map(answerOf(answer), ({ receipt }) => {
    const signed = signedReceiptIn(header)
    return actEntryOf({
      act,
      receipt: Option.match(signed, {
        onNone: () => ({ form: "json", hash: sha256(canonicalJson(receipt)) }),
        onSome: (jws) => ({ form: "jws", hash: sha256(jws) }),
      }),
      transaction: typeof receipt["transaction"] === "string" ? receipt["transaction"] : null,
    })
  })
}

/** Sales wait for each statement, and an old snapshot makes each slow. */
const placedAtOnce = 1_024

export const layer = Layer.effect(
  Entries,
  Effect.gen(function* () {
    const acts = yield* ActOrder
    const store = yield* LogStore

    const broken = (sequence: number, what: string) => new ChainBroken({ sequence, message: `act ${sequence} ${what}` })

    const read = (found: Found) =>
      Effect.mapError(Effect.fromOption(entryOf(found)), () => broken(found.sequence, "has no first answer"))

    return Entries.of({
      place: Effect.gen(function* () {
        // A lock is a write, which an idle log does not need.
        if (!(yield* acts.isAnyWaiting)) return
        yield* store.atOnce(
          Effect.flatMap(store.lockHead, (head) =>
            Option.isNone(head) ? Effect.void : Effect.asVoid(acts.place(placedAtOnce)),
          ),
        )
      }),
      segment: Effect.fnUntraced(function* (from, limit) {
        const rows = yield* segmentsOf(acts.segment(from, limit))
        const count = rows[0]?.count ?? 0
        const found = rows.flatMap(({ parts, sequence }) =>
          sequence === null || parts === null ? [] : [{ sequence, parts }],
        )
        const expected = Math.max(0, Math.min(limit, count - from + 1))
        const gap = found.findIndex(({ sequence }, at) => sequence !== from + at)
        if (gap >= 0 || found.length !== expected) {
          return yield* broken(from + (gap < 0 ? found.length : gap), "is missing")
        }
        const entries = yield* Effect.forEach(found, (one) =>
          Effect.map(read(one), (bytes) => ({ sequence: one.sequence, bytes })),
        )
        return { entries, count }
      }),
      find: acts.one,
      read,
    })
  }),
)
