/** Pages that are the same for every reader: legal texts, the check page, and the signal room. */
import { Effect, Option } from "effect"
import { HttpRouter } from "effect/http"
import { PublishedLog } from "../log/PublishedLog.ts"
import { verifierKeyOf } from "../log/Signer.ts"
import { keyId, ReceiptKeys } from "../payments/Receipt.ts"
import { Operator } from "../platform/Operator.ts"
import { Frame } from "./Frame.ts"
import * as Pages from "./Pages.ts"
import { checkPage } from "./templates/Check.ts"
import { privacyPage, termsPage } from "./templates/Legal.ts"
import { signalRoom } from "./templates/SignalRoom.ts"

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const operator = yield* Operator
    const frame = yield* Frame
    const { current, retired = [] } = (yield* ReceiptKeys) ?? {}
    const keys = [current, ...retired].filter((key) => key !== undefined)
    const checking = checkPage({
      publicUrl: frame.publicUrl,
      keys: keys.map((key) => ({ kid: keyId(frame.publicUrl, key), vkey: verifierKeyOf(key) })),
      logs: Option.toArray((yield* PublishedLog).identity),
    })
    const page = Pages.pagesOn(router, frame)
    for (const shown of [termsPage(operator), privacyPage(operator), checking, signalRoom]) {
      yield* page(`/${shown.path.slice(1)}`, () => Effect.succeed(shown))
    }
    // Old invites name the file; the redirect keeps them working, because a browser carries the fragment along.
    yield* router.add("GET", "/signals/index.html", Pages.moved("/signals/"))
  }),
)
