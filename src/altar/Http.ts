/** The altar's endpoints: each hands on to its service and says nothing itself. */
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import { UnsealBody } from "../../schema/altar/Candle.ts"
import { BadRequest } from "../../schema/Errors.ts"
import { RevealBody } from "../../schema/altar/Witness.ts"
import { fresh, freshJson, readJson } from "../platform/http/Responses.ts"
import { issuesOf } from "../platform/Issues.ts"
import { PaidHttp } from "../payments/PaidHttp.ts"
import { Acts } from "./Acts.ts"
import { Candles } from "./candles/Candles.ts"
import { CandleWall } from "./candles/CandleWall.ts"
import { Catalogs } from "./guide/Catalogs.ts"
import { Collectibles } from "./collectibles/Collectibles.ts"
import { FieldGuide } from "./guide/FieldGuide.ts"
import { Keepers } from "./keepers/Keepers.ts"
import { limits, openings, questions } from "./Limits.ts"
import { Prayers } from "./prayers/Prayers.ts"
import { PublicationChain } from "./guide/PublicationChain.ts"
import { WitnessChain } from "./witness/WitnessChain.ts"
import { WitnessStones } from "./witness/WitnessStones.ts"

const strict = { onExcessProperty: "error", errors: "all" } as const

/** The body of a free POST in its documented form, or a `bad_request` that says where it is not. */
const bodyAs = <A>(schema: Schema.Codec<A, Schema.Json>) => {
  const decode = Schema.decodeUnknownEffect(schema, strict)
  return (json: Schema.Json) => Effect.mapError(decode(json), (error) => new BadRequest({ issues: issuesOf(error) }))
}

const revealBody = bodyAs(RevealBody)
const unsealBody = bodyAs(UnsealBody)

const first = (isFirst: boolean, body: object) =>
  HttpServerResponse.jsonUnsafe({ ok: true, ...body, replayed: !isFirst }, { status: isFirst ? 201 : 200 })

const witness = HttpApiBuilder.group(Api, "witness", (handlers) =>
  Effect.gen(function* () {
    const stones = yield* WitnessStones
    const chain = yield* WitnessChain
    const paid = yield* PaidHttp
    const limit = yield* limits
    return handlers
      .handleRaw("setWitnessStone", ({ headers, request }) =>
        paid.pay(stones.act, { request, headers, path: "/api/witness", parameters: {} }),
      )
      .handleRaw("listWitness", ({ query, request }) =>
        stones.list(query.limit ?? 20, query.before).pipe(
          Effect.map((list) => freshJson(request, { ok: true, ...list })),
          Effect.catchTag("ChainBroken", Effect.die),
        ),
      )
      .handleRaw("readChain", ({ query, request }) =>
        chain.segment(query.from ?? 1, query.limit ?? 50).pipe(
          Effect.map(({ anchor, head, links, next }) =>
            freshJson(request, { ok: true, anchor, entries: links, head, next }),
          ),
          Effect.catchTag("ChainBroken", Effect.die),
        ),
      )
      .handleRaw("readWitness", ({ params, request }) =>
        stones.get(params.witnessId).pipe(
          Effect.map(({ receipt, stone }) =>
            fresh(request, `{"ok":true,"stone":${JSON.stringify(stone)},"receipt":${receipt}}`),
          ),
          Effect.catchTag("ChainBroken", Effect.die),
        ),
      )
      .handleRaw("revealWitness", ({ params, request }) =>
        limit(openings, request).pipe(
          Effect.andThen(readJson(request)),
          Effect.flatMap(revealBody),
          Effect.flatMap((body) => stones.reveal(params.witnessId, body)),
          Effect.map((revealed) => first(revealed.first, { stone: revealed.stone })),
        ),
      )
  }),
)

const paidActs = HttpApiBuilder.group(Api, "paid", (handlers) =>
  Effect.gen(function* () {
    const paid = yield* PaidHttp
    const prayers = yield* Prayers
    const keepers = yield* Keepers
    const collectibles = yield* Collectibles
    const candles = yield* Candles
    const limit = yield* limits
    return handlers
      .handleRaw("offerPrayer", ({ headers, params, query, request }) =>
        paid.pay(prayers.act, {
          request,
          headers,
          path: `/api/prayers/${params.familiarId}${query.day === undefined ? "" : `?day=${query.day}`}`,
          parameters: { ...params, ...query },
        }),
      )
      .handleRaw("takeIn", ({ headers, params, request }) =>
        paid.pay(keepers.act, { request, headers, path: `/api/acquire/${params.familiarId}`, parameters: params }),
      )
      .handleRaw("collect", ({ headers, params, query, request }) =>
        paid.pay(collectibles.act, {
          request,
          headers,
          path: `/api/elements/${params.elementId}/collect${query.spirit === undefined ? "" : `?spirit=${query.spirit}`}`,
          parameters: { ...params, ...query },
        }),
      )
      .handleRaw("lightDay", ({ headers, params, request }) =>
        paid.pay(candles.acts.day, {
          request,
          headers,
          path: `/api/candles/day/${params.familiarId}`,
          parameters: params,
        }),
      )
      .handleRaw("lightWeek", ({ headers, params, request }) =>
        paid.pay(candles.acts.week, {
          request,
          headers,
          path: `/api/candles/week/${params.familiarId}`,
          parameters: params,
        }),
      )
      .handleRaw("lightMonth", ({ headers, params, request }) =>
        paid.pay(candles.acts.month, {
          request,
          headers,
          path: `/api/candles/month/${params.familiarId}`,
          parameters: params,
        }),
      )
      .handleRaw("unseal", ({ params, request }) =>
        limit(openings, request).pipe(
          Effect.andThen(readJson(request)),
          Effect.flatMap(unsealBody),
          Effect.flatMap((body) => candles.unseal(params.candleId, body)),
          Effect.map(({ candle, replayed }) => first(!replayed, { candle })),
        ),
      )
  }),
)

const reads = HttpApiBuilder.group(Api, "reads", (handlers) =>
  Effect.gen(function* () {
    const guide = yield* FieldGuide
    const wall = yield* CandleWall
    const acts = yield* Acts
    const catalogs = yield* Catalogs
    const publications = yield* PublicationChain
    return handlers
      .handleRaw("spirits", ({ request }) =>
        Effect.map(guide.spirits, (list) => freshJson(request, list)).pipe(Effect.orDie),
      )
      .handleRaw("altars", ({ request }) =>
        Effect.map(guide.altars, (list) => freshJson(request, list)).pipe(Effect.orDie),
      )
      .handleRaw("field", ({ request }) =>
        Effect.map(guide.field, (field) => freshJson(request, field)).pipe(Effect.orDie),
      )
      .handleRaw("candles", ({ query, request }) =>
        wall.list({ spirit: query.spirit, limit: query.limit ?? 20, before: query.before }).pipe(
          Effect.map((list) => freshJson(request, list)),
          Effect.orDie,
        ),
      )
      .handleRaw("listActs", ({ query, request }) =>
        acts.list(query.limit ?? 20, query.before).pipe(
          Effect.map((list) =>
            fresh(request, `{"ok":true,"acts":[${list.acts.join(",")}],"next":${JSON.stringify(list.next)}}`),
          ),
          Effect.orDie,
        ),
      )
      .handleRaw("readAct", ({ params, request }) =>
        acts.get(params.actId).pipe(Effect.map((act) => fresh(request, `{"ok":true,"act":${act}}`))),
      )
      .handleRaw("elements", ({ request }) =>
        Effect.map(catalogs.get("elements"), (all) => freshJson(request, all)).pipe(Effect.orDie),
      )
      .handleRaw("companions", ({ request }) =>
        Effect.map(catalogs.get("companions"), (all) => freshJson(request, all)).pipe(Effect.orDie),
      )
      .handleRaw("pixels", ({ request }) =>
        Effect.map(catalogs.get("pixels"), (all) => freshJson(request, all)).pipe(Effect.orDie),
      )
      .handleRaw("publications", ({ query, request }) =>
        publications
          .segment(query.from ?? 1, query.limit ?? 50)
          .pipe(
            Effect.map(({ anchor, head, links, next }) =>
              freshJson(request, { ok: true, anchor, entries: links, head, next }),
            ),
          ),
      )
  }),
)

const payments = HttpApiBuilder.group(Api, "payments", (handlers) =>
  Effect.gen(function* () {
    const paid = yield* PaidHttp
    const limit = yield* limits
    return handlers.handleRaw("reconcile", ({ params, request }) =>
      Effect.andThen(limit(questions, request), paid.reconcile(params.idempotencyKey)),
    )
  }),
)

export const handlers = [witness, paidActs, reads, payments] as const
