/** A log of unsold stones, as files in memory behind a socket: as long as a test wants it. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { genesisHash } from "../../../schema/altar/ChainLink.ts"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { entryOf, parseEntry } from "../../../schema/log/Entry.ts"
import { bundleBytes, fullWidth, parsePath } from "../../../schema/log/Tile.ts"
import { leafOf } from "../../../src/log/Tree.ts"
import { MemoryLog } from "./MemoryLog.ts"
import { origin, signer } from "./LogFixture.ts"
import { listening } from "../proxy/HttpServer.ts"

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex")

/** The entries of so many stones, which from one on are those of another history. */
export const entriesOf = (count: number, rewrittenFrom = Infinity) => {
  const entries: Array<Uint8Array> = []
  let previousHash = genesisHash
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const commitment = sha256(`stone ${sequence}${sequence < rewrittenFrom ? "" : " rewritten"}`)
    const witnessedAt = "2026-11-21T00:00:00.000Z"
    const entry = entryOf({ previousHash, sequence, commitment, witnessedAt, transaction: `0x${commitment}` })
    entries.push(entry)
    previousHash = sha256(entry)
  }
  return entries
}

/** The chain hash of the stone at a position; that of the genesis at 0. */
export const hashAt = (entries: ReadonlyArray<Uint8Array>, size: number) =>
  size === 0 ? genesisHash : sha256(entries[size - 1] ?? "")

/** A segment of their chain, as an altar serves it. */
export const segmentOf = (entries: ReadonlyArray<Uint8Array>, from: number, limit: number) => {
  const links = entries.slice(from - 1, from - 1 + limit).map((entry) => {
    const link = parseEntry(entry)
    if (link instanceof Malformed) throw new Error(link.message)
    return { ...link, id: `stone-${link.sequence}`, payer: `0x${"1".repeat(40)}`, chainHash: sha256(entry) }
  })
  const head = { sequence: entries.length, chainHash: hashAt(entries, entries.length) }
  return { entries: links, head, next: from + limit > entries.length ? null : from + limit }
}

/**
 * Serves the first `size` entries, which may change. The stones of its chain are all entries, or others where `chain` says
 * so for a limit.
 */
export const serve = Effect.fnUntraced(function* (entries: ReadonlyArray<Uint8Array>) {
  const log = new MemoryLog().append(entries.map(leafOf))
  const state = {
    size: entries.length,
    entries,
    log,
    chain: (_: number): ReadonlyArray<Uint8Array> => state.entries,
  }
  const answerOf = (path: string): Uint8Array | string | undefined => {
    if (path === "/api/witness/log") return JSON.stringify({ vkey: signer.vkey })
    const chain = /^\/api\/witness\/chain\?from=(\d+)&limit=(\d+)$/u.exec(path)
    if (chain !== null) {
      const [from, limit] = [Number(chain[1]), Number(chain[2])]
      return JSON.stringify(segmentOf(state.chain(limit), from, limit))
    }
    // None of them is revealed.
    if (path.startsWith("/api/acts?")) return JSON.stringify({ acts: [], next: null })
    if (path === "/log/checkpoint") {
      const root = Uint8Array.from(state.log.rootAt(state.size))
      return signer.note({ origin, size: state.size, root, extensions: [] })
    }
    const resource = parsePath(path.slice("/log/".length))
    if (resource instanceof Malformed) return undefined
    if (resource.kind === "tile") return state.log.read(resource)?.subarray(0, resource.width * 32)
    const from = resource.index * fullWidth
    return bundleBytes(state.entries.slice(from, from + resource.width))
  }
  const base = yield* listening((_, response, { url = "" }) => {
    const answer = answerOf(url)
    response.writeHead(answer === undefined ? 404 : 200).end(answer)
  })
  return Object.assign(state, { base })
})

export type Log = Effect.Success<ReturnType<typeof serve>>

/** The log has these entries, and the tree that they make. */
export const become = (log: Log, entries: ReadonlyArray<Uint8Array>) => {
  log.entries = entries
  log.log = new MemoryLog().append(entries.map(leafOf))
}
