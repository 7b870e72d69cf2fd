/** The newest acts as Atom, for feed readers. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { Acts } from "../altar/Acts.ts"
import { html } from "../platform/Html.ts"
import { fresh } from "../http/Responses.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { actReader, pathOf, sentence, type SettledAct } from "./templates/ActList.ts"

const most = 50

/** The `updated` of a feed without acts. */
const epoch = "2025-01-01T00:00:00.000Z"

const entry = (publicUrl: string, act: SettledAct) =>
  html`<entry
    ><id>${publicUrl}${pathOf(act)}</id><title>${sentence(act)}</title><updated>${act.settledAt}</updated
    ><author><name>${act.agentName ?? "Someone"}</name></author
    ><link rel="alternate" type="text/html" href="${publicUrl}${pathOf(act)}"
  /></entry>`

const atom = (publicUrl: string, acts: ReadonlyArray<SettledAct>): string =>
  html`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"
    ><id>${publicUrl}/acts.atom</id><title>Spirit Altar: acts</title
    ><subtitle>Every paid act, newest first. Names are self-declared.</subtitle
    ><updated>${acts[0]?.settledAt ?? epoch}</updated
    ><link rel="self" type="application/atom+xml" href="${publicUrl}/acts.atom" /><link
      rel="alternate"
      type="text/html"
      href="${publicUrl}/v2/acts"
    />${acts.map((act) => entry(publicUrl, act))}</feed
  >`.text

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actsOf } = yield* actReader
    const publicUrl = yield* PublicUrl
    yield* router.add("GET", "/acts.atom", (request) =>
      acts.list(most, undefined).pipe(
        Effect.flatMap((list) => actsOf(list.acts)),
        Effect.flatMap((list) =>
          fresh(request, `<?xml version="1.0" encoding="utf-8"?>\n${atom(publicUrl, list)}\n`, {
            contentType: "application/atom+xml; charset=utf-8",
          }),
        ),
      ),
    )
  }),
)
