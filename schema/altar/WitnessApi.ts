/** The free routes of the witness chain. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import type { Group } from "../Group.ts"
import { whole } from "../Fields.ts"
import { listLimit, segmentQuery, Uuid } from "../Common.ts"
import { BrokenChain } from "./BrokenChain.ts"
import { CommitmentMismatch } from "./Commitment.ts"
import { AltarRequests, described, Unknown } from "./Requests.ts"
import { RevealBroken } from "./Reveal.ts"
import {
  AlreadyRevealed,
  ChainSegment,
  revealAnswers,
  RevealBody,
  WitnessAnswer,
  WitnessList,
  WitnessNotFound,
  WitnessNotSettled,
} from "./Witness.ts"

export const listWitnessStones = HttpApiEndpoint.get("listWitnessStones", "/api/witness", {
  query: {
    limit: listLimit("stones"),
    before: Schema.optionalKey(
      whole({ description: "Only stones with a smaller sequence: the `next` of the previous page." }),
    ),
  },
  success: WitnessList,
  error: [RevealBroken, BrokenChain],
}).annotateMerge(described("Newest stones", "Settled stones newest first, with the chain head."))

export const readWitnessStone = HttpApiEndpoint.get("readWitnessStone", "/api/witness/:witnessId", {
  params: { witnessId: Uuid },
  success: WitnessAnswer,
  error: [WitnessNotFound, RevealBroken, BrokenChain],
})
  .annotateMerge(described("One stone", "One stone with its chain link and receipt."))
  .annotate(Unknown, () => new WitnessNotFound({}))

export const readWitnessChain = HttpApiEndpoint.get("readWitnessChain", "/api/witness/chain", {
  query: segmentQuery("links"),
  success: ChainSegment,
  error: BrokenChain,
}).annotateMerge(described("A segment of the chain", "Consecutive links, each re-hashed before it is served."))

export const revealWitnessStone = HttpApiEndpoint.post("revealWitnessStone", "/api/witness/:witnessId/reveal", {
  params: { witnessId: Uuid },
  payload: RevealBody,
  success: revealAnswers,
  error: [WitnessNotFound, CommitmentMismatch, AlreadyRevealed, WitnessNotSettled, RevealBroken],
})
  .annotateMerge(
    described(
      "Reveal the words of a stone",
      "Free, once. Salt and text must hash to the commitment, and both become public: everyone can then recompute it. 201 the first time, 200 for the same data again. Words that look like a link, wallet or address are stored and verified; they and their salt stay hidden.",
    ),
  )
  .annotate(Unknown, () => new WitnessNotFound({}))

export const WitnessGroup: Group<
  "witness",
  typeof listWitnessStones | typeof readWitnessChain | typeof readWitnessStone | typeof revealWitnessStone,
  AltarRequests
> = HttpApiGroup.make("witness")
  .add(listWitnessStones, readWitnessChain, readWitnessStone, revealWitnessStone)
  .middleware(AltarRequests)
  .annotateMerge(OpenApi.annotations({ title: "Witness", description: "Witness stones and their hash chain." }))
