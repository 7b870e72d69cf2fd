/** Smart wallets pay as USDC lets them, by EIP-1271. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { concatHex, encodeAbiParameters, getAddress, type Hex, serializeErc6492Signature } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { broadcast, giveCode } from "../lab/buyer/ThirdParty.ts"
import { type Answer, ask, newCommitment, newKey, newPayer, post, TestServer, world } from "../lab/Fixture.ts"
import { prepare, send, written } from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { newHex } from "../lab/TransferLogs.ts"
import { chainClient, onChain } from "../lab/Chain.ts"
import { type Authorization, encode } from "../lab/buyer/Payment.ts"
import Wallet1271 from "../contracts/Wallet1271.json" with { type: "json" }
import { assertAnswer } from "../lab/Assertions.ts"
import { realClock } from "../lab/TestServices.ts"

const deployer: Hex = "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955"

const newOwner = () => privateKeyToAccount(generatePrivateKey())

const newWallet = Effect.gen(function* () {
  const { fund, rpcUrl } = yield* LocalChain
  const owner = newOwner()
  const client = chainClient(rpcUrl)
  const data = concatHex([
    `0x${Wallet1271.bytecode.slice(2)}`,
    encodeAbiParameters([{ type: "address" }], [owner.address]),
  ])
  const at = yield* Effect.promise(async () => {
    const hash = await client.sendTransaction({ account: deployer, chain: null, data })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash })
    return getAddress(contractAddress ?? "0x")
  })
  yield* fund(at, 10_000_000n)
  return { at, owner }
})

/** A stone whose payment `from` a wallet is signed by a key; `spelled` changes the signature. Answers how to send it. */
const signedBy = Effect.fnUntraced(function* (
  signer: PrivateKeyAccount,
  change: Partial<Authorization>,
  spelled: (signature: Hex) => Hex = (signature) => signature,
) {
  const purchase = yield* prepare({ payer: signer, ...change })
  const { payment, signature } = purchase
  const header = encode({ ...payment, payload: { ...payment.payload, signature: spelled(signature) } })
  return { send: send({ ...purchase, headers: { ...purchase.headers, "payment-signature": header } }), signature }
})

const answerTo = (...payment: Parameters<typeof signedBy>) => Effect.flatMap(signedBy(...payment), ({ send }) => send)

layer(world(), realClock)("a smart wallet", (it) => {
  it.effect("is refused with another signature or before its time, and charged nothing", function* () {
    const { at, owner } = yield* newWallet
    const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds)
    const early = { validAfter: inSeconds(600), validBefore: inSeconds(900) }
    for (const [signer, times, reason] of [
      [owner, early, "invalid_exact_evm_payload_authorization_valid_after"],
      [owner, { validBefore: inSeconds(86_400) }, "invalid_exact_evm_payload_authorization_valid_before"],
      [newOwner(), {}, "invalid_exact_evm_signature"],
    ] as const) {
      const answer = yield* answerTo(signer, { from: at, ...times })
      assertAnswer(answer, 402, "payment_invalid", reason)
      assert.match(answer.text, /This request charged nothing/u)
    }
  })

  it.effect("whose payment another submitter broadcast is accepted by its own signature alone", function* () {
    const { url } = yield* TestServer
    const sqlClient = yield* SqlClient.SqlClient
    const wallet = yield* newWallet
    const purchase = yield* prepare({ payer: wallet.owner, from: wallet.at })
    const { payment, signature } = purchase
    const { authorization } = payment.payload
    yield* broadcast({ ...purchase, payer: { address: wallet.at } })
    const present = (words: { readonly authorization: typeof authorization; readonly signature: Hex }) => {
      const header = encode({ ...payment, payload: words })
      const body = post({ commitment: newCommitment() }, { "idempotency-key": newKey(), "payment-signature": header })
      return ask(`${url}/api/witness`, body)
    }
    const { signature: others } = yield* prepare({ payer: newOwner(), ...authorization })
    for (const forged of [
      { authorization, signature: others },
      // The wallet's signature, with another `validBefore`.
      { authorization: { ...authorization, validBefore: String(Number(authorization.validBefore) - 60) }, signature },
      { authorization: { ...authorization, validBefore: "1" }, signature: others },
    ]) {
      const answer = yield* present(forged)
      assert.deepStrictEqual([answer.status, answer.json["reason"]], [402, "invalid_exact_evm_signature"], answer.text)
      assert.match(answer.text, /This request charged nothing/u)
    }
    const attempts = yield* sqlClient`SELECT 1 FROM payment_attempts WHERE payer = ${wallet.at.toLowerCase()}`
    assert.lengthOf(attempts, 0)
    const own = yield* present({ authorization, signature })
    assert.strictEqual(own.status, 201, own.text)
    assert.strictEqual(getAddress(JSON.parse(own.text).receipt.payer), wallet.at)
  })
})

layer(world(), realClock)("a wallet whose own key delegates to code", (it) => {
  it.effect("pays by what that code accepts", function* () {
    const { at, owner } = yield* newWallet
    const { fund } = yield* LocalChain
    const delegating = newOwner()
    yield* fund(delegating.address, 10_000_000n)
    yield* onChain((client) => client.setCode({ address: delegating.address, bytecode: concatHex(["0xef0100", at]) }))
    const answer = yield* answerTo(owner, { from: delegating.address })
    assert.strictEqual(answer.status, 201, answer.text)
  })
})

const factory = newHex(20)
const wrap = (signature: Hex) => serializeErc6492Signature({ address: factory, data: newHex(100), signature })
const malformed = (signature: Hex) => concatHex([signature, `0x${"6492".repeat(16)}`])
/** As multisignature wallets sign: not by one key. */
const long = (signature: Hex) => concatHex([signature, signature])

/** The refusal of a signature that code may accept later, or will never accept. It never says to sign again. */
const assertUnaccepted = (answer: Answer, what?: string) => {
  assertAnswer(answer, 402, "payment_invalid", "invalid_exact_evm_signature", what)
  assert.match(
    String(answer.json["message"]),
    /ERC-6492.*deploy the wallet first.*EIP-7702.*This request charged nothing\.$/u,
  )
  assert.notMatch(answer.text, /Nothing was charged|sign (?:again|a new)/iu)
}

layer(proxiedServer("relayer", "20 seconds"), realClock)("a wrapped signature (ERC-6492)", (it) => {
  it.effect("that no code accepts is refused without advice to sign again, and nothing is stored", function* () {
    const { at, owner } = yield* newWallet
    const delegating = yield* newPayer()
    yield* giveCode(delegating.address, concatHex(["0xef0100", at]))
    const own = yield* newPayer()
    const before = yield* written
    for (const [what, signer, from, spelled] of [
      ["two wrappers", owner, at, (signature: Hex) => wrap(wrap(signature))],
      ["a malformed wrapper", owner, at, malformed],
      ["a wrapped signature of another key", newOwner(), at, wrap],
      ["a wrapper around no signature", owner, at, () => wrap("0x")],
      ["an own key's signature, wrapped without code", own, own.address, wrap],
      ["an own key's signature, badly wrapped without code", own, own.address, malformed],
      ["a signature of no key for a wallet without code", owner, own.address, long],
      ["an own key that its delegate refuses (EIP-7702)", delegating, delegating.address, undefined],
      ["an own key that its delegate refuses, wrapped", delegating, delegating.address, wrap],
    ] as const)
      assertUnaccepted(yield* answerTo(signer, { from }, spelled), what)
    assert.deepStrictEqual(yield* written, before)
    const large = yield* answerTo(owner, { from: at }, (signature) => wrap(concatHex([signature, newHex(4096)])))
    assertAnswer(large, 402, "payment_invalid", "invalid_payload")
    assert.match(String(large.json["message"]), /^payload\.signature must .*This request charged nothing\.$/u)
  })
})

layer(proxiedServer("facilitator", "20 seconds"), realClock)("a wrapped signature of a deployed wallet", (it) => {
  it.effect("reaches a facilitator without its wrapper", function* () {
    const { at, owner } = yield* newWallet
    const answer = yield* answerTo(owner, { from: at }, wrap)
    assert.strictEqual(answer.status, 201, answer.text)
  })
})
