/** The certificate of a stone, from the data of the stone's page. */
import { Effect, Option } from "effect"
import { HttpRouter, type HttpServerRequest } from "effect/http"
import type { WitnessNotFound } from "../../../schema/altar/Witness.ts"
import type { ChainBroken } from "../../altar/HashChain.ts"
import { WitnessStones } from "../../altar/witness/WitnessStones.ts"
import { PublishedLog } from "../../log/PublishedLog.ts"
import { fresh } from "../../http/Responses.ts"
import { Frame } from "../Frame.ts"
import * as Pages from "../Pages.ts"
import { isLost, receiptOf } from "../templates/RecordTable.ts"
import { certificate } from "./Certificate.ts"

const missing = "No stone is set under this address, so there is nothing to certify."
const lost =
  "The payment of this stone was reorganised away, so there is nothing to certify. The payer was not charged."

const isMissing = (error: WitnessNotFound | ChainBroken): error is WitnessNotFound => "code" in error

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const log = yield* PublishedLog
    const frame = yield* Frame
    const { money, publicUrl } = frame
    const stones = yield* WitnessStones

    /** An uncovered or unavailable proof is omitted. */
    const proofOf = (id: string) =>
      log.proof(id).pipe(
        Effect.map(({ text }) => text),
        Effect.catchTags({
          NotPublished: () => Effect.undefined,
          LogStopped: () => Effect.undefined,
          EntryUnknown: () => Effect.undefined,
        }),
      )

    const print = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, id: string) {
      if (!Pages.isUuid(id)) return Pages.notFound(frame, request, missing)
      const { receipt: text, stone } = yield* stones.get(id)
      const receipt = yield* receiptOf(text)
      if (isLost(receipt)) return Pages.notFound(frame, request, lost)
      const identity = Option.getOrUndefined(log.identity)
      const shown = identity === undefined ? undefined : { vkey: identity.vkey, proof: yield* proofOf(id) }
      const page = certificate({ money, publicUrl, stone, receipt, log: shown })
      return yield* fresh(request, page, { contentType: Pages.contentType })
    })

    yield* router.add("GET", "/witness/:id/certificate", (request) =>
      Effect.flatMap(HttpRouter.params, ({ id }) =>
        Pages.guarded(
          frame,
          Effect.catchIf(print(request, id ?? ""), isMissing, () =>
            Effect.succeed(Pages.notFound(frame, request, missing)),
          ),
        ),
      ),
    )
  }),
)
