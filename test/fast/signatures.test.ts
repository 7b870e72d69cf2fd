/** Our reading of a signature is viem's. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { hashTypedData, recoverAddress } from "viem/utils"
import { newHex } from "../lab/TransferLogs.ts"
import { transferTypes } from "../../schema/payments/TransferTypes.ts"
import { baseSepolia, usdc } from "../../schema/payments/Usdc.ts"
import { inLowerCase } from "../../src/payments/Hex.ts"
import type { SignedAuthorization } from "../../src/payments/chain/Eip3009.ts"
import { digestOf, makeIsSigned, makeRecover, signingLength, signings } from "../../src/payments/verify/SigningKey.ts"

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

const signingOf = signings()

const hexOf = (bytes: Uint8Array | undefined) => bytes && `0x${Buffer.from(bytes).toString("hex")}`

const signingIn = (authorization: SignedAuthorization) => {
  const signing = signingOf(authorization, domain)
  assert.isDefined(signing)
  return signing ?? new Uint8Array()
}

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
  it("is recovered from viem's digest, for every number that fits its type", () => {
    const most = 2n ** 256n - 1n
    const some = Array.from({ length: 20 }, () => authorizationOf())
    for (const one of [...some, authorizationOf({ value: most, validAfter: most, validBefore: most })]) {
      assert.strictEqual(hexOf(digestOf(signingIn(one))), viemDigestOf(one))
    }
    for (const name of ["value", "validAfter", "validBefore"]) {
      const beyond = authorizationOf({ [name]: most + 1n })
      assert.strictEqual(signingOf(beyond, domain), undefined)
      assert.throws(() => viemDigestOf(beyond))
    }
    const one = authorizationOf()
    assert.notDeepEqual(signingOf(one, domain), signingOf(one, { ...domain, assetVersion: "3" }))
  })

  it.effect("equals viem's result, also where viem finds none", () =>
    Effect.gen(function* () {
      const recover = yield* Effect.promise(makeRecover)
      for (let round = 0; round < 8; round++) {
        const signer = privateKeyToAccount(newHex(32))
        const authorization = authorizationOf({ from: inLowerCase(signer.address) })
        const hash = viemDigestOf(authorization)
        const signature = yield* Effect.promise(() => signer.sign({ hash }))
        const recovered = (form: Hex) => {
          const signing = signingOf({ ...authorization, signature: form }, domain)
          return signing && hexOf(recover(signing))
        }
        assert.strictEqual(recovered(signature), inLowerCase(signer.address))
        for (const form of forms(signature)) {
          const theirs = yield* Effect.option(Effect.tryPromise(() => recoverAddress({ hash, signature: form })))
          assert.strictEqual(recovered(form), theirs._tag === "Some" ? inLowerCase(theirs.value) : undefined, form)
        }
      }
    }),
  )

  it.effect("must be the payer's own", () =>
    Effect.gen(function* () {
      const isSigned = yield* Effect.promise(makeIsSigned)
      const signer = privateKeyToAccount(newHex(32))
      const own = authorizationOf({ from: inLowerCase(signer.address) })
      const signature = yield* Effect.promise(() => signer.sign({ hash: viemDigestOf(own) }))
      const signed = { ...own, signature }
      const unrecoverable: Hex = `0x${"00".repeat(64)}1b`
      const many = [
        signed,
        { ...signed, from: newHex(20) },
        { ...signed, nonce: newHex(32) },
        { ...signed, from: `0x${"00".repeat(20)}`, signature: unrecoverable } as const,
        signed,
      ].map(signingIn)
      assert.isTrue(many.every(({ byteLength }) => byteLength === signingLength))
      assert.deepStrictEqual(many.map(isSigned), [true, false, false, false, true])
    }),
  )
})
