/** The tree of RFC 6962, as its text defines it, and notes that were signed over it. */
import { createPublicKey, hash, verify } from "node:crypto"

export const sha256 = (bytes: Uint8Array | string): Buffer => hash("sha256", bytes, "buffer")

export const leafOf = (entry: string): Buffer => sha256(Buffer.concat([Buffer.of(0), Buffer.from(entry)]))

const node = (left: Uint8Array, right: Uint8Array) => sha256(Buffer.concat([Buffer.of(1), left, right]))

/** The largest power of two below a size. */
const split = (size: number): number => {
  let half = 1
  while (2 * half < size) half *= 2
  return half
}

/** The root of each of the trees that begin with these leaves, by size from 0. */
export const rootsOf = (leaves: ReadonlyArray<Buffer>): ReadonlyArray<Buffer> => {
  // Perfect subtrees from the left, each with as many leaves as a bit of the size.
  const edge: Array<Buffer> = []
  const roots = [sha256("")]
  leaves.forEach((leaf, size) => {
    let hash = leaf
    for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) hash = node(edge.pop() ?? leaf, hash)
    edge.push(hash)
    roots.push(edge.reduceRight((right, left) => node(left, right)))
  })
  return roots
}

export const rootOf = (leaves: ReadonlyArray<Buffer>): Buffer => rootsOf(leaves).at(-1) ?? sha256("")

/** The root that an inclusion proof leads to; undefined where it has the wrong length. */
export const provenRoot = (
  index: number,
  size: number,
  leaf: Buffer,
  proof: ReadonlyArray<Buffer>,
): Buffer | undefined => {
  const last = proof.at(-1)
  if (size === 1 || last === undefined) return size === 1 && last === undefined ? leaf : undefined
  const half = split(size)
  const rest = proof.slice(0, -1)
  if (index < half) {
    const left = provenRoot(index, half, leaf, rest)
    return left && node(left, last)
  }
  const right = provenRoot(index - half, size - half, leaf, rest)
  return right && node(last, right)
}

interface SignedTree {
  readonly size: number
  readonly root: Buffer
}

const ed25519 = Buffer.from("302a300506032b6570032100", "hex")

/** The tree that a note states, signed by the key; undefined if the signature does not hold. */
export const openNote = (note: string, vkey: string): SignedTree | undefined => {
  const [name = "", id = "", ...encoded] = vkey.split("+")
  const key = Buffer.from(encoded.join("+"), "base64")
  const end = note.lastIndexOf("\n\n")
  const [text, signatures] = [note.slice(0, end + 1), note.slice(end + 2)]
  const [origin, sizeText = "", rootText = ""] = text.split("\n")
  const ownId = sha256(Buffer.concat([Buffer.from(`${name}\n`), key])).subarray(0, 4)
  const own = signatures
    .split("\n")
    .filter((line) => line.startsWith(`— ${name} `))
    .map((line) => Buffer.from(line.slice(name.length + 3), "base64"))
    .find((bytes) => bytes.subarray(0, 4).equals(ownId))
  if (end < 0 || origin !== name || ownId.toString("hex") !== id || own === undefined) return undefined
  const publicKey = createPublicKey({ key: Buffer.concat([ed25519, key.subarray(1)]), format: "der", type: "spki" })
  if (!verify(null, Buffer.from(text), publicKey, own.subarray(4))) return undefined
  if (!/^(?:0|[1-9][0-9]*)$/u.test(sizeText)) return undefined
  return { size: Number(sizeText), root: Buffer.from(rootText, "base64") }
}
