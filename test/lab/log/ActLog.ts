/** The log over all acts without a server around it: its stages, and what they should have made of the acts there are. */
import { createHash } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { hex, utf8 } from "../../../schema/log/Bytes.ts"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import * as ActEntries from "../../../src/log/ActEntries.ts"
import { Confirmation } from "../../../src/log/Confirmation.ts"
import { Integrator } from "../../../src/log/Integrator.ts"
import { LastSigned } from "../../../src/log/LastSigned.ts"
import { acts } from "../../../src/log/LogKind.ts"
import { LogStore } from "../../../src/log/LogStore.ts"
import { PublishedLog } from "../../../src/log/PublishedLog.ts"
import { Publisher } from "../../../src/log/Publisher.ts"
import { leafOf } from "../../../src/log/Tree.ts"
import { Witnesses } from "../../../src/log/Witnesses.ts"
import { ActOrder } from "../../../src/payments/ledger/ActOrder.ts"
import * as Sql from "../../../src/platform/Sql.ts"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import { signing } from "./LogFixture.ts"
import { MemoryLog } from "./MemoryLog.ts"

/** A server of the acts' log on a connection of its own, without loops. */
export const server = (batch: number, url?: string) =>
  Layer.fresh(
    Layer.mergeAll(Integrator.layerNoLoop({ batch }), Publisher.layerNoLoop(signing), PublishedLog.layer(signing)).pipe(
      Layer.provide(ActEntries.layer.pipe(Layer.provide(ActOrder.layer))),
      Layer.provideMerge(LogStore.layerOf(acts)),
      Layer.provide([Confirmation.layer, Witnesses.none, LastSigned.none]),
      Layer.provide(
        Layer.unwrap(
          Effect.map(LocalDatabase, (local) => Sql.layer(url === undefined ? local.url : Redacted.make(url), 2)),
        ),
      ),
      Layer.orDie,
    ),
  )

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** The signed receipt in a `PAYMENT-RESPONSE`. */
export const jwsIn = (header: string): string | undefined =>
  JSON.parse(Buffer.from(header, "base64").toString()).extensions?.["offer-receipt"]?.info.receipt.signature

/** The entry of an act by docs/proofs.md, from its first answer. */
export const entryOf = (id: string, answer: string, header: string) => {
  const { receipt } = JSON.parse(answer)
  const jws = jwsIn(header)
  return [
    "spirit-altar/act/v1",
    `act ${id}`,
    jws === undefined ? `receipt json ${sha256(canonicalJson(receipt))}` : `receipt jws ${sha256(jws)}`,
    `transaction ${receipt.transaction ?? "-"}`,
    "",
  ].join("\n")
}

/** The acts by position, and the tree that they make. */
export const expected = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: string; position: number | null; answer: string; paymentResponse: string }>`
    SELECT a.id::text, a.log_sequence::int AS position, p.answer, p.payment_response
    FROM acts a JOIN payment_attempts p ON p.id = a.id ORDER BY a.log_sequence`
  const log = new MemoryLog()
  for (const { answer, id, paymentResponse } of rows) log.append([leafOf(utf8(entryOf(id, answer, paymentResponse)))])
  return { ids: rows.map(({ id }) => id), positions: rows.map(({ position }) => position), root: hex(log.root) }
})

/** The head of the tree in the database. */
export const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [head] = yield* sql<{ size: number; root: Uint8Array; stopped: string | null }>`
    SELECT size::int AS size, root, stopped_reason AS stopped FROM log_head WHERE id = 2`
  return head === undefined ? yield* Effect.die("no head") : { ...head, root: hex(head.root) }
})
