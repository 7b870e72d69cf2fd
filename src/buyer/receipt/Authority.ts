/** Why a key may sign receipts: a statement signed by the account that was paid, and its stone in the log. */
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import { accountOf } from "../../../schema/payments/KeyStatement.ts"
import { chainHashOf } from "../core/Chain.ts"
import { sha256 } from "../core/Digest.ts"
import type { Trust } from "../log/SignedCheckpoint.ts"
import { verifyProof } from "../log/StoneProof.ts"
import { Unproven } from "../log/Verdict.ts"
import { checked, holds, open, type ReceiptCheck, same, unless } from "./Checks.ts"
import type { ReceiptClaims } from "./Jws.ts"
import type { Authorization } from "./ReceiptFile.ts"

/** Asks a contract wallet whether it signed; needs a node, so the reader brings it. */
export type ContractSigned = (of: Pick<Authorization, "signature" | "statement">) => Promise<boolean>

/** The commitment of an authorization's stone. */
export const authorizationHash = ({ signature, statement, type }: Omit<Authorization, "stone" | "proof">) =>
  sha256(canonicalJson({ signature, statement: { ...statement }, type }))

export const hex = (text: string): `0x${string}` => `0x${text.slice(2)}`

/** Whether the account of a statement signed it; undefined for a contract without a node to ask. */
export const isAuthorized = async (
  authorization: Omit<Authorization, "stone" | "proof">,
  isContractSigned?: () => Promise<boolean>,
): Promise<boolean | undefined> => {
  if (authorization.type === "contract") return isContractSigned?.()
  const { signerOf } = await import("./Recover.ts")
  const signer = await signerOf(authorization.statement, hex(authorization.signature))
  return same(signer, accountOf(authorization.statement.payTo).address)
}

interface Signed {
  readonly kid: string
  /** base64url. */
  readonly x: string
  readonly claims: ReceiptClaims
}

export const authorityChecks = async (
  authorization: Authorization,
  { claims, kid, x }: Signed,
  trust: { readonly log?: Trust | undefined; readonly isContractSigned?: ContractSigned | undefined },
): Promise<ReadonlyArray<ReceiptCheck>> => {
  const { proof, statement, stone } = authorization
  const statementCheck = await checked("key", async () => {
    const { address, network } = accountOf(statement.payTo)
    unless(statement.kid === kid && statement.jwk.x === x, "The statement is of another key.")
    unless(statement.did === kid.split("#")[0], "The statement is of another host than its key.")
    unless(
      network === claims.network && same(claims.payTo, address),
      "The statement is of another account than the one that was paid.",
    )
    unless(Date.parse(statement.notBefore) <= claims.issuedAt * 1000, "The receipt is older than its key may be.")
    const isSigned = await isAuthorized(authorization, () =>
      trust.isContractSigned === undefined
        ? Promise.reject(
            new Unproven(
              "unsupported",
              "A contract is said to have signed the statement, and only a node of its network can tell.",
            ),
          )
        : trust.isContractSigned(authorization),
    )
    if (isSigned !== true) throw new Unproven("signature", `The statement is not signed by ${statement.payTo}.`)
    return holds(
      "key",
      `${statement.payTo} signed that this key may sign for ${statement.did} since ${statement.notBefore}.`,
    )
  })
  const stoneCheck = await checked("key's stone", async () => {
    const commitment = await authorizationHash(authorization)
    unless(stone.commitment === commitment, "The stone of the statement seals something else.")
    unless((await chainHashOf(stone)) === stone.chainHash, "The stone of the statement does not hash to its chainHash.")
    unless(
      Date.parse(stone.witnessedAt) <= claims.issuedAt * 1000 + 999 &&
        (claims.stone === undefined || stone.sequence < claims.stone.sequence),
      "The statement was set after this receipt was issued.",
    )
    if (trust.log === undefined) return open("key's stone", "Its log proof was not checked: name the log's key.")
    const verdict = await verifyProof(proof, stone, trust.log)
    if (!verdict.ok) throw new Unproven(verdict.fault, verdict.reason)
    return holds(
      "key's stone",
      `The log ${verdict.origin} holds the statement as stone ${stone.sequence}, before this act.`,
    )
  })
  return [statementCheck, stoneCheck]
}
