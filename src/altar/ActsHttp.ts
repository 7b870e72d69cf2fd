/** The routes of settled acts: their records and receipts travel as the texts that were first answered. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import { listDefault } from "../../schema/Common.ts"
import { fresh } from "../platform/http/Responses.ts"
import { Acts } from "./Acts.ts"

export const handlers = HttpApiBuilder.group(Api, "acts", (handlers) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    return handlers
      .handleRaw("listActs", ({ query, request }) =>
        acts
          .list(query.limit ?? listDefault, query.before)
          .pipe(
            Effect.map((list) =>
              fresh(request, `{"ok":true,"acts":[${list.acts.join(",")}],"next":${JSON.stringify(list.next)}}`),
            ),
          ),
      )
      .handleRaw("readAct", ({ params, request }) =>
        acts.get(params.actId).pipe(Effect.map((act) => fresh(request, `{"ok":true,"act":${act}}`))),
      )
  }),
)
