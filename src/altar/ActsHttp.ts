/** The routes of settled acts; records and receipts travel as the texts of the first answer. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import type { ActAnswer, ActList } from "../../schema/altar/ActApi.ts"
import { listDefault } from "../../schema/Common.ts"
import { cachedUrl } from "../http/UrlCache.ts"
import { jsonOf, JsonText } from "../platform/JsonText.ts"
import { fresh } from "../http/Responses.ts"
import { cachedAnswer } from "./Answers.ts"
import { type ActPage, Acts } from "./Acts.ts"

export const handlers = HttpApiBuilder.group(Api, "acts", (handlers) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const list = cachedAnswer(({ acts, next }: ActPage) =>
      Effect.succeed(jsonOf<typeof ActList.Type>({ ok: true, acts: JsonText.list(acts), next })),
    )
    // Raw: cached bytes with their tag.
    return (yield* cachedUrl(handlers))
      .handleRaw("listActs", ({ query, request }) => list(request, acts.list(query.limit ?? listDefault, query.before)))
      .handleRaw("readAct", ({ params, request }) =>
        acts
          .get(params.actId)
          .pipe(
            Effect.flatMap((act) =>
              fresh(request, jsonOf<typeof ActAnswer.Type>({ ok: true, act: new JsonText(act) })),
            ),
          ),
      )
  }),
)
