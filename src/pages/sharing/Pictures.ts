/** The pictures of acts, drawn on the first request and cached as long as they look the same. */
import { hash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { Cache, Clock, Context, Duration, Effect, Exit, FileSystem, Layer } from "effect"
import { ActNotFound } from "../../../schema/payments/Act.ts"
import { Acts } from "../../altar/Acts.ts"
import * as Artwork from "../../altar/Artwork.ts"
import { html, Html } from "../../platform/Html.ts"
import { actReader, type SettledAct } from "../templates/ActList.ts"
import { isLost } from "../templates/RecordTable.ts"
import { cardOf } from "./Card.ts"
import { picture } from "./Picture.ts"
import { Renderer, type RendererBusy } from "./Renderer.ts"

export interface Picture {
  readonly png: Uint8Array
  /** A strong tag of the bytes. */
  readonly tag: string
  /** Milliseconds since 1970 until which the act looks like this; always, when absent. */
  readonly until: number | undefined
}

/** Maximum cached pictures; each takes some 60 KB. */
const most = 256

/** Milliseconds that a picture is cached while its payment is not final. */
const notFinal = 300_000

/** A card payment is final when it is settled. */
const isFinal = ({ receipt }: SettledAct) => receipt.transaction === null || receipt.finality === "final"

export class Pictures extends Context.Service<
  Pictures,
  {
    has(id: string): Effect.Effect<boolean>
    /** Concurrent callers share one drawing; an act whose payment was lost has none. */
    get(id: string): Effect.Effect<Picture, ActNotFound | RendererBusy>
  }
>()("spirit-altar/pages/sharing/Pictures") {
  static readonly layer = Layer.effect(
    Pictures,
    Effect.gen(function* () {
      const acts = yield* Acts
      const { actOf } = yield* actReader
      const fs = yield* FileSystem.FileSystem
      const renderer = yield* Renderer

      /** On its own square of 256. */
      const artworkOf = Effect.fnUntraced(function* (path: string) {
        const file = fileURLToPath(new URL(path.slice(`${Artwork.prefix}/`.length), Artwork.folder))
        const bytes = yield* Effect.orDie(fs.readFile(file))
        return path.endsWith(".png")
          ? html`<image
              width="256"
              height="256"
              image-rendering="optimizeSpeed"
              href="data:image/png;base64,${Buffer.from(bytes).toString("base64")}"
            />`
          : new Html(Buffer.from(bytes).toString("utf8"))
      })

      const draw = Effect.fn("Pictures.draw")(function* (id: string) {
        const act = yield* actOf(yield* acts.get(id))
        if (isLost(act.receipt)) return yield* new ActNotFound({})
        const now = yield* Clock.currentTimeMillis
        const card = cardOf(act, now)
        const artwork = card.artwork === undefined ? undefined : yield* artworkOf(card.artwork)
        const png = yield* renderer.render(picture(card, artwork))
        const tag = `"${hash("sha256", png, "base64url").slice(0, 20)}"`
        const until = isFinal(act) ? card.until : Math.min(now + notFinal, card.until ?? Infinity)
        const made: Picture = { png, tag, until }
        return { made, lasts: until === undefined ? Duration.infinity : Duration.millis(until - now) }
      })

      const kept = yield* Cache.makeWith(draw, {
        capacity: most,
        timeToLive: Exit.match({ onFailure: () => Duration.zero, onSuccess: ({ lasts }) => lasts }),
      })

      return Pictures.of({
        has: (id) => Cache.has(kept, id),
        get: (id) => Effect.map(Cache.get(kept, id), ({ made }) => made),
      })
    }),
  )
}
