/** A log of unsold stones, as files in memory behind a socket: as long as a test wants it. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { genesisHash } from "../../../schema/altar/ChainLink.ts"
import { entryOf } from "../../../schema/log/Entry.ts"
import { leafOf } from "../../../src/log/Tree.ts"
import { MemoryLog } from "./MemoryLog.ts"
import { origin, signer } from "./LogFixture.ts"
import { listening } from "../proxy/HttpServer.ts"

export const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex")

export const transactionOf = (sequence: number) => `0x${sha256(`transaction ${sequence}`)}`

/** The entries of stones over these commitments. */
export const entriesOver = (commitments: ReadonlyArray<string>) => {
  const entries: Array<Uint8Array> = []
  for (const [at, commitment] of commitments.entries()) {
    const [previousHash, witnessedAt] = [hashAt(entries, at), "2026-11-21T00:00:00.000Z"]
    entries.push(
      entryOf({ previousHash, sequence: at + 1, commitment, witnessedAt, transaction: transactionOf(at + 1) }),
    )
  }
  return entries
}

/** The entries of so many stones, which from one on are those of another history. */
export const entriesOf = (count: number, rewrittenFrom = Infinity) =>
  entriesOver(
    Array.from({ length: count }, (_, at) => sha256(`stone ${at + 1}${at + 1 < rewrittenFrom ? "" : " rewritten"}`)),
  )

/** The chain hash of the stone at a position; that of the genesis at 0. */
export const hashAt = (entries: ReadonlyArray<Uint8Array>, size: number) =>
  size === 0 ? genesisHash : sha256(entries[size - 1] ?? "")

/** The stone of an entry. */
export const linkOf = (entry: Uint8Array) => {
  const parts = new TextDecoder().decode(entry).split("\0")
  const [previousHash = "", sequence, commitment = "", witnessedAt = "", transaction = ""] = parts
  return { previousHash, sequence: Number(sequence), commitment, witnessedAt, transaction, chainHash: sha256(entry) }
}

/** A segment of their chain, as an altar serves it. */
export const segmentOf = (entries: ReadonlyArray<Uint8Array>, from: number, limit: number) => {
  const links = entries.slice(from - 1, from - 1 + limit).map((entry) => {
    const link = linkOf(entry)
    return { ...link, id: `stone-${link.sequence}`, payer: `0x${"1".repeat(40)}` }
  })
  const head = { sequence: entries.length, chainHash: hashAt(entries, entries.length) }
  return { entries: links, head, next: from + limit > entries.length ? null : from + limit }
}

/** Serves a checkpoint over the first `size` entries, and the stones of `chain`; both may change. */
export const serve = Effect.fnUntraced(function* (entries: ReadonlyArray<Uint8Array>) {
  const state = { size: entries.length, entries, chain: entries }
  const answerOf = (path: string): string | undefined => {
    if (path === "/api/witness/log") return JSON.stringify({ vkey: signer.vkey })
    const chain = /^\/api\/witness\/chain\?from=(\d+)&limit=(\d+)$/u.exec(path)
    if (chain !== null) return JSON.stringify(segmentOf(state.chain, Number(chain[1]), Number(chain[2])))
    // None of them is revealed.
    if (path.startsWith("/api/acts?")) return JSON.stringify({ acts: [], next: null })
    if (path !== "/log/checkpoint") return undefined
    const { entries, size } = state
    const { root } = new MemoryLog().append(entries.slice(0, size).map(leafOf))
    return signer.note({ origin, size, root: Uint8Array.from(root), extensions: [] })
  }
  const base = yield* listening((_, response, { url = "" }) => {
    const answer = answerOf(url)
    response.writeHead(answer === undefined ? 404 : 200).end(answer)
  })
  return Object.assign(state, { base })
})

export type Log = Effect.Success<ReturnType<typeof serve>>
