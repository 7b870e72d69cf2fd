/** Smart wallets pay as USDC lets them: deployed ones by EIP-1271, undeployed ones by EIP-6492 through a known factory. */
import { randomBytes } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { concatHex, encodeAbiParameters, encodeFunctionData, getAddress, type Hex } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { database, sql } from "../lab/Database.ts"
import { broadcast } from "../lab/buyer/ThirdParty.ts"
import { serverWith } from "../lab/server/AnotherServer.ts"
import { ask, newCommitment, newKey, post, signedFor } from "../lab/Fixture.ts"
import { chain, chainClient } from "../lab/Chain.ts"
import { type Authorization, encode } from "../lab/buyer/Payment.ts"
import WalletFactory from "../contracts/WalletFactory.json" with { type: "json" }
import { assert, assertAnswer, suite } from "../lab/Suites.ts"

const magic: Hex = `0x${"6492".repeat(16)}`

class Factory extends Context.Service<
  Factory,
  { readonly address: Hex; readonly url: string; readonly strict: string }
>()("test/Factory") {}

const deployer: Hex = "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955"

/** A factory on chain, a server that knows it, and one that does not. */
const factory = Layer.effect(
  Factory,
  Effect.gen(function* () {
    const local = yield* LocalChain
    const client = chainClient(local.rpcUrl)
    const address = yield* Effect.promise(async () => {
      const hash = await client.sendTransaction({
        account: deployer,
        chain: null,
        data: `0x${WalletFactory.bytecode.replace(/^0x/u, "")}`,
      })
      return (await client.waitForTransactionReceipt({ hash })).contractAddress ?? "0x"
    })
    const start = (walletFactories: ReadonlyArray<Hex>) =>
      Effect.map(serverWith({ walletFactories }, {}, Layer.empty), ({ publicUrl }) => publicUrl)
    return { address, url: yield* start([address]), strict: yield* start([]) }
  }),
).pipe(Layer.provideMerge(sql), Layer.provideMerge(Layer.merge(database, chain)), Layer.orDie)

/** A counterfactual wallet with ten dollars, and what deploys it. */
const newWallet = Effect.gen(function* () {
  const local = yield* LocalChain
  const { address } = yield* Factory
  const owner = privateKeyToAccount(generatePrivateKey())
  const salt: Hex = `0x${randomBytes(32).toString("hex")}`
  const client = chainClient(local.rpcUrl)
  const wallet = yield* Effect.promise(() =>
    client.readContract({ address, abi: WalletFactory.abi, functionName: "predict", args: [owner.address, salt] }),
  )
  const at = getAddress(String(wallet))
  yield* local.fund(at, 10_000_000n)
  const data = encodeFunctionData({ abi: WalletFactory.abi, functionName: "deploy", args: [owner.address, salt] })
  return { at, owner, data, address, client }
})

const setStone = Effect.fnUntraced(function* (
  url: string,
  wallet: Effect.Success<typeof newWallet>,
  wrap: (signature: Hex) => Hex,
  times: { readonly validAfter?: string; readonly validBefore?: string } = {},
) {
  const body = { commitment: newCommitment() }
  const signed = yield* signedFor(wallet.owner, `${url}/api/witness`, body, newKey(), { from: wallet.at, ...times })
  const { payload } = signed.payment
  const changed = { ...signed.payment, payload: { ...payload, signature: wrap(payload.signature) } }
  return yield* ask(`${url}/api/witness`, post(body, { ...signed.headers, "payment-signature": encode(changed) }))
})

const wrapped = (factoryAddress: Hex, data: Hex) => (signature: Hex) =>
  concatHex([
    encodeAbiParameters([{ type: "address" }, { type: "bytes" }, { type: "bytes" }], [factoryAddress, data, signature]),
    magic,
  ])

suite("a smart wallet", factory, (it) => {
  it("that does not exist yet is deployed by its first payment, through a known factory, and then pays by its own rule", function* () {
    const { address, url } = yield* Factory
    const wallet = yield* newWallet
    const answer = yield* setStone(url, wallet, wrapped(address, wallet.data))
    assert.strictEqual(answer.status, 201, answer.text)
    assert.isDefined(yield* Effect.promise(() => wallet.client.getCode({ address: wallet.at })))
    const deployed = yield* setStone(url, wallet, (signature) => signature)
    assert.strictEqual(deployed.status, 201, deployed.text)
    assert.strictEqual(getAddress(JSON.parse(deployed.text).receipt.payer), wallet.at)
  })

  it("whose payment another submitter broadcast is accepted by its own signature alone", function* () {
    const { address, url } = yield* Factory
    const sqlClient = yield* SqlClient.SqlClient
    const wallet = yield* newWallet
    yield* Effect.promise(async () => {
      const { client, data } = wallet
      const hash = await client.sendTransaction({ account: deployer, chain: null, to: address, data })
      await client.waitForTransactionReceipt({ hash })
    })
    const signedBy = (account: PrivateKeyAccount, change: Partial<Authorization>) =>
      signedFor(account, `${url}/api/witness`, { commitment: newCommitment() }, newKey(), change)
    const { payment } = yield* signedBy(wallet.owner, { from: wallet.at })
    const { authorization, signature } = payment.payload
    const { nonce, validBefore } = authorization
    yield* broadcast({ payer: { address: wallet.at }, nonce, signature, validBefore })
    const buy = (words: { readonly authorization: typeof authorization; readonly signature: Hex }) => {
      const header = encode({ ...payment, payload: words })
      const body = post({ commitment: newCommitment() }, { "idempotency-key": newKey(), "payment-signature": header })
      return ask(`${url}/api/witness`, body)
    }
    const { signature: others } = (yield* signedBy(privateKeyToAccount(generatePrivateKey()), authorization)).payment
      .payload
    for (const forged of [
      { authorization, signature: others },
      { authorization, signature: wrapped(address, wallet.data)(others) },
      // The wallet's signature, with another `validBefore`.
      { authorization: { ...authorization, validBefore: String(Number(authorization.validBefore) - 60) }, signature },
      { authorization: { ...authorization, validBefore: "1" }, signature: others },
    ]) {
      const answer = yield* buy(forged)
      assert.deepStrictEqual([answer.status, answer.json["reason"]], [402, "invalid_exact_evm_signature"], answer.text)
      assert.match(answer.text, /This request charged nothing/u)
    }
    const attempts = yield* sqlClient`SELECT 1 FROM payment_attempts WHERE lower(payer) = ${wallet.at.toLowerCase()}`
    assert.lengthOf(attempts, 0)
    const own = yield* buy({ authorization, signature })
    assert.strictEqual(own.status, 201, own.text)
    assert.strictEqual(getAddress(JSON.parse(own.text).receipt.payer), wallet.at)
  })

  it("that does not exist yet is told why it is refused, and charged nothing", function* () {
    const { address, strict, url } = yield* Factory
    const wallet = yield* newWallet
    const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds)
    const early = { validAfter: inSeconds(600), validBefore: inSeconds(900) }
    const stranger = { ...wallet, owner: privateKeyToAccount(generatePrivateKey()) }
    for (const [server, payer, times, reason] of [
      [url, wallet, early, "invalid_exact_evm_payload_authorization_valid_after"],
      [url, wallet, { validBefore: inSeconds(86_400) }, "invalid_exact_evm_payload_authorization_valid_before"],
      [strict, wallet, {}, "eip6492_factory_not_allowed"],
      [url, stranger, {}, undefined],
    ] as const) {
      const answer = yield* setStone(server, payer, wrapped(address, wallet.data), times)
      assertAnswer(answer, 402, "payment_invalid", reason)
      assert.match(answer.text, /This request charged nothing/u)
    }
  })
})
