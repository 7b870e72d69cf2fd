/** The free routes of candles. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { CandleList, UnsealAnswer, UnsealBody } from "../../../schema/altar/Candle.ts"
import { listDefault } from "../../../schema/Common.ts"
import { cachedUrl } from "../../http/UrlCache.ts"
import { body } from "../../http/Responses.ts"
import { cachedAnswer, oneTimeAnswer, textOf } from "../Answers.ts"
import { limits, openings } from "../Limits.ts"
import { Candles } from "./Candles.ts"
import { CandleWall } from "./CandleWall.ts"

const wallText = textOf(CandleList, (wall: typeof CandleList.Type) => wall)
const unsealed = oneTimeAnswer(UnsealAnswer)
const unsealBody = body.as(UnsealBody)

export const handlers = HttpApiBuilder.group(Api, "candles", (handlers) =>
  Effect.gen(function* () {
    const candles = yield* Candles
    const wall = yield* CandleWall
    const list = cachedAnswer(wallText)
    const limit = yield* limits
    // Raw: cached bytes with their tag.
    return (
      (yield* cachedUrl(handlers))
        .handleRaw("listCandles", ({ query, request }) =>
          list(request, wall.list({ spirit: query.spirit, limit: query.limit ?? listDefault, before: query.before })),
        )
        // Raw: the body is read strictly.
        .handleRaw("unsealCandle", ({ params, request }) =>
          limit(openings, request).pipe(
            Effect.andThen(unsealBody(request)),
            Effect.flatMap((opening) => candles.unseal(params.candleId, opening)),
            Effect.flatMap(({ candle, replayed }) => unsealed({ ok: true, candle, replayed })),
          ),
        )
    )
  }),
)
