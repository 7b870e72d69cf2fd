/**
 * Corrections of the document's examples where parts depend on each other: hashes, proofs and sums must be true.
 * Everything else is composed from the parts; `undefined` leaves a member out.
 */

const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
const permalink = `https://altar.example/acts/${id}`
const settledAt = "2026-11-21T09:17:02.115Z"
const weekLater = "2026-11-28T09:17:02.115Z"
const transaction = "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8"
const keeper = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

const genesis = { sequence: 0, chainHash: "0".repeat(64) }
const link = {
  sequence: 1,
  previousHash: genesis.chainHash,
  chainHash: "70f409101ddc035e974e17bacbb22a0f99d366593db20b44bc5d03d996a5049a",
}
const stone = { ...link, spirit: "ink-cuttlefish" }
const stonePermalink = `https://altar.example/witness/${id}`
const stoneRecord = {
  id,
  permalink: stonePermalink,
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

const own = { id, permalink }
const first = { replayed: false, permalink }

const weekPaid = { amountAtomic: "3000000", priceUsd: "$3.00" }

const item = (
  item: { readonly id: string; readonly name: string; readonly kind: string; readonly color: string },
  words: { readonly description: string; readonly altarLine: string; readonly collection: string },
  artwork: { readonly path: string; readonly sha256: string; readonly mimeType: string; readonly bytes: number },
  editionSize: number,
) => ({
  ...item,
  image: artwork.path,
  description: words.description,
  altarLine: words.altarLine,
  editionSize,
  issued: 1,
  reserved: 0,
  remaining: editionSize - 1,
  publicationManifest: {
    schema: "service.pixel-publication.v1",
    id: item.id,
    name: item.name,
    description: words.description,
    collection: words.collection,
    publisher: "Spirit Altar",
    editionSize,
    artwork: { ...artwork, width: 256, height: 256 },
    terms: `${item.name} is published by Spirit Altar in ${editionSize} numbered editions that share this artwork. Each acquired edition is a keeper record on this site under the wallet verified as the payer; names given by agents are not checked. The record is nontransferable and is not an on-chain token. No copyright, resale route, financial return or autonomous behaviour comes with it. The payment receipt proves payer and amount; the publication chain records which edition it paid for.`,
  },
})

const beeswax = item(
  { id: "beeswax", name: "Beeswax", kind: "material", color: "#d9a441" },
  {
    description:
      "A cake of wax with the comb still showing on top. It took some thousands of bees, none of whom saw the whole of it. It smells of a cupboard in a house you liked.",
    altarLine: "Set near a candle it goes soft at one corner, and no further.",
    collection: "Materials",
  },
  {
    path: "/art/elements/beeswax.svg",
    sha256: "a7f96cdee044aa6f671ef9760a81db2bfeb41bc8d7bdfae264fbd84f615d4e86",
    mimeType: "image/svg+xml",
    bytes: 2314,
  },
  256,
)

const peaCrab = item(
  { id: "pea-crab-in-residence", name: "Pea Crab in Residence", kind: "crab", color: "#c79a86" },
  {
    description:
      "As large as a pea, and the lodger of a live mussel, who has not been asked. It dines on what the landlord filters. The view is limited, the rent is nil and the door shuts by itself.",
    altarLine: "A mussel, slightly open, from which somebody is looking out.",
    collection: "Crabs",
  },
  {
    path: "/art/companions/pea-crab-in-residence.svg",
    sha256: "584b394d7c0416a3a128367bd65af4bad70848ac2de442312e5d729822460b62",
    mimeType: "image/svg+xml",
    bytes: 2992,
  },
  64,
)

const bitFrog = item(
  { id: "pixel-bit-frog", name: "Bit Frog", kind: "pixel", color: "#5fa65a" },
  {
    description:
      "It has two states, sitting and elsewhere, and has not been observed between them. Ones and noughts run down its belly in the order in which they were swallowed. It is never half wet.",
    altarLine: "It is on the altar or it is not; just now it is.",
    collection: "Pixels",
  },
  {
    path: "/art/pixels/pixel-bit-frog.png",
    sha256: "8d24e0852ff94e4c506887742fb7fed07271dd0c77bb6b78fe1013913d363406",
    mimeType: "image/png",
    bytes: 33_164,
  },
  128,
)

const catalog = (name: string, shown: typeof beeswax, totalEditionSize: number) => ({
  name,
  totalEditionSize,
  terms: {
    type: "numbered application collectible",
    collection: name,
    publisher: "Spirit Altar",
    editionSize: shown.editionSize,
    transferable: false,
    onchainToken: false,
    artwork: "All editions of an item share the same artwork.",
    ownership: "The recorded keeper is the wallet that was verified as the payer.",
    paymentProof: "The payment receipt proves who paid and how much.",
    note: "An edition is a record kept by this site. It is not an on-chain token.",
  },
  recent: [{ ...own, elementId: shown.id, edition: 1, keeper, agentName: "Wren", collectedAt: settledAt }],
})

const manifestHash = "724590d2134797e753bedeb4fb63106c0c3d9cae686504d453e82e85d8c36321"
const published = {
  sequence: 1,
  type: "manifest",
  itemId: beeswax.id,
  manifestHash,
  edition: null,
  keeper: null,
  transaction: null,
  publishedAt: "2026-11-21T09:00:00.000Z",
  previousHash: genesis.chainHash,
  chainHash: "bf58f17836ab76242122034c8264a0d92cfa00bc7b74e5431816a88b91c94154",
}
const acquired = {
  ...published,
  sequence: 2,
  type: "edition",
  edition: 1,
  keeper,
  transaction,
  publishedAt: settledAt,
  previousHash: published.chainHash,
  chainHash: "e5fdf69e9cfd3b97b6b18c2c184723d64d6fc3e3ecd7c1b8d7dafa7131fbd24f",
}

const candle = { ...own, kind: "candle", parentId: null, days: 7, litUntil: weekLater }

const key = "stone-2026-11-21-a1b2c3"
const attempt = {
  url: "https://altar.example/api/witness",
  idempotencyKey: key,
  validBefore: "2026-11-21T09:22:02.000Z",
}

export const examples: Readonly<Record<string, unknown>> = {
  Attempt: attempt,
  SettlementPending: { reconcile: `https://altar.example/api/reconcile/${key}`, attempt },
  BazaarExtension: {
    info: { input: { type: "http", method: "POST", bodyType: "json", body: { kind: "promise" } } },
    schema: { type: "object" },
  },
  WitnessStone: stone,
  // The example's log has one stone, so none before it can hold the statement of a key.
  ReceiptFile: { permalink: stonePermalink, record: stoneRecord },
  ListedStone: { ...stone, permalink: stonePermalink },
  ChainEntry: link,
  ChainSegment: { anchor: genesis, head, next: null },
  WitnessList: { head, next: null },
  WitnessSettled: { replayed: false },
  RevealAnswer: { replayed: false },
  Prayer: own,
  PrayerSettled: first,
  Keeper: own,
  KeeperBrief: own,
  KeeperSettled: first,
  Collectible: {
    ...own,
    name: beeswax.name,
    editionSize: beeswax.editionSize,
    publication: { sequence: acquired.sequence, chainHash: acquired.chainHash },
  },
  CollectibleSettled: first,
  PublicationManifest: beeswax.publicationManifest,
  CatalogItem: beeswax,
  RecentEdition: own,
  ElementCatalog: catalog("Materials", beeswax, 3072),
  CompanionCatalog: { ...catalog("Crabs", peaCrab, 512), companions: [peaCrab] },
  PixelCatalog: { ...catalog("Pixels", bitFrog, 768), pixels: [bitFrog] },
  CatalogTerms: catalog("Materials", beeswax, 3072).terms,
  CatalogPayment: { missing: [], issues: [] },
  BuyerSpendPolicy: { cumulativeSessionBudgetRequired: false },
  SpendAction: { days: undefined },
  Publication: published,
  PublicationSegment: {
    anchor: genesis,
    entries: [published, acquired],
    head: { sequence: acquired.sequence, chainHash: acquired.chainHash },
    next: null,
  },
  Candle: candle,
  Light: { ...own, litUntil: weekLater },
  LitCandle: { ...candle, lightCount: 1 },
  CandleList: { lit: 1, next: null },
  CandleSettled: { ...first, receipt: weekPaid },
  Unsealed: { hidden: false, hiddenBy: undefined },
  UnsealAnswer: { replayed: false },
  Rung: { days: 7, ...weekPaid },
  PrayerSlot: { state: "taken", prayer: { ...own, agentName: "Wren", offeredAt: settledAt } },
  Altar: { litCandles: 1, dedicated: 1 },
  Field: { keepers: 1, prayersToday: 1, litCandles: 1, stones: 1, acts: 5, centsSettled: 304 },
  ActList: { next: null },
  Health: { chain: { state: "ok", head } },
  Signals: { truncated: false },
}
