/** A receipt file with everything in it: a revealed stone and its log. */
import { createHash } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Result, Effect, Option } from "effect"
import { chainLinkText } from "../../../schema/altar/ChainLink.ts"
import { concat } from "../../../schema/log/Bytes.ts"
import { proofFileText } from "../../../schema/log/ProofFile.ts"
import { bodyText, boundBytes, nonceOf } from "../../../schema/payments/BindingRecipe.ts"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import { receiptFormat } from "../../../schema/altar/ReceiptFile.ts"
import { chainHash, seal, sha256 } from "../../../src/altar/Hashes.ts"
import { fromText, generate, plainFrom } from "../../../src/log/Signer.ts"
import { jwsOf } from "../../../src/payments/Receipt.ts"
import { verifyReceiptFile } from "../../../src/cli/verify/Receipt.ts"
import { printing } from "../CommandRun.ts"
import { newFolder } from "../Folders.ts"

export const host = "https://altar.example"
export const keyTextOf = (name: string) => Result.getOrThrow(generate(name))
export const keys = keyTextOf("receipts-1")
export const signer = Result.getOrThrow(plainFrom(keys))
export const receipts = { current: signer, retired: [] }
export const key = Result.getOrThrow(fromText(keys)).vkey
export const other = Result.getOrThrow(plainFrom(keyTextOf("receipts-1")))
export const log = Result.getOrThrow(fromText(keyTextOf("altar.example/log")))
export const payTo = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"

const transaction = `0x${"ab".repeat(32)}`
const [salt, words] = ["5c1fd1e6a0bb4e7f9c2d", "The heron will return by May."]
const nodeHash = (left: string, right: string) =>
  sha256(concat(Uint8Array.of(1), Buffer.from(left, "hex"), Buffer.from(right, "hex")))
const leafOf = (link: Parameters<typeof chainLinkText>[0]) => sha256(`\0${chainLinkText(link)}`)

export const linkOf = (previousHash: string, sequence: number, commitment: string, witnessedAt: string) => {
  const link = { previousHash, sequence, commitment, witnessedAt, transaction }
  return { ...link, chainHash: chainHash(link) }
}

/** The receipt file of the second of two stones, and a log of both. */
export const madeReceiptFile = () => {
  const first = linkOf("0".repeat(64), 1, seal(salt, "Another stone."), "2026-11-20T09:17:02.115Z")
  const second = linkOf(first.chainHash, 2, seal(salt, words), "2026-11-21T09:17:02.115Z")
  const [firstLeaf, secondLeaf] = [leafOf(first), leafOf(second)]
  const root = Buffer.from(nodeHash(firstLeaf, secondLeaf), "hex")
  const checkpoint = log.note({ origin: "altar.example/log", size: 2, root: concat(root), extensions: [] })
  const proofOf = (index: number, sibling: string) =>
    proofFileText({ extra: undefined, index, hashes: [concat(Buffer.from(sibling, "hex"))], checkpoint })
  const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
  const permalink = `${host}/witness/${id}`
  const record = { id, permalink, ...second, payer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" }
  const body = { commitment: second.commitment }
  const request = { method: "POST", url: `${host}/api/witness`, bodySha256: sha256(bodyText(body)) }
  const bindingSalt = "AAECAwQFBgcICQoLDA0ODw"
  const claims = {
    version: 1,
    network: "eip155:8453",
    resourceUrl: `${host}/api/witness`,
    payer: record.payer,
    issuedAt: Math.floor(Date.parse(second.witnessedAt) / 1000),
    transaction,
    delivered: {
      act: "setWitnessStone",
      id,
      amount: "10000",
      asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      payTo,
      nonce: nonceOf(
        createHash("sha256")
          .update(boundBytes(request, Buffer.from(bindingSalt, "base64url")))
          .digest(),
      ),
      record: sha256(canonicalJson(record)),
      sequence: 2,
      leaf: secondLeaf,
    },
  }
  const file = {
    format: receiptFormat,
    act: "setWitnessStone",
    permalink,
    receipt: jwsOf(host, signer, "x402-receipt+jws", claims),
    record,
    reveal: { text: words, salt, hidden: false, agentName: null, revealedAt: "2026-11-22T00:00:00.000Z" },
    binding: { version: 1, salt: bindingSalt, ...request },
    body,
    log: proofOf(1, firstLeaf),
  }
  return { claims, file, proofOfFirst: proofOf(0, secondLeaf) }
}

/** Its lines and its result for a file with this text, by the trust that is given. */
export const checked = Effect.fnUntraced(function* (
  text: string,
  {
    fingerprint,
    json,
    ...given
  }: Partial<Parameters<typeof verifyReceiptFile>[1]> & {
    readonly fingerprint?: Parameters<typeof verifyReceiptFile>[2]
    readonly json?: boolean
  },
) {
  const path = join(newFolder(), "receipt.json")
  yield* Effect.promise(() => writeFile(path, text))
  const none = Option.none<string>()
  const trust = { key: none, payTo: [], vkey: none, actsVkey: none, policy: none, rpc: none }
  return yield* printing(verifyReceiptFile(path, { ...trust, ...given }, fingerprint), json)
})
