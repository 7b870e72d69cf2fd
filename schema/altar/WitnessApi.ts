/** The routes of the witness chain. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { digits, Position, upTo } from "../Bounds.ts"
import { ListLimit, Uuid } from "../Common.ts"
import { AltarRequests, described, paidErrors, paidHeaders, priced, settled, Unknown } from "../payments/Endpoint.ts"
import { AlreadyRevealed, WitnessCeilingToday, WitnessNotFound, WitnessNotSettled } from "./Witness.ts"
import { CommitmentMismatch, CommitmentRefused } from "./Commitment.ts"
import { prices } from "../payments/Prices.ts"
import {
  ChainSegment,
  RevealAnswer,
  RevealBody,
  WitnessAnswer,
  WitnessBody,
  WitnessList,
  WitnessSettled,
} from "./Witness.ts"

const setWitnessStone = HttpApiEndpoint.post("setWitnessStone", "/api/witness", {
  headers: paidHeaders,
  payload: WitnessBody,
  success: settled(WitnessSettled),
  error: [...paidErrors, WitnessCeilingToday, CommitmentRefused],
}).annotateMerge(priced(prices.setWitnessStone, "Set a witness stone", "Records a sealed commitment in the chain."))

const listWitness = HttpApiEndpoint.get("listWitness", "/api/witness", {
  query: {
    limit: Schema.optionalKey(ListLimit),
    before: Schema.optionalKey(
      digits(Position).annotate({
        description: "Only stones with a smaller sequence: the `next` of the page before.",
      }),
    ),
  },
  success: WitnessList,
}).annotateMerge(described("listWitnessStones", "Newest stones", "Settled stones newest first, with the chain head."))

const readWitness = HttpApiEndpoint.get("readWitness", "/api/witness/:witnessId", {
  params: { witnessId: Uuid },
  success: WitnessAnswer,
  error: WitnessNotFound,
})
  .annotateMerge(described("readWitnessStone", "One stone", "One stone with its chain link and receipt."))
  .annotate(Unknown, () => new WitnessNotFound({}))

const readChain = HttpApiEndpoint.get("readChain", "/api/witness/chain", {
  query: {
    from: Schema.optionalKey(
      digits(Position).annotate({
        description: "First sequence to return; 1 when absent.",
      }),
    ),
    limit: Schema.optionalKey(
      digits(upTo(100)).annotate({
        description: "How many links, 1 to 100; 50 when absent.",
      }),
    ),
  },
  success: ChainSegment,
}).annotateMerge(
  described("readWitnessChain", "A segment of the chain", "Consecutive links, each re-hashed before it is served."),
)

const revealWitness = HttpApiEndpoint.post("revealWitness", "/api/witness/:witnessId/reveal", {
  params: { witnessId: Uuid },
  payload: RevealBody,
  success: [RevealAnswer.pipe(HttpApiSchema.status(200)), RevealAnswer.pipe(HttpApiSchema.status(201))],
  error: [WitnessNotFound, CommitmentMismatch, AlreadyRevealed, WitnessNotSettled],
})
  .annotateMerge(
    described(
      "revealWitnessStone",
      "Reveal the words of a stone",
      "Free, once. Salt and text must hash to the commitment. 201 the first time, 200 for the same data again. Words that look like a link, wallet or address are stored and verified but shown hidden.",
    ),
  )
  .annotate(Unknown, () => new WitnessNotFound({}))

export class WitnessGroup extends HttpApiGroup.make("witness")
  .add(setWitnessStone, listWitness, readChain, readWitness, revealWitness)
  .middleware(AltarRequests)
  .annotateMerge(OpenApi.annotations({ title: "Witness", description: "Witness stones and their hash chain." })) {}
