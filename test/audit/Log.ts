/** The transparency log: signed by its key, made of the stones, and never another than it was. */
import { setTimeout } from "node:timers/promises"
import { each, request } from "./Api.ts"
import { type Stone, stoneText } from "./Chains.ts"
import type { Findings } from "./Findings.ts"
import type { Ledger } from "./AuditLedger.ts"
import { leafOf, openNote, provenRoot, rootOf, rootsOf } from "./Merkle.ts"

export type LogView = ReturnType<typeof viewOf>

interface Status {
  readonly vkey: string
  readonly url: string
  readonly state: string
  readonly size: number
  readonly root: string
  readonly checkpoint: string
}

const full = 256

/** The path of a tile: decimal in groups of three, all but the last marked. */
const pathOf = (index: number) => {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/.../gu) ?? []
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join("/")
}

/** The files of one level: where each is, and which of its hashes. */
const filesOf = (kind: string, count: number) =>
  Array.from({ length: Math.ceil(count / full) }, (_, index) => {
    const width = Math.min(full, count - index * full)
    return {
      path: `tile/${kind}/${pathOf(index)}${width === full ? "" : `.p/${width}`}`,
      from: index * full,
      to: index * full + width,
    }
  })

const bundleOf = (entries: ReadonlyArray<string>) =>
  Buffer.concat(
    entries.flatMap((entry) => {
      const bytes = Buffer.from(entry)
      return [Buffer.of(bytes.length >> 8, bytes.length & 255), bytes]
    }),
  )

const viewOf = (vkey: string, leaves: ReadonlyArray<Buffer>) => {
  const roots = rootsOf(leaves)
  /** Says what is wrong with a signed checkpoint; nothing when it is of this log. */
  const wrongCheckpoint = (note: string) => {
    const tree = openNote(note, vkey)
    if (tree === undefined) return "is not signed by the log's key"
    const root = roots[tree.size]
    if (root === undefined) return `covers ${tree.size} stones, and there are ${leaves.length}`
    return root.equals(tree.root) ? undefined : `has another root than the first ${tree.size} stones`
  }
  /** The same of a `.tlog-proof` for the entry at an index. */
  const wrongProof = (text: string, index: number) => {
    const end = text.indexOf("\n\n")
    const [first, indexLine, ...hashes] = text.slice(0, end).split("\n")
    const note = text.slice(end + 2)
    if (first !== "c2sp.org/tlog-proof@v1" || indexLine !== `index ${index}`) return `is none of index ${index}`
    const tree = openNote(note, vkey)
    const leaf = leaves[index]
    if (tree === undefined || leaf === undefined || index >= tree.size)
      return "does not lead to a signed checkpoint that covers it"
    const root = provenRoot(
      index,
      tree.size,
      leaf,
      hashes.map((line) => Buffer.from(line, "base64")),
    )
    return root?.equals(tree.root) === true ? wrongCheckpoint(note) : "does not lead to the root of its checkpoint"
  }
  return { vkey, wrongCheckpoint, wrongProof }
}

const checks = {
  checkpoint: "a checkpoint is signed, and of the stones as they are",
  covered: "every stone is in the log",
  tiles: "the log's files are those of its stones",
  proof: "every stone has a proof that leads to the signed root",
}

/** The status once all entries are covered, which takes two seconds, or the last one; a text says why there is none. */
const statusOf = async (url: string, entries: number): Promise<Status | "no log" | "stopped"> => {
  for (const end = Date.now() + 20_000; ; await setTimeout(300)) {
    const { status, text } = await request(url)
    if (status === 404) return "no log"
    if (text.includes('"log_stopped"')) return "stopped"
    if (status === 200) {
      const body: Status = JSON.parse(text)
      if (body.size >= entries || body.state === "stopped" || Date.now() > end) return body
    } else if (Date.now() > end) throw new Error(`${url} answers ${status}: ${text}`)
  }
}

/** Compares every file of a log with the one that these entries make. */
const auditFiles = async (
  url: string,
  entries: ReadonlyArray<string>,
  leaves: ReadonlyArray<Buffer>,
  found: Findings,
) => {
  const expected: Array<{ readonly path: string; readonly bytes: Buffer }> = []
  for (const { from, path, to } of filesOf("entries", entries.length))
    expected.push({ path, bytes: bundleOf(entries.slice(from, to)) })
  let row = leaves
  for (let level = 0; row.length > 0; level += 1) {
    const hashes = row
    for (const { from, path, to } of filesOf(String(level), row.length))
      expected.push({ path, bytes: Buffer.concat(hashes.slice(from, to)) })
    row = Array.from({ length: Math.floor(hashes.length / full) }, (_, at) =>
      rootOf(hashes.slice(at * full, (at + 1) * full)),
    )
  }
  await each(expected, async ({ bytes, path }) => {
    const answer = await request(`${url}${path}`)
    const isSame = answer.status === 200 && answer.bytes.equals(bytes)
    found.hold(checks.tiles, isSame, { url: `${url}${path}`, status: answer.status })
  })
}

/** Holds every server's log against the chain of stones. */
export const auditLog = async (
  servers: ReadonlyArray<string>,
  stones: ReadonlyArray<Stone>,
  { checkpoints, logHead }: Ledger,
  found: Findings,
): Promise<LogView | undefined> => {
  const texts = stones.map(stoneText)
  const leaves = texts.map(leafOf)
  let view: LogView | undefined
  for (const server of servers) {
    const status = await statusOf(`${server}/api/witness/log`, stones.length)
    if (status === "no log") continue
    if (status === "stopped") {
      found.violate(checks.covered, { server, status })
      continue
    }
    view ??= viewOf(status.vkey, leaves)
    const wrong = view.wrongCheckpoint(status.checkpoint)
    found.hold(checks.checkpoint, wrong === undefined, { server, checkpoint: wrong })
    // A restarted server waits for a neighbour's next checkpoint, which comes with the next sale.
    const isCovered = status.size === stones.length && status.state !== "stopped"
    found.hold(checks.covered, isCovered, { server, status, stones: stones.length })
    found.hold(checks.checkpoint, status.vkey === view.vkey, { server, vkey: status.vkey, others: view.vkey })
    // Below a server's own address: the log's address in an answer may bypass it.
    const file = await request(`${server}/log/checkpoint`)
    const other = view.wrongCheckpoint(file.text)
    found.hold(checks.checkpoint, file.status === 200 && other === undefined, {
      server,
      status: file.status,
      file: other,
    })
    await auditFiles(`${server}/log/`, texts.slice(0, status.size), leaves.slice(0, status.size), found)
  }
  if (view === undefined) return undefined
  const { vkey, wrongCheckpoint, wrongProof } = view
  for (const { note, root, size } of checkpoints) {
    const wrong =
      wrongCheckpoint(note) ??
      (openNote(note, vkey)?.root.equals(root) === true ? undefined : "is kept with another root")
    found.hold(checks.checkpoint, wrong === undefined, { kept: size, wrong })
  }
  for (const { size, stopped } of logHead) found.hold(checks.covered, stopped === null, { size, stopped })
  await each(stones, async ({ id }, at) => {
    const server = servers[at % servers.length]
    const { status, text } = await request(`${server}/api/witness/${id}/proof`)
    const wrong = status === 200 ? wrongProof(text, at) : `is answered ${status}`
    found.hold(checks.proof, wrong === undefined, { server, id, at, wrong })
  })
  return view
}
