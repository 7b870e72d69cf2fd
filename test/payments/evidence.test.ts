/** Evidence from stale, forgetful, limited or contradictory nodes never calls a paid authorization unpaid. The search for logs. */
import { assert, describe, it } from "../lab/It.ts"
import { Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import { concatHex, encodeFunctionData } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { Chain } from "../../src/payments/x402/chain/Chain.ts"
import { logSearch } from "../../src/payments/x402/chain/LogSearch.ts"
import type { SignedAuthorization } from "../../src/payments/x402/chain/Eip3009.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as Evidence from "../../src/payments/x402/chain/Evidence.ts"
import { type BlockRange, ChainUnavailable } from "../../src/payments/x402/chain/Rpc.ts"
import { onServer } from "../lab/server/Live.ts"
import { chain, network, onChain, stranger, token } from "../lab/Chain.ts"
import { height, mine, passExpiry, reorganise } from "../lab/buyer/Purchase.ts"
import * as RpcProxy from "../lab/proxy/Node.ts"
import type { View } from "../lab/proxy/NodeViews.ts"
import { newPayer } from "../lab/Fixture.ts"
import { signCancel, signUnasked } from "../lab/buyer/Payment.ts"
import * as ThirdParty from "../lab/buyer/ThirdParty.ts"

const onChainAlone = onServer(chain)

const here: View = {}
const expired = { _tag: "Void", reason: "authorization_expired" } as const
const canceled = { _tag: "Void", reason: "authorization_canceled" } as const

const signed = Effect.fnUntraced(function* (account: PrivateKeyAccount) {
  const { asset, payTo } = yield* LocalChain
  const { timestamp } = yield* onChain((client) => client.getBlock())
  const change = { validBefore: String(timestamp + 150n) }
  const { authorization, signature } = yield* Effect.promise(() =>
    signUnasked(account, { asset, network, payTo }, change),
  )
  const one: SignedAuthorization = {
    asset,
    from: account.address.toLowerCase() as `0x${string}`,
    to: authorization.to,
    value: BigInt(authorization.value),
    validAfter: 0n,
    validBefore: BigInt(authorization.validBefore),
    nonce: authorization.nonce,
    signature,
  }
  return one
})

const broadcast = ({ from, nonce, signature, validBefore }: SignedAuthorization) =>
  ThirdParty.broadcast({ payer: { address: from }, nonce, signature, validBefore: String(validBefore) })

/** Hands its calldata on to the token, and then logs 600,000 bytes. */
const loud = "0x00000000000000000000000000000000000010ad"
const loudly = (asset: `0x${string}`) =>
  concatHex(["0x366000600037600060003660006000", "0x73", asset, "0x5af150620927c06000a000"])

const cancelLoudly = (payer: PrivateKeyAccount, nonce: `0x${string}`) =>
  onChain(async (client, { asset, chainId }) => {
    const signature = await signCancel(payer, nonce, { asset, chainId })
    const args = [payer.address, nonce, signature] as const
    await client.setCode({ address: loud, bytecode: loudly(asset) })
    const data = encodeFunctionData({ abi: token, functionName: "cancelAuthorization", args })
    const hash = await client.sendTransaction({ to: loud, data, gas: 8_000_000n, account: stranger, chain: null })
    assert.strictEqual((await client.waitForTransactionReceipt({ hash })).status, "success")
  })

/** An authorization, the head before anything happened to it, and the evidence as nodes of these views give it. */
const scene = Effect.gen(function* () {
  const { rpcUrl } = yield* LocalChain
  const proxy = yield* RpcProxy.make(rpcUrl)
  const config = { rpcUrl: Redacted.make(proxy.url), timeout: Duration.seconds(10) } as const
  const services = yield* Layer.build(Chain.layer(config))
  const node = Context.get(services, Chain)
  // A scan that has read as far and found nothing, because its node had no logs.
  const table: Evidence.Table<never> = {
    find: () => Effect.succeedNone,
    hasReadPast: () => Effect.succeed(true),
    recordUnmatched: () => Effect.void,
  }
  const asked = { ...Evidence.make(node, table), simulate: node.simulate }
  const payer = yield* newPayer()
  yield* mine(3)
  const authorization = yield* signed(payer)
  const before = yield* height
  const look = (transaction: Option.Option<`0x${string}`> = Option.none()) =>
    asked.evidence({ authorization, fromBlock: before - 2n, transaction, patience: Duration.zero })
  const seenBy = (pick: (method: string, before: number) => View) => {
    proxy.behave(pick)
    return look()
  }
  return { asked, authorization, before, look, payer, seenBy }
})

describe.concurrent("an authorization", () => {
  onChainAlone("that paid is proven or stays open, and is never called unpaid, whatever a node forgot", function* () {
    const { authorization, before, look, seenBy } = yield* scene
    const transaction = yield* broadcast(authorization)
    const behind: View = { head: before }
    const silent: View = { ...behind, clamps: true }
    const isHead = (method: string) => method === "eth_getBlockByNumber"
    const open = { _tag: "Open", unused: false } as const
    // The state is asked first and the dry run second; each is answered by another node.
    for (const parity of [0, 1]) {
      const torn = seenBy((method, nth) => (method === "eth_call" && nth % 2 === parity ? silent : here))
      assert.deepStrictEqual(yield* torn, open, `call ${parity} by a node that is behind`)
    }
    yield* passExpiry
    const views: ReadonlyArray<
      readonly [what: string, pick: (method: string, before: number) => View, evidence: object]
    > = [
      ["all of it", () => here, { _tag: "Paid", transaction }],
      ["no receipt beside its final log", () => ({ forgets: ["receipts"] }), open],
      ["no log beside its use", () => ({ forgets: ["logs"] }), open],
      ["neither", () => ({ forgets: ["logs", "receipts"] }), open],
      ["a node that is behind", () => behind, { _tag: "Open", unused: true }],
      ["its state from a node that is silently behind", (method) => (method === "eth_call" ? silent : here), open],
      ["all but the heads from such a node", (method) => (isHead(method) ? here : silent), open],
      ["a final block above the newest one", (method, nth) => (isHead(method) && nth % 2 === 0 ? behind : here), open],
    ]
    for (const [what, pick, evidence] of views) assert.deepInclude(yield* seenBy(pick), evidence, what)
    // A node that says it does not know the block proves nothing, either.
    const unavailable = yield* Effect.flip(seenBy((method) => (method === "eth_call" ? behind : here)))
    assert.strictEqual(unavailable._tag, "ChainUnavailable")
    assert.deepInclude(yield* look(Option.some(transaction)), { _tag: "Paid", transaction })
  })

  onChainAlone("that paid is found in a block before the head that the server saw", function* () {
    const { asked, authorization } = yield* scene
    const simulation = yield* asked.simulate(authorization)
    const head = yield* height
    yield* reorganise(2)
    const transaction = yield* broadcast(authorization)
    assert.isBelow(Number(yield* height), Number(head))
    assert.strictEqual(simulation._tag, "Accepted")
    const fromBlock = simulation._tag === "Accepted" ? simulation.block : 0n
    const search = { authorization, fromBlock, transaction: Option.none(), patience: Duration.zero }
    assert.deepInclude(yield* asked.evidence(search), { _tag: "Paid", transaction })
  })

  onChainAlone("used by a cancellation with a receipt longer than others is void once it is final", function* () {
    const { asked, authorization, payer, seenBy } = yield* scene
    yield* cancelLoudly(payer, authorization.nonce)
    const { transactions } = yield* onChain((client) => client.getBlock())
    assert.deepInclude(yield* seenBy(() => here), { _tag: "Open", unused: false })
    yield* mine(4)
    for (const forgets of ["receipts", "logs"] as const)
      assert.deepInclude(yield* seenBy(() => ({ forgets: [forgets] })), { _tag: "Open", unused: false }, forgets)
    const ended = { ...canceled, transaction: transactions[0] ?? "0x" }
    assert.deepStrictEqual(yield* seenBy(() => here), ended)
    assert.deepStrictEqual(yield* asked.usedBy(authorization), ended)
  })

  onChainAlone("that was never used is void after it expires, also on nodes that keep or tell little", function* () {
    const { before, seenBy } = yield* scene
    yield* mine(60)
    assert.deepStrictEqual(yield* seenBy(() => here), { _tag: "Open", unused: true })
    yield* passExpiry
    const views: ReadonlyArray<View> = [
      here,
      { keepsStates: 1 },
      { logRange: 3 },
      { keepsStates: 1, logRange: 1, numbersOnly: true },
    ]
    for (const view of views) assert.deepStrictEqual(yield* seenBy(() => view), expired, JSON.stringify(view))
    assert.deepInclude(yield* seenBy(() => ({ head: before })), { _tag: "Open", unused: true })
  })
})

/** A provider that takes so many blocks at once, and holds logs in these blocks. */
const provider = (held: ReadonlyArray<bigint>, detail = "block range too wide") => {
  const asked: Array<BlockRange> = []
  const state = { most: 2_000n }
  const ask = (range: BlockRange) => {
    asked.push(range)
    return range.to - range.from < state.most
      ? Effect.succeed(held.filter((block) => block >= range.from && block <= range.to))
      : Effect.fail(new ChainUnavailable({ method: "eth_getLogs", reason: "refused", detail }))
  }
  return { ask, asked, state }
}

const whole = { from: 1_000n, to: 60_000n }

/** Every block was answered for exactly once, in order. */
const assertGapless = (asked: ReadonlyArray<BlockRange>, most: bigint, newestFirst: boolean) => {
  const answered = asked.filter(({ from, to }) => to - from < most)
  const inOrder = newestFirst ? answered.toReversed() : answered
  assert.strictEqual(inOrder[0]?.from, whole.from)
  assert.strictEqual(inOrder.at(-1)?.to, whole.to)
  for (const [index, { from }] of inOrder.entries()) {
    if (index > 0) assert.strictEqual(from, (inOrder[index - 1]?.to ?? 0n) + 1n)
  }
}

describe("a search for logs", () => {
  for (const most of [100_000n, 10_000n, 1_000n]) {
    it.effect(`fits a provider that allows ${most} blocks, from either end`, function* () {
      const search = logSearch()
      for (const newestFirst of [false, true]) {
        const { ask, asked, state } = provider([])
        state.most = most
        assert.deepStrictEqual(yield* search(ask, whole, newestFirst), [])
        assertGapless(asked, most, newestFirst)
        const refused = asked.filter(({ from, to }) => to - from >= most)
        assert.isAtMost(refused.length, 11 + asked.length / 4, "few questions are refused")
      }
    })
  }

  it.effect("ends after a hundred questions", function* () {
    const { ask, asked, state } = provider([])
    state.most = 10n
    assert.deepStrictEqual(yield* logSearch()(ask, whole, false), [])
    assert.strictEqual(asked.length, 100)
  })

  it.effect("goes on where it ended, so that short ranges hide no log, and finds it again at once", function* () {
    const search = logSearch()
    const { ask, asked, state } = provider([2_500n])
    state.most = 10n
    const named = (name: string) => search(ask, whole, false, name)
    assert.deepStrictEqual([yield* named("a"), yield* named("a"), yield* named("a")], [[], [], [2_500n]])
    asked.length = 0
    assert.deepStrictEqual(yield* named("a"), [2_500n])
    assert.isAtMost(asked.length, 2)
    assert.deepStrictEqual(yield* named("b"), [])
  })

  it.effect("begins anew once it has seen every block", function* () {
    const search = logSearch()
    const { ask, asked } = provider([])
    for (const _ of ["one", "two"]) yield* search(ask, whole, false, "a")
    assert.lengthOf(
      asked.filter(({ from }) => from === whole.from),
      2,
    )
  })

  it.effect("finds the oldest logs first, or the newest", function* () {
    const search = logSearch()
    const { ask, state } = provider([2_000n, 59_000n])
    state.most = 100n
    assert.deepStrictEqual(yield* search(ask, whole, false), [2_000n])
    assert.deepStrictEqual(yield* search(ask, whole, true), [59_000n])
  })

  it.effect("is not narrowed by a time without any answer", function* () {
    const search = logSearch()
    const { ask, asked, state } = provider([])
    state.most = 0n
    assert.strictEqual((yield* Effect.flip(search(ask, whole, false))).detail, "block range too wide")
    asked.length = 0
    state.most = 100_000n
    yield* search(ask, whole, false)
    assert.isBelow(asked.length, 25)
  })

  it.effect("does not halve a range that was refused for another reason", function* () {
    const search = logSearch()
    const { ask, asked, state } = provider([], "rate limit")
    state.most = 1n
    assert.strictEqual((yield* Effect.flip(search(ask, whole, false))).detail, "rate limit")
    assert.strictEqual(asked.length, 1)
  })
})
