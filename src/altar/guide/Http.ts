/** The routes of the field guide: spirits, altars, and the state of the field. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { AltarList, Field, SpiritList } from "../../../schema/altar/Guide.ts"
import { known } from "../../http/UrlCache.ts"
import { kept, textOf } from "../Answers.ts"
import { FieldGuide } from "./FieldGuide.ts"

const texts = {
  spirits: textOf(SpiritList, (list: typeof SpiritList.Type) => list),
  altars: textOf(AltarList, (list: typeof AltarList.Type) => list),
  field: textOf(Field, (state: typeof Field.Type) => state),
}

export const handlers = HttpApiBuilder.group(Api, "guide", (handlers) =>
  Effect.gen(function* () {
    const guide = yield* FieldGuide
    const spirits = kept(texts.spirits)
    const altars = kept(texts.altars)
    const field = kept(texts.field)
    // Raw: cached bytes with their tag.
    return (yield* known(handlers))
      .handleRaw("listSpirits", ({ request }) => spirits(request, guide.spirits))
      .handleRaw("listAltars", ({ request }) => altars(request, guide.altars))
      .handleRaw("readField", ({ request }) => field(request, guide.field))
  }),
)
