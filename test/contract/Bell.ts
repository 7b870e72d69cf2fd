/** An act that this checkout does not sell: everything that docs/acts.md says to write for one. */
import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { Api } from "../../schema/Api.ts"
import { AltarRequests, Unknown } from "../../schema/altar/Requests.ts"
import { SpiritId, SpiritNotFound } from "../../schema/altar/Spirit.ts"
import { Timestamp, Url, Uuid } from "../../schema/Common.ts"
import { settledAct } from "../../schema/payments/Act.ts"
import { paidErrors, paidHeaders, settled } from "../../schema/payments/Endpoint.ts"
import { paid } from "../../schema/payments/Sale.ts"
import { publicText } from "../../schema/PublicText.ts"
import { at, envelope } from "../../schema/Refusal.ts"
import { paidActs, ActTexts } from "../../src/altar/Acts.ts"
import { actText } from "../../src/altar/ActText.ts"
import * as PaidRoutes from "../../src/altar/PaidRoutes.ts"
import * as Middleware from "../../src/server/Middleware.ts"
import { actsByName, paidAct, PaidActs } from "../../src/payments/Act.ts"
import { now } from "../../src/platform/Time.ts"
import { PublicUrl } from "../../src/platform/PublicUrl.ts"
import * as Routes from "../../src/server/Routes.ts"
import type * as Server from "../../src/server/Server.ts"

// The content of schema/altar/Bell.ts.

const BellBody = Schema.Struct({
  tone: Schema.Literals(["low", "high"]).annotate({ description: "How it sounds.", examples: ["low"] }),
  inscription: Schema.optionalKey(publicText(40).annotate({ description: "Cast into the bell, in public." })),
}).annotate({ identifier: "BellBody", description: "How a bell is rung.", examples: [{ tone: "low" }] })

const Bell = Schema.Struct({
  id: Uuid,
  permalink: Url,
  spirit: SpiritId,
  tone: BellBody.fields.tone,
  inscription: Schema.NullOr(publicText(40)),
  rungAt: Timestamp,
}).annotate({ identifier: "Bell", description: "A bell that was rung, once for each spirit and tone." })

class AlreadyRung extends Schema.Error<AlreadyRung>("AlreadyRung")(
  envelope("already_rung", "This bell has been rung.", "Choose another spirit or tone."),
  at(409, "The bell of this spirit and tone was rung."),
) {}

const BellSettled = settledAct(Bell).annotate({ identifier: "BellSettled", description: "A settled bell." })

export const ringBell = paid(
  HttpApiEndpoint.post("ringBell", "/api/bells/:familiarId", {
    params: { familiarId: SpiritId },
    headers: paidHeaders,
    payload: BellBody,
    success: settled(BellSettled),
    error: [...paidErrors, SpiritNotFound, AlreadyRung],
  }).annotate(Unknown, () => new SpiritNotFound({})),
  {
    priceAtomic: 10_000n,
    kind: "bell",
    plural: "Bells",
    thing: "the stroke of a bell",
    command: "ring",
    repetition: "once",
    description: "One stroke of a spirit's bell",
    parameter: "spirit-id",
    title: "Ring a bell",
    summary: "Once for each spirit and tone.",
  },
)

class BellsGroup extends HttpApiGroup.make("bells").add(ringBell).middleware(AltarRequests) {}

// The content of src/altar/bells/Bells.ts, with its migration.

const ringing = actText(Bell, {
  sentence: ({ spirit, tone }) => `rang the ${tone} bell of ${spirit}`,
  labels: {
    id: null,
    permalink: null,
    spirit: ["Spirit", "spirit"],
    tone: "Tone",
    inscription: null,
    rungAt: ["Rung", "time"],
  },
  hideable: { table: "bells", texts: { inscription: "inscription" } },
})

const bells = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const publicUrl = yield* PublicUrl
  yield* Effect.orDie(
    sql`CREATE TABLE bells (id uuid PRIMARY KEY, spirit text NOT NULL, tone text NOT NULL, inscription text,
      hidden text[] NOT NULL DEFAULT '{}')`,
  )
  return paidAct(ringBell, {
    claims: ({ familiarId, tone }) => ({ slots: [`bell:${familiarId}:${tone}`] }),
    conflict: () => new AlreadyRung({}),
    record: Effect.fn("Bells.record")(function* (paid) {
      const rungAt = yield* now
      const rung = paid.map(({ id, input: { familiarId: spirit, inscription = null, tone } }) => ({
        id,
        spirit,
        tone,
        inscription,
      }))
      yield* Effect.forEach(rung, (bell) => sql`INSERT INTO bells ${sql.insert(bell)}`, { discard: true })
      return rung.map((bell) => ({
        record: { ...bell, permalink: `${publicUrl}/acts/${bell.id}`, rungAt },
        path: `/acts/${bell.id}`,
        agentName: null,
        at: rungAt,
      }))
    }),
  })
})

// One line of schema/altar/Sales.ts and one of src/altar/Acts.ts.

const contract = Api.add(BellsGroup)

export const actTexts = Layer.effect(
  ActTexts,
  Effect.map(ActTexts, (altar) => new Map([...altar, ["ringBell", ringing]])),
)

export const house: Server.Site = {
  routes: Routes.routesOf(contract).pipe(Layer.provide([Routes.handlers, PaidRoutes.routes(BellsGroup)])),
  middleware: Middleware.layer(contract),
  acts: Layer.effect(
    PaidActs,
    Effect.zipWith(PaidActs, bells, (altar, bell) => actsByName([...altar.values(), bell])),
  ).pipe(Layer.provide(paidActs), Layer.merge(actTexts)),
}
