/** Our reading of a signature is viem's. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect } from "effect"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { hashTypedData, recoverAddress } from "viem/utils"
import { newHex } from "../lab/TransferLogs.ts"
import { transferTypes } from "../../schema/payments/TransferTypes.ts"
import { baseSepolia, usdc } from "../../schema/payments/Usdc.ts"
import { inLowerCase, type SignedAuthorization } from "../../src/payments/x402/chain/Eip3009.ts"
import { makeRecover } from "../../src/payments/x402/verify/Signature.ts"

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const domain = { ...usdc[baseSepolia], network: baseSepolia } as const
const word = (value: bigint) => value.toString(16).padStart(64, "0")

const authorizationOf = (changes: Partial<SignedAuthorization> = {}): SignedAuthorization => ({
  asset: domain.asset,
  from: newHex(20),
  to: newHex(20),
  value: BigInt(newHex(8)),
  validAfter: 0n,
  validBefore: BigInt(newHex(4)),
  nonce: newHex(32),
  signature: `0x${"11".repeat(64)}1b`,
  ...changes,
})

const viemDigestOf = ({ asset, signature: _, ...message }: SignedAuthorization) =>
  hashTypedData({
    domain: { name: domain.assetName, version: domain.assetVersion, chainId: 84_532, verifyingContract: asset },
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message,
  })

const forms = (signature: Hex): ReadonlyArray<Hex> => {
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)]
  const highS = word(order - BigInt(`0x${s}`))
  const flipped = v === "1b" ? "1c" : "1b"
  return [
    ...["00", "01", "1b", "1c", "02", "03", "1a", "1d", "1e", "25", "ff"].map((one): Hex => `0x${r}${s}${one}`),
    `0x${r}${highS}${v}`,
    `0x${r}${highS}${flipped}`,
    ...[0n, 1n, order - 1n, order, order + 1n, 2n ** 256n - 1n].flatMap((odd): ReadonlyArray<Hex> => [
      `0x${word(odd)}${s}${v}`,
      `0x${r}${word(odd)}${v}`,
    ]),
    `0x${r}${s}`,
    `0x${r}${s}${v}00`,
    `0x${r}${s.slice(2)}${v}`,
    newHex(65),
    `0x${r}${newHex(32).slice(2)}${v}`,
    `0x${newHex(32).slice(2)}${s}${v}`,
    "0x",
    "0x00",
  ]
}

describe("the key behind a signature", () => {
  it.effect("is recovered for every number that fits its type", function* () {
    const recover = yield* Effect.promise(makeRecover)
    const most = 2n ** 256n - 1n
    const signer = privateKeyToAccount(newHex(32))
    const own = authorizationOf({ value: most, validAfter: most, validBefore: most })
    const signed = { ...own, signature: yield* Effect.promise(() => signer.sign({ hash: viemDigestOf(own) })) }
    assert.strictEqual(recover(signed, domain), inLowerCase(signer.address))
    for (const name of ["value", "validAfter", "validBefore"]) {
      const beyond = { ...signed, [name]: most + 1n }
      assert.isUndefined(recover(beyond, domain))
      assert.throws(() => viemDigestOf(beyond))
    }
    assert.notStrictEqual(recover(signed, { ...domain, assetVersion: "3" }), inLowerCase(signer.address))
  })

  it.effect("equals viem's result, also where viem finds none", function* () {
    const recover = yield* Effect.promise(makeRecover)
    for (let round = 0; round < 8; round++) {
      const signer = privateKeyToAccount(newHex(32))
      const authorization = authorizationOf({ from: inLowerCase(signer.address) })
      const hash = viemDigestOf(authorization)
      const signature = yield* Effect.promise(() => signer.sign({ hash }))
      const recovered = (form: Hex) => recover({ ...authorization, signature: form }, domain)
      assert.strictEqual(recovered(signature), inLowerCase(signer.address))
      for (const form of forms(signature)) {
        const theirs = yield* Effect.option(Effect.tryPromise(() => recoverAddress({ hash, signature: form })))
        assert.strictEqual(recovered(form), theirs._tag === "Some" ? inLowerCase(theirs.value) : undefined, form)
      }
    }
  })
})
