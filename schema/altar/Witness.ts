/** Witness stones: timestamped sealed commitments in a hash chain, and their reveal. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Count, listOf, Position, sentence, whole } from "../Fields.ts"
import { settledAct } from "../payments/Act.ts"
import {
  Address,
  AgentName,
  Hex64,
  listLimit,
  listMaximum,
  segmentMaximum,
  segmentQuery,
  Timestamp,
  TransactionHash,
  Url,
  Uuid,
} from "../Common.ts"
import { Commitment, CommitmentMismatch, CommitmentRefused, Salt, Words } from "./Commitment.ts"
import { paidErrors, paidHeaders, settled } from "../payments/Endpoint.ts"
import { Receipt } from "../payments/Payment.ts"
import { chosen } from "../payments/Recorded.ts"
import { paid } from "../payments/Sale.ts"
import { priceWords } from "../payments/Usdc.ts"
import { Reveal, RevealBroken } from "./Reveal.ts"
import { StoneDate } from "./StoneDate.ts"
import { SpiritId } from "./Spirit.ts"
import { at, envelope } from "../Refusal.ts"
import { type Group } from "../Group.ts"
import { BrokenChain } from "./BrokenChain.ts"
import { AltarRequests, described, Unknown } from "./Requests.ts"

export const StoneKind = Schema.Literals(["intention", "prediction", "promise", "hash"]).annotate({
  identifier: "StoneKind",
  description: "The kind of the sealed words.",
  examples: ["prediction"],
})

const commitment = "6afde0a2de2a0973df45fed7040a985cb1efcdba7153d9420aa8743a19fb664a"

export const WitnessBody = Schema.Struct({
  commitment: Commitment,
  kind: Schema.optionalKey(StoneKind).annotateKey({ description: "`intention` when absent." }),
  spirit: Schema.optionalKey(SpiritId).annotateKey({
    description: "Chosen from the commitment when absent: the commitment modulo 24, in the order of the field guide.",
  }),
  agentName: Schema.optionalKey(AgentName),
}).annotate({
  identifier: "WitnessBody",
  description: "The sealed commitment to witness.",
  examples: [{ commitment, kind: "prediction", agentName: "Wren" }],
})

/** The stone of all examples: the first of its chain, and of the example's log. */
export const stoneExample = {
  id: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
  permalink: "https://altar.example/witness/3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
  commitment,
  kind: "prediction",
  spirit: "ink-cuttlefish",
  witnessedAt: "2026-11-21T09:17:02.115Z",
  sequence: 1,
  chainHash: "70f409101ddc035e974e17bacbb22a0f99d366593db20b44bc5d03d996a5049a",
  previousHash: "0".repeat(64),
  payer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  transaction: "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8",
  verify: {
    recipe: "chainHash = SHA-256(previousHash NUL sequence NUL commitment NUL witnessedAt NUL transaction)",
    revealUrl: "https://altar.example/api/witness/3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1/reveal",
  },
} as const

/** The place of a stone in the chain, with the example's values. */
const sequence = Position.annotateKey({ description: "Position in the chain, from 1." })
const chainHash = Hex64.annotateKey({ examples: [stoneExample.chainHash] })
const previousHash = Hex64.annotateKey({ examples: [stoneExample.previousHash] })

export const WitnessStone = Schema.Struct({
  id: Uuid,
  permalink: Url,
  commitment: Commitment,
  kind: StoneKind,
  spirit: SpiritId.annotateKey({ examples: [stoneExample.spirit] }),
  witnessedAt: Timestamp,
  sequence,
  chainHash,
  previousHash,
  payer: Address,
  transaction: TransactionHash,
  verify: Schema.Struct({
    recipe: sentence("chainHash = SHA-256(previousHash NUL sequence NUL commitment NUL witnessedAt NUL transaction)"),
    revealUrl: Url.annotateKey({ examples: [stoneExample.verify.revealUrl] }),
  }),
}).annotate({
  identifier: "WitnessStone",
  description:
    "A sealed commitment, timestamped by its payment and linked to the stone before it. Not legal notarization, and no proof of authorship or identity.",
})
export type WitnessStone = typeof WitnessStone.Type

export const WitnessSettled = settledAct(WitnessStone).annotate({
  identifier: "WitnessSettled",
  description: "A settled witness stone with its receipt.",
})

export const ListedStone = Schema.Struct({
  ...WitnessStone.fields,
  agentName: Schema.NullOr(AgentName),
  reveal: Schema.NullOr(Reveal),
}).annotate({ identifier: "ListedStone", description: "A stone with its setter's name and its reveal, if any." })

export const ChainHead = Schema.Struct({
  sequence: Count.annotateKey({ description: "0 while the chain is empty." }),
  chainHash: Hex64,
}).annotate({
  identifier: "ChainHead",
  description: "A point of the chain: the hash after the stone with this sequence; the genesis is 0 and 64 zeros.",
  examples: [{ sequence: 0, chainHash: "0".repeat(64) }],
})

export const WitnessList = Schema.Struct({
  ok: Schema.Literal(true),
  stones: listOf(ListedStone, listMaximum),
  head: ChainHead,
  next: Schema.NullOr(Position).annotate({ description: "`before` of the following page, or null." }),
}).annotate({ identifier: "WitnessList", description: "Settled stones, newest first, with the chain head." })

export const WitnessAnswer = Schema.Struct({
  ok: Schema.Literal(true),
  stone: ListedStone,
  receipt: Receipt,
  dated: StoneDate,
}).annotate({ identifier: "WitnessAnswer", description: "One stone with its chain link and receipt." })

export const ChainEntry = Schema.Struct({
  sequence,
  id: Uuid,
  commitment: Commitment,
  witnessedAt: Timestamp,
  transaction: TransactionHash,
  payer: Address,
  previousHash,
  chainHash,
}).annotate({ identifier: "ChainEntry", description: "One link of the chain: all that its hash is computed from." })

export const ChainSegment = Schema.Struct({
  ok: Schema.Literal(true),
  anchor: ChainHead,
  entries: listOf(ChainEntry, segmentMaximum),
  head: ChainHead,
  next: Schema.NullOr(Position).annotate({ description: "`from` of the following segment, or null at the head." }),
}).annotate({
  identifier: "ChainSegment",
  description: "Consecutive links, re-hashed by the server before it serves them. `anchor` is the entry before them.",
})

export const RevealBody = Schema.Struct({
  salt: Salt,
  text: Words,
  agentName: Schema.optionalKey(AgentName).annotateKey({
    description:
      "The self-declared name of the revealing agent. A repetition may omit it; another name is `already_revealed`.",
  }),
}).annotate({
  identifier: "RevealBody",
  description:
    "The salt and words whose commitment was witnessed. Both become public, so that anyone can recompute the commitment.",
  examples: [{ salt: "5c1fd1e6a0bb4e7f9c2d", text: "The heron will return by May." }],
})

const revealed = (replayed: boolean) =>
  Schema.Struct({ ok: Schema.Literal(true), stone: ListedStone, replayed: Schema.Literal(replayed) })

/** 201 the first time, 200 for the same data again. */
export const revealAnswers = [
  revealed(false).pipe(HttpApiSchema.status(201)).annotate({ description: "The stone with its reveal." }),
  revealed(true).pipe(HttpApiSchema.status(200)).annotate({ description: "The same reveal again." }),
] as const

export class WitnessNotFound extends Schema.Error<WitnessNotFound>("WitnessNotFound")(
  envelope(
    "witness_not_found",
    "No settled witness stone has this id.",
    "Check the id, or take one that /api/witness lists.",
  ),
  at(404, "No such stone."),
) {}

/** Maximum number of stones set or held in one UTC day. */
export const dailyCeiling = 5000

export class WitnessCeilingToday extends Schema.Error<WitnessCeilingToday>("WitnessCeilingToday")(
  envelope(
    "witness_ceiling_today",
    `All ${dailyCeiling} witness stones of this UTC day are set or held.`,
    "Try again after midnight UTC.",
  ),
  at(409, `The daily ceiling of ${dailyCeiling} stones is reached.`),
) {}

export class AlreadyRevealed extends Schema.Error<AlreadyRevealed>("AlreadyRevealed")(
  envelope(
    "already_revealed",
    "This stone was revealed before with other words, another salt or another name. The first reveal stays.",
    "Read it in the stone's record.",
  ),
  at(409, "Already revealed."),
) {}

export class WitnessNotSettled extends Schema.Error<WitnessNotSettled>("WitnessNotSettled")(
  envelope(
    "witness_not_settled",
    "The payment of this stone is not settled yet.",
    "Reconcile the attempt first, and do not pay again.",
  ),
  at(409, "The stone is not settled."),
) {}

export const setWitnessStone = paid(
  HttpApiEndpoint.post("setWitnessStone", "/api/witness", {
    headers: paidHeaders,
    payload: WitnessBody,
    success: settled(WitnessSettled),
    error: [...paidErrors, WitnessCeilingToday, CommitmentRefused],
  }),
  {
    priceAtomic: 10_000n,
    kind: "stone",
    plural: "Witness stones",
    thing: "a witness stone",
    command: "witness",
    repetition: "often",
    defaults: { kind: "intention", spirit: chosen },
    page: "witness",
    description: "One witness stone: a timestamped sealed commitment in a public hash chain",
    title: "Set a witness stone",
    summary: "Records a sealed commitment in the chain.",
    tag: "Witness",
  },
)

/** The first sentence of the README and of every document. */
export const promise = `Pay ${priceWords(setWitnessStone.sale.priceAtomic)} to timestamp a secret message.`

/** The `before` query of lists of stones. */
export const stonesBefore = Schema.optionalKey(
  whole({ description: "Only stones with a smaller sequence: the `next` of the previous page." }),
)

export const listWitnessStones = HttpApiEndpoint.get("listWitnessStones", "/api/witness", {
  query: {
    limit: listLimit("stones"),
    before: stonesBefore,
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
