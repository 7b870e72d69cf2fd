/** The routes of the altar: handlers of the free ones, and the paid ones with them. */
import { Effect, type Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { SqlError } from "effect/sql"
import { Api } from "../../schema/Api.ts"
import type { ActAnswer, ActList } from "../../schema/altar/ActApi.ts"
import { CandleList, UnsealBody } from "../../schema/altar/Candle.ts"
import { CompanionCatalog, ElementCatalog, PixelCatalog, PublicationSegment } from "../../schema/altar/Catalog.ts"
import { AltarList, Field, SpiritList } from "../../schema/altar/Guide.ts"
import { PaidGroup } from "../../schema/altar/Sales.ts"
import { WalletRecord } from "../../schema/altar/Wallet.ts"
import { ChainSegment, ListedStone, RevealBody, WitnessList } from "../../schema/altar/Witness.ts"
import { listDefault, segmentDefault, segmentFrom } from "../../schema/Common.ts"
import { cachedByValue, cachedResponse } from "../http/CachedResponse.ts"
import { body, fresh, refuse } from "../http/Responses.ts"
import { type Call, UrlCache } from "../http/UrlCache.ts"
import { jsonOf, JsonText } from "../platform/JsonText.ts"
import { toMiddleware } from "../platform/Sql.ts"
import { type ActPage, Acts } from "./Acts.ts"
import { brokenIn, encoderOf, textOf } from "./Answers.ts"
import { Candles } from "./candles/Candles.ts"
import { CandleWall } from "./candles/CandleWall.ts"
import { Catalogs } from "./collectibles/Catalogs.ts"
import { PublicationChain } from "./collectibles/PublicationChain.ts"
import { FieldGuide } from "./guide/FieldGuide.ts"
import type { Segment } from "./StoredChain.ts"
import { limits, openings } from "./Limits.ts"
import * as PaidRoutes from "./PaidRoutes.ts"
import { WitnessChain } from "./witness/WitnessChain.ts"
import { WitnessStones } from "./witness/WitnessStones.ts"

type Refused = Parameters<typeof refuse>[0]

/** Handlers of reads, whose decoded calls are remembered. */
const reading = Effect.map(UrlCache, (urls) => {
  const hot = urls.hot(refuse)
  return {
    /** Answers bytes that are cached together with the result of the read. */
    cached: <C extends Call, Value extends object>(
      write: (value: Value) => Effect.Effect<string>,
      load: (call: C) => Effect.Effect<Value, Refused | SqlError.SqlError>,
    ) => {
      const respond = cachedByValue((value: Value) => Effect.map(write(value), (text) => cachedResponse(text)))
      return hot<C>((call) => {
        const loading = load(call)
        return (request) => Effect.flatMap(loading, (value) => respond(request, value))
      })
    },
    once: <C extends Call>(load: (call: C) => Effect.Effect<string, Refused | SqlError.SqlError>) =>
      hot<C>((call) => {
        const text = load(call)
        return (request) => Effect.flatMap(text, (json) => fresh(request, json))
      }),
  }
})

interface SegmentBody<Link> extends Omit<Segment<Link>, "links"> {
  readonly ok: true
  readonly entries: ReadonlyArray<Link>
}

const segmentOf = <Link>(schema: Schema.Codec<SegmentBody<Link>, Schema.JsonObject>) => {
  const write = textOf(schema)
  return ({ links, ...rest }: Segment<Link>) => write({ ok: true, entries: links, ...rest })
}

const guide = HttpApiBuilder.group(Api, "guide", (handlers) =>
  Effect.gen(function* () {
    const { altars, field, spirits } = yield* FieldGuide
    const { cached } = yield* reading
    return handlers.handleAll({
      listSpirits: cached(textOf(SpiritList), () => spirits),
      listAltars: cached(textOf(AltarList), () => altars),
      readField: cached(textOf(Field), () => field),
    })
  }),
)

const catalogs = HttpApiBuilder.group(Api, "catalogs", (handlers) =>
  Effect.gen(function* () {
    const { get } = yield* Catalogs
    const publications = yield* PublicationChain
    const { cached } = yield* reading
    return handlers.handleAll({
      listElements: cached(textOf(ElementCatalog), () => get("elements")),
      listCompanions: cached(textOf(CompanionCatalog), () => get("companions")),
      listPixels: cached(textOf(PixelCatalog), () => get("pixels")),
      readPublicationChain: cached(
        segmentOf(PublicationSegment),
        ({ query: { from = segmentFrom, limit = segmentDefault } }) =>
          Effect.catchTag(publications.segment(from, limit), "ChainBroken", brokenIn("entry")),
      ),
    })
  }),
)

export const acts = HttpApiBuilder.group(Api, "acts", (handlers) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { cached, once } = yield* reading
    return handlers.handleAll({
      listActs: cached(
        (page: ActPage) =>
          Effect.succeed(jsonOf<typeof ActList.Type>({ ok: true, acts: JsonText.list(page.acts), next: page.next })),
        ({ query: { before, limit = listDefault } }) => acts.list(limit, before),
      ),
      readAct: once(({ params: { actId } }) =>
        Effect.map(acts.get(actId), (act) => jsonOf<typeof ActAnswer.Type>({ ok: true, act: new JsonText(act) })),
      ),
    })
  }),
)

export const candles = HttpApiBuilder.group(Api, "candles", (handlers) =>
  Effect.gen(function* () {
    const { unseal } = yield* Candles
    const wall = yield* CandleWall
    const { cached } = yield* reading
    const limit = yield* limits
    // Raw: words in another encoding than UTF-8 are refused, never mended.
    const words = body.as(UnsealBody)
    const reads = handlers.handleAll({
      listCandles: cached(textOf(CandleList), ({ query: { before, limit = listDefault, spirit } }) =>
        wall.list({ spirit, limit, before }),
      ),
    })
    return reads.handleRaw("unsealCandle", ({ params, request }) =>
      toMiddleware(
        Effect.andThen(limit(openings, request), words(request)).pipe(
          Effect.flatMap((given) => unseal(params.candleId, given)),
        ),
      ),
    )
  }),
)

const witness = HttpApiBuilder.group(Api, "witness", (handlers) =>
  Effect.gen(function* () {
    const stones = yield* WitnessStones
    const chain = yield* WitnessChain
    const { cached, once } = yield* reading
    const limit = yield* limits
    const encodeStone = encoderOf(ListedStone)
    const broken = brokenIn("stone")
    const words = body.as(RevealBody)
    const reads = handlers.handleAll({
      listWitnessStones: cached(textOf(WitnessList), ({ query: { before, limit = listDefault } }) =>
        Effect.catchTag(stones.list(limit, before), "ChainBroken", broken),
      ),
      readWitnessChain: cached(segmentOf(ChainSegment), ({ query: { from = segmentFrom, limit = segmentDefault } }) =>
        Effect.catchTag(chain.page(from, limit), "ChainBroken", broken),
      ),
      readWitnessStone: once(({ params: { witnessId } }) =>
        Effect.catchTag(stones.get(witnessId), "ChainBroken", broken).pipe(
          Effect.flatMap(({ dated, receipt, stone }) =>
            Effect.map(encodeStone(stone), (json) => JSON.stringify({ ok: true, stone: json, receipt, dated })),
          ),
        ),
      ),
    })
    return reads.handleRaw("revealWitnessStone", ({ params, request }) =>
      toMiddleware(
        Effect.andThen(limit(openings, request), words(request)).pipe(
          Effect.flatMap((given) => stones.reveal(params.witnessId, given)),
        ),
      ),
    )
  }),
)

const wallets = HttpApiBuilder.group(Api, "wallets", (handlers) =>
  Effect.gen(function* () {
    const { ofWallet } = yield* WitnessStones
    const { cached } = yield* reading
    return handlers.handleAll({
      readWallet: cached(textOf(WalletRecord), ({ params, query: { before, limit = listDefault } }) =>
        Effect.catchTag(ofWallet({ ...params, limit, before }), "ChainBroken", brokenIn("stone")),
      ),
    })
  }),
)

export const handlers = [
  witness,
  wallets,
  candles,
  catalogs,
  guide,
  acts,
  PaidRoutes.routes(PaidGroup),
  PaidRoutes.payments,
] as const
