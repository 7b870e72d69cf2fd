/** Pages that are the same for every reader: legal texts, the manual of the check, and the signal room. */
import { Effect, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PublishedLog } from "../log/PublishedLog.ts"
import { cachedResponse } from "../http/CachedResponse.ts"
import { Operator } from "../platform/Operator.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import * as Pages from "./Pages.ts"
import { layout } from "./templates/Layout.ts"
import { privacyPage, termsPage } from "./templates/Legal.ts"
import { signalRoom } from "./templates/SignalRoom.ts"
import { verifyingPage } from "./templates/Verifying.ts"

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const operator = yield* Operator
    const publicUrl = yield* PublicUrl
    for (const shown of [termsPage(operator), privacyPage(operator), verifyingPage(publicUrl, operator)]) {
      yield* router.add("GET", `/${shown.path.slice(1)}`, (request) => Pages.page(publicUrl, request, shown))
    }
    // Messages of a room pass only between the browser and the room.
    const hasLog = Option.isSome((yield* PublishedLog).identity)
    const room = cachedResponse(layout(publicUrl, { ...signalRoom, hasLog }), { contentType: Pages.contentType })
    yield* router.add("GET", "/signals/", room.respond)
    // Old invites name the file; the redirect keeps them working, because a browser carries the fragment along.
    yield* router.add("GET", "/signals/index.html", HttpServerResponse.redirect("/signals/", { status: 308 }))
  }),
)
