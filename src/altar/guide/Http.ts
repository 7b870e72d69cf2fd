/** The routes of the field guide: spirits, altars, and the state of the field. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { AltarList, Field, SpiritList } from "../../../schema/altar/Guide.ts"
import { answer } from "../Answers.ts"
import { FieldGuide } from "./FieldGuide.ts"

const spirits = answer(SpiritList)
const altars = answer(AltarList)
const field = answer(Field)

export const handlers = HttpApiBuilder.group(Api, "guide", (handlers) =>
  Effect.gen(function* () {
    const guide = yield* FieldGuide
    return handlers
      .handleRaw("listSpirits", ({ request }) => Effect.flatMap(guide.spirits, (list) => spirits(request, list)))
      .handleRaw("listAltars", ({ request }) => Effect.flatMap(guide.altars, (list) => altars(request, list)))
      .handleRaw("readField", ({ request }) => Effect.flatMap(guide.field, (state) => field(request, state)))
  }),
)
