/** Checks the receipt file of an act offline, and says of each part what was shown and what was not. */
import { hex } from "../../../schema/log/Bytes.ts"
import { entryOf } from "../../../schema/log/Entry.ts"
import { keyTypes } from "../../../schema/log/Note.ts"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import { bodyText, isMarked, saltBytes } from "../../../schema/payments/BindingRecipe.ts"
import { centAtomic, networkName, priceUsd, usdcOn } from "../../../schema/payments/Usdc.ts"
import { boundNonce } from "../core/Authorization.ts"
import { chainHashOf } from "../core/Chain.ts"
import { checkReveal } from "../core/Commitment.ts"
import { sha256 } from "../core/Digest.ts"
import { same } from "../core/Expectation.ts"
import { verifyEntry } from "../log/EntryProof.ts"
import { keyOf, type Trust } from "../log/SignedCheckpoint.ts"
import { Unproven } from "../core/Verdict.ts"
import { leaf } from "../log/WebCrypto.ts"
import { checked, fault, holds, isSound, open, type ReceiptCheck, unless } from "./Checks.ts"
import { claimsOf, openJws, type ReceiptClaims } from "./Jws.ts"
import { linkOf, readReceiptFile, type ReceiptFile } from "./ReceiptFile.ts"

export interface ReceiptTrust {
  /** The verifier key of the receipts, `name+hash+base64`, from a source other than the file. */
  readonly key: string
  /** The address that was paid. */
  readonly payTo?: string | undefined
  /** The log's key and, where required, its cosigners. */
  readonly log?: Trust | undefined
}

export interface ReceiptVerdict {
  /** Whether the signature holds, nothing is broken, and each named key was used. Checks that are `open` were not shown. */
  readonly ok: boolean
  readonly checks: ReadonlyArray<ReceiptCheck>
  /** The claims of the receipt, when its signature holds. */
  readonly claims?: ReceiptClaims
}

const bytesOf = (text: string) => Uint8Array.from(text.match(/../gu) ?? [], (byte) => Number.parseInt(byte, 16))

/** The public key that must have signed. */
const publicKeyOf = async (kid: string, key: string) => {
  const name = kid.split("#")[1]
  const { name: trusted, publicKey } = await keyOf(key, keyTypes.ed25519)
  if (trusted !== name) throw new Unproven("key", `The receipt names the key ${name}, not ${trusted}.`)
  return publicKey
}

/** The sum, in USDC where the token of the network is known to be that. */
export const sumOf = ({ amount, asset, network }: Pick<ReceiptClaims, "amount" | "asset" | "network">) =>
  same(usdcOn(network), asset) && BigInt(amount) % centAtomic === 0n
    ? `${priceUsd(BigInt(amount)).slice(1)} USDC`
    : `${amount} atomic units of the token ${asset}`

const claimsCheck = (file: ReceiptFile, kid: string, claims: ReceiptClaims, payTo: string | undefined) =>
  checked("claims", async () => {
    const { act, permalink, record } = file
    unless(
      URL.canParse(claims.resourceUrl) && URL.canParse(permalink),
      "The permalink or the address of the purchase is no URL.",
    )
    const { host, origin } = new URL(claims.resourceUrl)
    unless(kid.split("#")[0] === `did:web:${encodeURIComponent(host)}`, `The key is of another host than ${host}.`)
    unless(new URL(permalink).origin === origin, "The permalink is of another host than the purchase.")
    unless(
      act === claims.act && permalink.endsWith(`/${claims.id}`),
      `The receipt is of ${claims.act} ${claims.id}, and the file of another act.`,
    )
    unless(payTo === undefined || same(claims.payTo, payTo), `It was paid to ${claims.payTo}, not to ${payTo}.`)
    for (const [name, claim] of [
      ["payer", claims.payer],
      ["keeper", claims.payer],
      ["transaction", claims.transaction],
    ] as const) {
      const shown = record?.[name]
      unless(shown === undefined || shown === null || same(shown, claim), `The record names another ${name}.`)
    }
    unless(record === null || record["permalink"] === permalink, "The record is of another permalink.")
    const at = new Date(claims.issuedAt * 1000).toISOString()
    return holds(
      "claims",
      `${claims.payer} paid ${sumOf(claims)} on ${networkName(claims.network)} to ${claims.payTo} for ${claims.resourceUrl}, ${at}.`,
    )
  })

const recordCheck = ({ record }: ReceiptFile, claims: ReceiptClaims) =>
  checked("record", async () => {
    if (record === null) return open("record", "The file has no record: an operator hid a text of it.")
    const computed = await sha256(canonicalJson(record))
    unless(computed === claims.record, `The record hashes to ${computed}, and ${claims.record} was signed.`)
    return holds("record", "The record is the one that was signed.")
  })

/** The nonce of the payment names the request, so the transfer itself says what it bought. */
const bindingCheck = ({ binding, body, record }: ReceiptFile, { nonce, resourceUrl }: ReceiptClaims) =>
  checked("binding", async () => {
    if (binding === null) {
      unless(!isMarked(nonce), "The nonce names a request, and the file does not say which.")
      return open("binding", "The nonce is random: the transfer does not say what it bought.")
    }
    const { bodySha256, salt, url } = binding
    unless(url === resourceUrl, `The binding is of ${url}, and the payment was for ${resourceUrl}.`)
    if (body === undefined) return open("binding", "Not checked: the body of the request is not public.")
    unless((await sha256(bodyText(body))) === bodySha256, "The body is not the one of the binding.")
    const bytes = saltBytes(salt)
    if (bytes === undefined) throw new Unproven("malformed", "The salt does not have its form.")
    const bound = await boundNonce({ method: "POST", url, bodySha256 }, bytes)
    unless(same(nonce, bound), "The nonce of the payment was derived from another request.")
    // A request for other words dates none of the record's.
    for (const name of record === null ? [] : ["commitment", "intentionCommitment"])
      unless(
        (body[name] ?? null) === (record?.[name] ?? null),
        "The payment names other sealed words than the record has.",
      )
    return holds(
      "binding",
      `The nonce was derived from POST ${url} with this body: the transfer pays for nothing else.`,
    )
  })

const stoneChecks = async ({ log, record }: ReceiptFile, claims: ReceiptClaims, trust: Trust | undefined) => {
  const { stone: signed } = claims
  if (signed === undefined) {
    const reason = "The receipt is of no stone, and a log proof stands beside it."
    return log === undefined ? [] : [fault("log", { fault: "stone", reason })]
  }
  const link = checked("stone", async () => {
    if (record === null) return open("stone", "Without the record the stone cannot be hashed.")
    const stone = linkOf(record)
    unless((await chainHashOf(stone)) === stone.chainHash, "The stone does not hash to its chainHash.")
    const computed = hex(await leaf(entryOf(stone)))
    unless(stone.sequence === signed.sequence && computed === signed.leaf, "The receipt is of another stone.")
    unless(
      Math.floor(Date.parse(stone.witnessedAt) / 1000) === claims.issuedAt,
      "The receipt was issued at another time than its stone was set.",
    )
    return holds("stone", `Stone ${signed.sequence} hashes to its chainHash and to the signed leaf.`)
  })
  // The leaf is signed, so its place is shown even where the record is hidden.
  const inLog = checked("log", async () => {
    if (trust === undefined) return open("log", "The log proof was not checked: name the log's key.")
    if (log === undefined)
      throw new Unproven("inclusion", "The file holds no log proof to check: download it again in a few seconds.")
    const verdict = await verifyEntry(log, { leaf: bytesOf(signed.leaf) }, trust)
    if (!verdict.ok) throw new Unproven(verdict.fault, verdict.reason)
    unless(verdict.index === signed.sequence - 1, `The proof is of stone ${verdict.index + 1}.`)
    const names = verdict.cosignatures.map(({ name }) => name).join(", ")
    return holds(
      "log",
      `The log ${verdict.origin} holds the stone in its tree of ${verdict.size}${names === "" ? "" : `, cosigned by ${names}`}.`,
    )
  })
  return [await link, await inLog]
}

const wordsCheck = ({ record, reveal }: ReceiptFile) =>
  checked("words", async () => {
    const commitment = record?.["commitment"] ?? record?.["intentionCommitment"]
    if (reveal === null) return open("words", "No words are revealed.")
    if (reveal.text === null) return open("words", "The words are hidden.")
    if (record === null) return open("words", "Without the record nothing says what was sealed.")
    const fault = await checkReveal(typeof commitment === "string" ? commitment : null, reveal)
    if (fault !== undefined) throw new Unproven("malformed", `The record ${fault.summary}.`)
    return holds("words", "The revealed words and their salt are those that were sealed.")
  })

/** The act and the key that a file names; throws its fault. Nothing of it is checked yet. */
export const namedIn = (text: string) => {
  const { act, receipt } = readReceiptFile(text)
  return { act, kid: openJws(receipt).kid }
}

/** Checks a receipt file. A file that cannot be read, or is signed with another key, has one broken check. */
export const verifyReceipt = async (text: string, trust: ReceiptTrust): Promise<ReceiptVerdict> => {
  let opened: { readonly file: ReceiptFile; readonly kid: string; readonly claims: ReceiptClaims } | undefined
  const signature = await checked("signature", async () => {
    const file = readReceiptFile(text)
    const jws = openJws(file.receipt)
    if (!(await jws.isSignedWith(await publicKeyOf(jws.kid, trust.key))))
      throw new Unproven("signature", `The receipt is not signed with the key ${jws.kid}.`)
    opened = { file, kid: jws.kid, claims: claimsOf(jws.payload) }
    return holds("signature", `The receipt is signed with the key ${jws.kid}.`)
  })
  if (opened === undefined) return { ok: false, checks: [signature] }
  const { claims, file, kid } = opened
  const checks = [
    signature,
    await claimsCheck(file, kid, claims, trust.payTo),
    await recordCheck(file, claims),
    await bindingCheck(file, claims),
    ...(await stoneChecks(file, claims, trust.log)),
    await wordsCheck(file),
    ...(file.isDated
      ? [open("date", "The date in the file is not signed: verify --receipt with --rpc reads the payment's block.")]
      : []),
    open(
      "key",
      "Nothing here shows that this key belongs to the altar: compare it with a copy from an independent source.",
    ),
    open(
      "payment",
      `The transfer was not looked up on ${networkName(claims.network)}; ask a node for transaction ${claims.transaction}.`,
    ),
  ]
  return { ok: isSound(checks), checks, claims }
}
