/** The free routes of candles. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { CandleList, UnsealAnswer, UnsealBody } from "../../../schema/altar/Candle.ts"
import { listDefault } from "../../../schema/Common.ts"
import { UrlCache } from "../../http/UrlCache.ts"
import { body, refuse } from "../../http/Responses.ts"
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
    const read = (yield* UrlCache).hot(refuse)
    // Raw: cached bytes with their tag.
    return (
      handlers
        .handleRaw(
          "listCandles",
          read(
            ({ query: { before, limit, spirit } }) =>
              (request) =>
                list(request, wall.list({ spirit, limit: limit ?? listDefault, before })),
          ),
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
