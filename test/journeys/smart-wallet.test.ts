/** A smart wallet: its owner signs before it exists, deploys it when told to, and then pays like any other (ERC-1271, ERC-6492). */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  concatHex,
  encodeAbiParameters,
  getContractAddress,
  type Hex,
  parseEther,
  serializeErc6492Signature,
} from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { encode } from "../lab/buyer/Payment.ts"
import { onChain, prepare, type Purchase, reconcile, send, written } from "../lab/buyer/Purchase.ts"
import { Proxies, realClock } from "../lab/Fixture.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { newHex } from "../lab/TransferLogs.ts"
import Wallet1271 from "../contracts/Wallet1271.json" with { type: "json" }

const newOwner = () => privateKeyToAccount(generatePrivateKey())

const factory = newHex(20)

/** As wallets sign that may not be deployed yet: the owner's signature, wrapped with the factory that can deploy it. */
const wrapped = (purchase: Purchase): Purchase => {
  const { payload } = purchase.payment
  const signature = serializeErc6492Signature({ address: factory, data: newHex(100), signature: payload.signature })
  const header = encode({ ...purchase.payment, payload: { ...payload, signature } })
  return { ...purchase, headers: { ...purchase.headers, "payment-signature": header } }
}

const deployedBy = (owner: ReturnType<typeof newOwner>) =>
  onChain(async (client) => {
    await client.setBalance({ address: owner.address, value: parseEther("1") })
    const constructor = encodeAbiParameters([{ type: "address" }], [owner.address])
    const data = concatHex([`0x${Wallet1271.bytecode.slice(2)}`, constructor])
    const hash = await client.sendTransaction({ account: owner, chain: null, data })
    return (await client.waitForTransactionReceipt({ hash })).contractAddress
  })

layer(proxiedServer("relayer", "20 seconds"), realClock)("a smart wallet", (it) => {
  it.effect("is told to deploy itself first, then pays by the same signature, and by no other key's", function* () {
    // Its address is known before its contract is there, and holds money.
    const owner = newOwner()
    const wallet = getContractAddress({ from: owner.address, nonce: 0n })
    yield* Effect.flatMap(LocalChain, ({ fund }) => fund(wallet, 10_000_000n))

    // Its owner signs: the server says what to do, charges nothing, and does not ask for another signature.
    const bare = yield* prepare({ payer: owner, from: wallet })
    const first = wrapped(yield* prepare({ payer: owner, from: wallet }))
    const before = yield* written
    const early = yield* send(first)
    assertAnswer(early, 402, "payment_invalid", "invalid_exact_evm_signature")
    assert.match(
      String(early.json["message"]),
      /ERC-6492.*deploy the wallet first.*EIP-7702.*This request charged nothing\.$/u,
    )
    assert.notMatch(early.text, /sign (?:again|a new)/iu)
    const { json } = yield* send(yield* prepare({ payer: owner, from: newOwner().address }))
    assert.match(String(json["message"]), /not the paying wallet's.*This request charged nothing\.$/u)
    assert.deepStrictEqual(yield* written, before)

    // It deploys the wallet. Its first signatures pay now, wrapped or bare, and so do later ones.
    assert.strictEqual(yield* deployedBy(owner), wallet.toLowerCase())
    const { rpc } = yield* Proxies
    const heard: Array<string> = []
    rpc.arm("*", "holdBefore", (params) => (heard.push(params.toLowerCase()), false))
    const purchases = [first, bare, wrapped(yield* prepare({ payer: owner, from: wallet }))]
    const transactions: Array<Hex> = []
    for (const purchase of purchases) {
      const bought = yield* send(purchase)
      assert.strictEqual(bought.status, 201, bought.text)
      const { receipt } = JSON.parse(bought.text)
      assert.strictEqual(receipt.payer.toLowerCase(), wallet.toLowerCase())
      transactions.push(receipt.transaction)
    }
    yield* rpc.calm
    assert.isNotEmpty(heard)
    for (const params of heard) assert.notMatch(params, new RegExp(`${factory.slice(2)}|${"6492".repeat(16)}`, "u"))

    // Chain and books have the owner's signature alone, and a repeated request charges nothing.
    const sql = yield* SqlClient.SqlClient
    for (const [index, purchase] of purchases.entries()) {
      const hash = transactions[index] ?? assert.fail()
      const { input } = yield* onChain((client) => client.getTransaction({ hash }))
      assert.match(input, new RegExp(`${purchase.signature.slice(2)}0*$`, "u"))
      const stored = yield* sql`
          SELECT payment #>> '{authorization,signature}' AS signature FROM payment_attempts
          WHERE payment ->> 'transaction' = ${hash}`
      assert.deepStrictEqual(stored, [{ signature: purchase.signature }])
      assert.strictEqual((yield* send(purchase)).status, 200)
      assert.strictEqual((yield* reconcile(purchase)).status, 200)
    }

    // Another key cannot pay for it.
    const stolen = yield* send(yield* prepare({ payer: newOwner(), from: wallet }))
    assertAnswer(stolen, 402, "payment_invalid", "invalid_exact_evm_signature")
    assert.match(stolen.text, /This request charged nothing/u)
  })
})
