/** The pages that somebody has to answer for, and the one by which nobody's word is needed. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { Operator } from "../platform/Operator.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import * as Pages from "./Pages.ts"
import { privacyPage, termsPage } from "./templates/Legal.ts"
import { verifyingPage } from "./templates/Verifying.ts"

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const operator = yield* Operator
    const publicUrl = yield* PublicUrl
    for (const shown of [termsPage(operator), privacyPage(operator), verifyingPage(publicUrl, operator)]) {
      yield* router.add("GET", `/${shown.path.slice(1)}`, (request) => Pages.page(publicUrl, request, shown))
    }
  }),
)
