/**
 * Corrections of the document's examples where parts depend on each other: hashes, proofs and sums must be true.
 * Everything else is composed from the parts; `undefined` leaves a member out.
 */

const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
const settledAt = "2026-11-21T09:17:02.115Z"
const transaction = "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8"
const keeper = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

const genesis = { sequence: 0, chainHash: "0".repeat(64) }
const link = {
  sequence: 1,
  previousHash: genesis.chainHash,
  chainHash: "70f409101ddc035e974e17bacbb22a0f99d366593db20b44bc5d03d996a5049a",
}
const stone = { ...link, spirit: "ink-cuttlefish" }
const permalink = `https://altar.example/witness/${id}`
const stoneRecord = {
  id,
  permalink,
  commitment: "6afde0a2de2a0973df45fed7040a985cb1efcdba7153d9420aa8743a19fb664a",
  kind: "prediction",
  spirit: "ink-cuttlefish",
  witnessedAt: settledAt,
  sequence: 1,
  chainHash: link.chainHash,
  previousHash: genesis.chainHash,
  payer: keeper,
  transaction,
  verify: {
    recipe: "chainHash = SHA-256(previousHash NUL sequence NUL commitment NUL witnessedAt NUL transaction)",
    revealUrl: `https://altar.example/api/witness/${id}/reveal`,
  },
}
const head = { sequence: link.sequence, chainHash: link.chainHash }

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
  WitnessStone: stone,
  // The example's log has one stone, so none before it can hold the statement of a key.
  ReceiptFile: { permalink, record: stoneRecord, binding: null },
  ListedStone: { ...stone, permalink },
  ChainEntry: link,
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
