/** The acts as Atom, for feed readers. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { Acts } from "../altar/Acts.ts"
import { type Html, html } from "../platform/Html.ts"
import { fresh } from "../http/Responses.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { actReader, commitmentIn, pathOf, sentence, type SettledAct } from "./templates/ActList.ts"

const most = 50

/** The `updated` of a feed without acts. */
const epoch = "2025-01-01T00:00:00.000Z"

/** A reveal changes an act that was settled before. */
const changedAt = ({ reveal, settledAt }: SettledAct): string => reveal?.revealedAt ?? settledAt

/** Revealed words, with everything needed to hash them. */
const revealed = (act: SettledAct): Html =>
  act.reveal === null || act.reveal.text === null || act.reveal.salt === null
    ? html``
    : html`<content type="text"
        >Revealed: “${act.reveal.text}” Salt: ${act.reveal.salt} Commitment: ${commitmentIn(act)}</content
      >`

const entry = (publicUrl: string, act: SettledAct) =>
  html`<entry
    ><id>${publicUrl}${pathOf(act)}</id><title>${sentence(act)}</title><updated>${changedAt(act)}</updated
    ><published>${act.settledAt}</published><author><name>${act.agentName ?? "Someone"}</name></author
    >${revealed(act)}<link rel="alternate" type="text/html" href="${publicUrl}${pathOf(act)}"
  /></entry>`

/** Replaces characters that XML 1.0 forbids: one in a name or words would break the feed for every reader. */
const xml = (root: Html): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n${root.text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\ufffd")}\n`

const feed = "/acts.atom"

const atom = (publicUrl: string, acts: ReadonlyArray<SettledAct>): string =>
  xml(
    html`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"
      ><id>${publicUrl}${feed}</id><title>Spirit Altar: acts</title
      ><subtitle>Every paid act, newest first. Names are self-declared.</subtitle
      ><updated>${acts.map(changedAt).sort().at(-1) ?? epoch}</updated
      ><link rel="self" type="application/atom+xml" href="${publicUrl}${feed}" /><link
        rel="alternate"
        type="text/html"
        href="${publicUrl}/v2/acts"
      />${acts.map((act) => entry(publicUrl, act))}</feed
    >`,
  )

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actsOf } = yield* actReader
    const publicUrl = yield* PublicUrl

    yield* router.add("GET", feed, (request) =>
      acts.list(most, undefined).pipe(
        Effect.flatMap((list) => actsOf(list.acts)),
        Effect.flatMap((list) =>
          fresh(request, atom(publicUrl, list), { contentType: "application/atom+xml; charset=utf-8" }),
        ),
      ),
    )
  }),
)
