/** A server killed in the middle of its broadcast finds out what became of it, and brings it to the chain once. */
import { Effect } from "effect"
import { proxied } from "../lab/server/Environment.ts"
import { patientSeconds } from "../lab/Patience.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as QueuedPayments from "../lab/buyer/QueuedPayments.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { Proxies } from "../lab/TestServices.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert, valuesOf } from "../lab/Suites.ts"

/** A broadcast counts as lost or stuck after three seconds, later on a slow machine. */
const environment = Effect.gen(function* () {
  return {
    ...(yield* proxied),
    SETTLE_TIMEOUT_SECONDS: patientSeconds(1),
    SWEEP_SECONDS: "1",
    LOG_LEVEL: "Info",
  }
})

const untilEnded = (purchase: Purchase.Purchase) =>
  Purchase.attemptOf(purchase).pipe(until("it stays pending", (attempt) => attempt?.state !== "pending", 50))

/** A server that dies while a broadcast is caught. */
const killed = Effect.fnUntraced(function* (fault: "holdBefore" | "holdAfter", isMined: boolean) {
  const { rpc } = yield* Proxies
  const server = yield* ServerProcess.make(yield* environment)
  yield* server.start
  const purchase = yield* Purchase.prepare(server.url)
  yield* Purchase.onChain((client) => client.setAutomine(isMined))
  const trap = rpc.arm("eth_sendRawTransaction", fault)
  yield* Effect.forkScoped(Effect.exit(Purchase.send(server.url, purchase)))
  yield* trap.arrived
  yield* server.kill
  yield* rpc.calm
  yield* trap.discard
  return { purchase, server }
})

apart("a server killed in the middle of its broadcast", stage, (it) => {
  it("that no block includes replaces it at its next start", function* () {
    const { purchase, server } = yield* killed("holdAfter", false)
    yield* QueuedPayments.raiseFees
    assert.deepInclude(yield* Purchase.charges(purchase), { charged: 0, isUsed: false })
    yield* server.start
    yield* untilEnded(purchase)
    assert.strictEqual(yield* QueuedPayments.relayed, 1)
    yield* Purchase.assertSettled(server.url, purchase)
  })
})

/** A server that dies while the broadcast of a group is caught. */
const killedInGroup = Effect.fnUntraced(function* (fault: "holdBefore" | "holdAfter") {
  const { rpc } = yield* Proxies
  // It must passExpiry what is held here, and forget what it had sent soon after its next start.
  const server = yield* ServerProcess.make({ ...(yield* environment), SETTLE_TIMEOUT_SECONDS: patientSeconds(3) })
  yield* server.start
  const [first, ...others] = yield* Effect.forEach(
    Array.from({ length: 6 }),
    () => Purchase.prepare(server.url, Purchase.price),
    { concurrency: 3 },
  )
  if (first === undefined) return yield* Effect.die("nothing was prepared")
  const within = (params: string) => others.filter(({ nonce }) => params.includes(nonce.slice(2)))
  let group: typeof others = []
  const trap = rpc.arm("eth_sendRawTransaction", fault, (params) => {
    if (within(params).length < 2) return false
    group = within(params)
    return true
  })
  const crowd = yield* QueuedPayments.gather(server.url, first, others)
  yield* crowd.letGo
  yield* trap.arrived
  yield* server.kill
  yield* rpc.calm
  yield* trap.discard
  // On a slow machine one request may come too late for it.
  return { group, others, server }
})

apart("a server killed in the middle of the broadcast of a group", stage, (it) => {
  it("that never arrived brings each of its payments to the chain once", function* () {
    const { others, server } = yield* killedInGroup("holdBefore")
    for (const one of others) assert.deepInclude(yield* Purchase.charges(one), { charged: 0, isUsed: false })
    yield* server.start
    for (const one of others) yield* untilEnded(one)
    for (const one of others) yield* Purchase.assertSettled(server.url, one)
    const payments = (yield* QueuedPayments.sentFor(others)).reduce((sum, sent) => sum + sent.payments, 0)
    assert.strictEqual(payments, others.length)
    yield* Purchase.assertNextStone(server.url)
  })

  it("that did arrive finds each of its payments in the one transaction", function* () {
    const { group, others, server } = yield* killedInGroup("holdAfter")
    for (const one of group) assert.deepInclude(yield* Purchase.charges(one), { charged: 1, isUsed: true })
    yield* server.start
    for (const one of others) yield* untilEnded(one)
    for (const one of others) yield* Purchase.assertSettled(server.url, one)
    const hashes = new Set<string | undefined>()
    for (const one of group) hashes.add((yield* Purchase.assertSettled(server.url, one)).transaction)
    assert.strictEqual(hashes.size, 1)
    const sent = yield* QueuedPayments.sentFor(group)
    const paying = sent.filter(({ payments }) => payments > 0)
    assert.deepStrictEqual(valuesOf(paying, "payments"), [group.length])
  })
})
