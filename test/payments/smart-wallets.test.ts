/** Smart wallets pay as USDC lets them, by EIP-1271. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { concatHex, encodeAbiParameters, getAddress, type Hex } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { broadcast } from "../lab/buyer/ThirdParty.ts"
import { ask, world, newCommitment, newKey, post, signedFor, TestServer } from "../lab/Fixture.ts"
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

const buy = Effect.fnUntraced(function* (signer: PrivateKeyAccount, change: Partial<Authorization>) {
  const { url } = yield* TestServer
  const body = { commitment: newCommitment() }
  const { headers } = yield* signedFor(signer, `${url}/api/witness`, body, newKey(), change)
  return yield* ask(`${url}/api/witness`, post(body, headers))
})

layer(world(), realClock)("a smart wallet", (it) => {
  it.effect("pays by the signature of its owner", () =>
    Effect.gen(function* () {
      const { at, owner } = yield* newWallet
      const answer = yield* buy(owner, { from: at })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(getAddress(JSON.parse(answer.text).receipt.payer), at)
    }),
  )

  it.effect("is refused with another signature or before its time, and charged nothing", () =>
    Effect.gen(function* () {
      const { at, owner } = yield* newWallet
      const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds)
      const early = { validAfter: inSeconds(600), validBefore: inSeconds(900) }
      for (const [signer, times, reason] of [
        [owner, early, "invalid_exact_evm_payload_authorization_valid_after"],
        [owner, { validBefore: inSeconds(86_400) }, "invalid_exact_evm_payload_authorization_valid_before"],
        [newOwner(), {}, "invalid_exact_evm_signature"],
      ] as const) {
        const answer = yield* buy(signer, { from: at, ...times })
        assertAnswer(answer, 402, "payment_invalid", reason)
        assert.match(answer.text, /This request charged nothing/u)
      }
    }),
  )

  it.effect("whose payment another submitter broadcast is accepted by its own signature alone", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const sqlClient = yield* SqlClient.SqlClient
      const wallet = yield* newWallet
      const signedBy = (account: PrivateKeyAccount, change: Partial<Authorization>) =>
        signedFor(account, `${url}/api/witness`, { commitment: newCommitment() }, newKey(), change)
      const { payment } = yield* signedBy(wallet.owner, { from: wallet.at })
      const { authorization, signature } = payment.payload
      const { nonce, validBefore } = authorization
      yield* broadcast({ payer: { address: wallet.at }, nonce, signature, validBefore })
      const present = (words: { readonly authorization: typeof authorization; readonly signature: Hex }) => {
        const header = encode({ ...payment, payload: words })
        const body = post({ commitment: newCommitment() }, { "idempotency-key": newKey(), "payment-signature": header })
        return ask(`${url}/api/witness`, body)
      }
      const { signature: others } = (yield* signedBy(newOwner(), authorization)).payment.payload
      for (const forged of [
        { authorization, signature: others },
        // The wallet's signature, with another `validBefore`.
        { authorization: { ...authorization, validBefore: String(Number(authorization.validBefore) - 60) }, signature },
        { authorization: { ...authorization, validBefore: "1" }, signature: others },
      ]) {
        const answer = yield* present(forged)
        assert.deepStrictEqual(
          [answer.status, answer.json["reason"]],
          [402, "invalid_exact_evm_signature"],
          answer.text,
        )
        assert.match(answer.text, /This request charged nothing/u)
      }
      const attempts = yield* sqlClient`SELECT 1 FROM payment_attempts WHERE payer = ${wallet.at.toLowerCase()}`
      assert.lengthOf(attempts, 0)
      const own = yield* present({ authorization, signature })
      assert.strictEqual(own.status, 201, own.text)
      assert.strictEqual(getAddress(JSON.parse(own.text).receipt.payer), wallet.at)
    }),
  )
})

layer(world(), realClock)("a wallet whose own key delegates to code", (it) => {
  it.effect("pays by what that code accepts", () =>
    Effect.gen(function* () {
      const { at, owner } = yield* newWallet
      const { fund } = yield* LocalChain
      const delegating = newOwner()
      yield* fund(delegating.address, 10_000_000n)
      yield* onChain((client) => client.setCode({ address: delegating.address, bytecode: concatHex(["0xef0100", at]) }))
      const answer = yield* buy(owner, { from: delegating.address })
      assert.strictEqual(answer.status, 201, answer.text)
    }),
  )
})
