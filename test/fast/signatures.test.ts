/** Our reading of a signature is viem's, and a thread that checks many gives each its own verdict. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Fiber, Schedule } from "effect"
import { TestClock } from "effect/testing"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { hashTypedData, recoverAddress } from "viem/utils"
import { newHex } from "../lab/TransferLogs.ts"
import { transferTypes } from "../../schema/payments/TransferTypes.ts"
import { baseSepolia, usdc } from "../../schema/payments/Usdc.ts"
import { inLowerCase } from "../../src/payments/Hex.ts"
import type { SignedAuthorization } from "../../src/payments/chain/Eip3009.ts"
import * as KeyChecks from "../../src/payments/verify/KeyChecks.ts"
import { signings } from "../../src/payments/verify/Signing.ts"
import { digestOf, makeIsSigned, makeRecover, signingLength } from "../../src/payments/verify/SigningKey.ts"
import * as Thread from "../../src/platform/Thread.ts"
import { assert, describe, effect, it, live } from "../lab/Suites.ts"
import { newFolder } from "../lab/Folders.ts"

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

  effect("equals viem's result, also where viem finds none", function* () {
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
  })

  effect("must be the payer's own", function* () {
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
  })
})

const signer = privateKeyToAccount(newHex(32))

const newSigning = (isOwn: boolean) => {
  const own = authorizationOf({ from: inLowerCase(signer.address) })
  const signature = Effect.promise(() => signer.sign({ hash: viemDigestOf(own) }))
  const { from } = isOwn ? own : authorizationOf()
  return Effect.map(signature, (signed) => signingIn({ ...own, from, signature: signed }))
}

const own = Array.from({ length: 12 }, (_, index) => index % 3 !== 0)

const askAll = Effect.fnUntraced(function* (
  isSigned: (signing: Uint8Array) => Effect.Effect<boolean>,
  asked: ReadonlyArray<boolean> = own,
) {
  const made = yield* Effect.forEach(asked, newSigning)
  return yield* Effect.forEach(made, isSigned, { concurrency: "unbounded" })
})

const program = (text: string) =>
  new URL(`data:text/javascript,${encodeURIComponent(`import { parentPort } from "node:worker_threads"\n${text}`)}`)

const answering = (verdict: number) =>
  program(
    `parentPort.on("message", (all) => parentPort.postMessage(new Uint8Array(all.length / ${signingLength}).fill(${verdict})))`,
  )

describe("checks of keys", () => {
  live("get a verdict each, by the thread's own program", function* () {
    const real = new URL("../../src/payments/verify/SigningKeyWorker.ts", import.meta.url)
    const ask = yield* Thread.make<Uint8Array, Uint8Array>(real)
    const made = yield* Effect.forEach(own, newSigning)
    assert.deepStrictEqual([...(yield* ask(Buffer.concat(made)))], own.map(Number))
  })

  // By a clock that stands, so that no thread is too slow to be asked.
  effect("run together on the thread, and a single one starts none", function* () {
    // It affirms what is not so, which shows who was asked.
    const isSigned = yield* KeyChecks.make(answering(1))
    assert.deepStrictEqual(yield* askAll(isSigned, [false]), [false])
    assert.deepStrictEqual(yield* askAll(isSigned, [false, false, false]), [true, true, true])
    // It affirms what begins with a seven, whatever stands beside it.
    const marking = program(
      `parentPort.on("message", (all) => parentPort.postMessage(Uint8Array.from({ length: all.length / ${signingLength} }, (_, at) => Number(all[at * ${signingLength}] === 7))))`,
    )
    const isMarked = yield* KeyChecks.make(marking)
    const three = [7, 0, 0].map((byte) => new Uint8Array(signingLength).fill(byte))
    const verdicts = yield* Effect.forEach(three, isMarked, { concurrency: "unbounded" })
    assert.deepStrictEqual(verdicts, [true, false, false])
  })

  live.each([
    ["says so", answering(0)],
    ["says too little", program(`parentPort.on("message", () => parentPort.postMessage(new Uint8Array(0)))`)],
    ["is not there", new URL("file:///nowhere/to/be/found.js")],
    ["is refused by its constructor", new URL("http://localhost/signing-keys.js")],
  ] as const)("reject no payment because the thread %s", function* ([, thread]) {
    assert.deepStrictEqual(yield* askAll(yield* KeyChecks.make(thread)), own)
  })

  effect("continue here when the thread ends, which is started again a minute later", function* () {
    const starts = join(newFolder(), "starts")
    const mortal = program(
      `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(starts)}, "x"); parentPort.once("message", () => process.exit(1))`,
    )
    const isSigned = yield* KeyChecks.make(mortal)
    assert.deepStrictEqual(yield* askAll(isSigned), own)
    assert.deepStrictEqual(yield* askAll(isSigned), own)
    assert.strictEqual(readFileSync(starts, "utf8"), "x")
    yield* TestClock.adjust("61 seconds")
    assert.deepStrictEqual(yield* askAll(isSigned), own)
    assert.strictEqual(readFileSync(starts, "utf8"), "xx")
  })

  effect("wait two seconds for a thread that hangs", function* () {
    const asked = join(newFolder(), "asked")
    const hanging = program(
      `import { writeFileSync } from "node:fs"; parentPort.on("message", () => { writeFileSync(${JSON.stringify(asked)}, "x"); for (;;); })`,
    )
    const isSigned = yield* KeyChecks.make(hanging)
    const verdicts = yield* Effect.forkChild(askAll(isSigned))
    yield* Effect.sync(() => existsSync(asked)).pipe(
      Effect.repeat({ until: (isThere) => isThere, schedule: Schedule.spaced("20 millis") }),
      TestClock.withLive,
    )
    yield* TestClock.adjust("2 seconds")
    assert.deepStrictEqual(yield* Fiber.join(verdicts), own)
  })
})
