/** The routes of settled acts; records and receipts travel as the texts of the first answer. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import type { ActAnswer, ActList } from "../../schema/altar/ActApi.ts"
import { listDefault } from "../../schema/Common.ts"
import { UrlCache } from "../http/UrlCache.ts"
import { jsonOf, JsonText } from "../platform/JsonText.ts"
import { fresh, refuse } from "../http/Responses.ts"
import { cachedAnswer } from "./Answers.ts"
import { type ActPage, Acts } from "./Acts.ts"

export const handlers = HttpApiBuilder.group(Api, "acts", (handlers) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const list = cachedAnswer(({ acts, next }: ActPage) =>
      Effect.succeed(jsonOf<typeof ActList.Type>({ ok: true, acts: JsonText.list(acts), next })),
    )
    const read = (yield* UrlCache).hot(refuse)
    // Raw: cached bytes with their tag.
    return handlers
      .handleRaw(
        "listActs",
        read(
          ({ query: { before, limit } }) =>
            (request) =>
              list(request, acts.list(limit ?? listDefault, before)),
        ),
      )
      .handleRaw(
        "readAct",
        read(
          ({ params: { actId } }) =>
            (request) =>
              Effect.flatMap(acts.get(actId), (act) =>
                fresh(request, jsonOf<typeof ActAnswer.Type>({ ok: true, act: new JsonText(act) })),
              ),
        ),
      )
  }),
)
