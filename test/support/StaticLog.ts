/** A log of stones that nobody sold, as files in memory behind a socket: as long as a test wants it. */
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import { Effect } from "effect"
import { genesisHash } from "../../schema/altar/ChainLink.ts"
import { Malformed } from "../../schema/log/Bytes.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { bundleBytes, fullWidth, parsePath } from "../../schema/log/Tile.ts"
import { leafOf } from "../../src/log/Tree.ts"
import { MemoryLog } from "./LogTiles.ts"
import { origin, signer } from "./LogWorld.ts"

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex")

/** The entries of so many stones; `seed` makes another history from a stone on. */
export const entriesOf = (count: number, seed: (sequence: number) => string = () => "") => {
  const entries: Array<Uint8Array> = []
  let previousHash = genesisHash
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const commitment = sha256(`stone ${sequence} ${seed(sequence)}`)
    const witnessedAt = "2026-11-21T00:00:00.000Z"
    const entry = entryOf({ previousHash, sequence, commitment, witnessedAt, transaction: `0x${commitment}` })
    entries.push(entry)
    previousHash = sha256(entry)
  }
  return entries
}

/** Serves the first `size` entries, which may change; `asked` counts bundles, and `refuse` may turn one away. */
export const serve = Effect.fnUntraced(function* (entries: ReadonlyArray<Uint8Array>) {
  const log = new MemoryLog().append(entries.map(leafOf))
  const state = { size: entries.length, entries, log, asked: 0, refuse: (_: number): boolean => false }
  const answerOf = (path: string): Uint8Array | string | undefined => {
    if (path === "/api/witness/log") return JSON.stringify({ vkey: signer.vkey })
    const chain = /^\/api\/witness\/chain\?from=(\d+)/u.exec(path)
    if (chain !== null) {
      return JSON.stringify({ entries: [{ chainHash: sha256(state.entries[Number(chain[1]) - 1] ?? "") }] })
    }
    if (path === "/log/checkpoint") {
      const root = Uint8Array.from(state.log.rootAt(state.size))
      return signer.note({ origin, size: state.size, root, extensions: [] })
    }
    const resource = parsePath(path.slice("/log/".length))
    if (resource instanceof Malformed) return undefined
    if (resource.kind === "tile") return state.log.read(resource)?.subarray(0, resource.width * 32)
    state.asked += 1
    const from = resource.index * fullWidth
    return state.refuse(resource.index) ? undefined : bundleBytes(state.entries.slice(from, from + resource.width))
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const made = createServer((request, response) => {
        const answer = answerOf(request.url ?? "")
        response.writeHead(answer === undefined ? 404 : 200).end(answer)
      })
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) => Effect.sync(() => made.close().closeAllConnections()),
  )
  const address = server.address()
  return Object.assign(state, {
    base: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
  })
})
