/** `/signals/`: the frame of the signal room; what is said in one passes between the browser and the room alone. */
import { Effect, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PublishedLog } from "../log/PublishedLog.ts"
import { written } from "../http/Written.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import * as Pages from "./Pages.ts"
import { layout } from "./templates/Layout.ts"
import { signalRoom } from "./templates/SignalRoom.ts"

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const publicUrl = yield* PublicUrl
    const hasLog = Option.isSome((yield* PublishedLog).identity)
    const page = written(layout(publicUrl, { ...signalRoom, hasLog }), { contentType: Pages.contentType })
    yield* router.add("GET", "/signals/", page.respond)
    // Invites that were written with the file's name still lead to the room: a browser takes the fragment along.
    yield* router.add("GET", "/signals/index.html", HttpServerResponse.redirect("/signals/", { status: 308 }))
  }),
)
