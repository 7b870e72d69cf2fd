/** Both hash chains from their genesis, as the public API shows them, hashed anew. */
import { hash } from "node:crypto"
import { request } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import type { Ledger } from "./AuditLedger.ts"

interface Link {
  readonly sequence: number
  readonly transaction: string | null
  readonly previousHash: string
  readonly chainHash: string
}

export interface Stone extends Link {
  readonly id: string
  readonly commitment: string
  readonly witnessedAt: string
  readonly transaction: string
  readonly payer: string
}

interface Publication extends Link {
  readonly type: "manifest" | "edition"
  readonly itemId: string
  readonly manifestHash: string
  readonly edition: number | null
  readonly keeper: string | null
  readonly publishedAt: string
}

const genesis = "0".repeat(64)

const sha256 = (text: string) => hash("sha256", text)

/** The text whose hash is a stone's; it is the log's entry as well. */
export const stoneText = ({ commitment, previousHash, sequence, transaction, witnessedAt }: Stone): string =>
  [previousHash, sequence, commitment, witnessedAt, transaction].join("\0")

const publicationText = (entry: Publication) => {
  const { edition, itemId, keeper, manifestHash, previousHash, publishedAt, sequence, transaction, type } = entry
  return [previousHash, sequence, type, itemId, manifestHash, edition, keeper, transaction, publishedAt].join("\0")
}

/** All links of a chain that a server shows, each of which follows and hashes. */
const readChain = async <L extends Link>(
  server: string,
  path: string,
  textOf: (link: L) => string,
  head: Ledger["heads"][number] | undefined,
  found: Findings,
): Promise<ReadonlyArray<L>> => {
  const check = `the chain of ${path} follows and hashes from its genesis`
  const links: Array<L> = []
  const none: Pick<Link, "sequence" | "chainHash"> = { sequence: 0, chainHash: genesis }
  let shown = none
  for (let from: number | null = 1; from !== null;) {
    const { status, text } = await request(`${server}${path}?from=${from}&limit=100`)
    if (status !== 200) {
      found.violate(check, { server, from, status, text })
      return links
    }
    const segment: { entries: ReadonlyArray<L>; head: Link; next: number | null } = JSON.parse(text)
    for (const link of segment.entries) {
      const before = links.at(-1)
      const follows =
        link.sequence === (before?.sequence ?? 0) + 1 && link.previousHash === (before?.chainHash ?? genesis)
      const hashes = sha256(textOf(link)) === link.chainHash
      found.hold(check, follows && hashes, { server, link, before, hashes })
      links.push(link)
    }
    shown = segment.head
    from = segment.next
  }
  const last = links.at(-1) ?? none
  for (const { chainHash, sequence } of [shown, { sequence: Number(head?.sequence), chainHash: head?.hash }])
    found.hold(check, last.sequence === sequence && last.chainHash === chainHash, { server, last, shown, row: head })
  return links
}

const auditStones = (stones: ReadonlyArray<Stone>, ledger: Ledger, found: Findings) => {
  const check = "the stones are the settled ones"
  const settled = new Map(
    ledger.attempts
      .filter(({ act, state }) => act === "setWitnessStone" && state === "settled")
      .map((one) => [one.id, one]),
  )
  const rows = new Map(
    ledger.records.filter(({ table }) => table === "witness_stones").map(({ id, place }) => [id, place]),
  )
  stones.forEach((stone, at) => {
    const attempt = settled.get(stone.id)
    const place = rows.get(stone.id)
    const isSettled = attempt?.transaction === stone.transaction && attempt.payer === stone.payer.toLowerCase()
    found.hold(check, isSettled && place === String(stone.sequence), { stone, attempt, place })
    const before = stones[at - 1]
    if (before !== undefined && before.witnessedAt > stone.witnessedAt) found.violate(check, { stone, before })
  })
  const shown = new Set(stones.map(({ id }) => id))
  for (const id of settled.keys()) if (!shown.has(id)) found.violate(check, { isNotInChain: id })
}

const auditPublications = (entries: ReadonlyArray<Publication>, ledger: Ledger, found: Findings) => {
  const check = "the publications are the settled editions"
  const settled = new Map(
    ledger.attempts
      .filter(({ act, state }) => act === "collectMaterial" && state === "settled")
      .map((one) => [`${one.pool?.slice("edition:".length)} ${one.number}`, one]),
  )
  const manifests = new Set<string>()
  const shown = new Set<string>()
  for (const entry of entries) {
    const { edition, itemId, keeper, manifestHash, transaction, type } = entry
    const manifest = `${itemId} ${manifestHash}`
    if (type === "manifest") {
      found.hold(check, !manifests.has(manifest), { again: entry })
      manifests.add(manifest)
      continue
    }
    const name = `${itemId} ${edition}`
    const attempt = settled.get(name)
    const isSettled = attempt?.transaction === transaction && attempt?.payer === keeper?.toLowerCase()
    const isFirst = manifests.has(manifest) && !shown.has(name)
    found.hold(check, attempt !== undefined && isSettled && isFirst, { entry, attempt, isFirst })
    shown.add(name)
  }
  for (const name of settled.keys()) if (!shown.has(name)) found.violate(check, { isNotPublished: name })
}

export interface Chains {
  readonly stones: ReadonlyArray<Stone>
  readonly publications: ReadonlyArray<Publication>
}

/** Reads both chains from each server; answers what the first one shows. */
export const auditChains = async (servers: ReadonlyArray<string>, ledger: Ledger, found: Findings): Promise<Chains> => {
  const all: Array<Chains> = []
  const headOf = (chain: string) => ledger.heads.find((one) => one.chain === chain)
  for (const server of servers) {
    const stones = await readChain(server, "/api/witness/chain", stoneText, headOf("witness"), found)
    const path = "/api/publish-chain"
    const publications = await readChain(server, path, publicationText, headOf("publications"), found)
    auditStones(stones, ledger, found)
    auditPublications(publications, ledger, found)
    all.push({ stones, publications })
  }
  return all[0] ?? { stones: [], publications: [] }
}
