/**
 * Corrections of the document's examples where parts depend on each other: hashes, proofs and sums must be true.
 * Everything else is composed from the parts; `undefined` leaves a member out.
 */

import { stoneExample } from "../altar/Witness.ts"

const { chainHash, previousHash, sequence } = stoneExample
const genesis = { sequence: 0, chainHash: previousHash }
const head = { sequence, chainHash }

const manifestHash = "724590d2134797e753bedeb4fb63106c0c3d9cae686504d453e82e85d8c36321"
const published = {
  sequence: 1,
  type: "manifest",
  itemId: "beeswax",
  manifestHash,
  edition: null,
  keeper: null,
  transaction: null,
  publishedAt: "2026-11-21T09:00:00.000Z",
  previousHash: genesis.chainHash,
  chainHash: "bf58f17836ab76242122034c8264a0d92cfa00bc7b74e5431816a88b91c94154",
}

export const examples: Readonly<Record<string, unknown>> = {
  ChainSegment: { anchor: genesis, head, next: null },
  SpendAction: { days: undefined },
  Publication: published,
  PublicationSegment: {
    anchor: genesis,
    entries: [published],
    head: { sequence: published.sequence, chainHash: published.chainHash },
    next: null,
  },
  Unsealed: { hidden: false, hiddenBy: undefined },
  Health: { chain: { state: "ok", head } },
}
