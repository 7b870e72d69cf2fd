/** The routes of the field guide: spirits, altars, and the state of the field. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { AltarList, Field, SpiritList } from "../../../schema/altar/Guide.ts"
import { UrlCache } from "../../http/UrlCache.ts"
import { refuse } from "../../http/Responses.ts"
import { cachedAnswer, textOf } from "../Answers.ts"
import { FieldGuide } from "./FieldGuide.ts"

const texts = {
  spirits: textOf(SpiritList, (list: typeof SpiritList.Type) => list),
  altars: textOf(AltarList, (list: typeof AltarList.Type) => list),
  field: textOf(Field, (state: typeof Field.Type) => state),
}

export const handlers = HttpApiBuilder.group(Api, "guide", (handlers) =>
  Effect.gen(function* () {
    const guide = yield* FieldGuide
    const spirits = cachedAnswer(texts.spirits)
    const altars = cachedAnswer(texts.altars)
    const field = cachedAnswer(texts.field)
    const read = (yield* UrlCache).hot(refuse)
    // Raw: cached bytes with their tag.
    return handlers
      .handleRaw(
        "listSpirits",
        read(() => (request) => spirits(request, guide.spirits)),
      )
      .handleRaw(
        "listAltars",
        read(() => (request) => altars(request, guide.altars)),
      )
      .handleRaw(
        "readField",
        read(() => (request) => field(request, guide.field)),
      )
  }),
)
