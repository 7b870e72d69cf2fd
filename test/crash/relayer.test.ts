/** A server killed in the middle of a group's broadcast finds out what became of it, and sends each payment once. */
import { proxied } from "../lab/server/Environment.ts"
import { patientSeconds } from "../lab/Patience.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as QueuedPayments from "../lab/buyer/QueuedPayments.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert } from "../lab/Suites.ts"

const untilEnded = (purchase: Purchase.Purchase) =>
  Purchase.attemptOf(purchase).pipe(until("it stays pending", (attempt) => attempt?.state !== "pending", 50))

apart("a server killed in the middle of the broadcast of a group", stage, (it) => {
  it("that never arrived brings each of its payments to the chain once", function* ({ rpc }) {
    // It must outlast what is held here, and forget what it had sent soon after its next start.
    const times = { SETTLE_TIMEOUT_SECONDS: patientSeconds(3), TEST_SWEEP_SECONDS: "1" }
    const server = yield* ServerProcess.make({ ...(yield* proxied), ...times, LOG_LEVEL: "Info" })
    yield* server.start
    const { first, others } = yield* QueuedPayments.prepareGroup(server.url, 6)
    const isGroup = (params: string) => others.filter(({ nonce }) => params.includes(nonce.slice(2))).length > 1
    const trap = rpc.arm("eth_sendRawTransaction", "holdBefore", isGroup)
    const crowd = yield* QueuedPayments.gather(server.url, first, others)
    yield* crowd.letGo
    yield* trap.arrived
    yield* server.kill
    yield* rpc.calm
    yield* trap.discard
    for (const one of others) assert.deepInclude(yield* Purchase.charges(one), { charged: 0, isUsed: false })
    yield* server.start
    for (const one of others) yield* untilEnded(one)
    for (const one of others) yield* Purchase.assertSettled(server.url, one)
    const payments = (yield* QueuedPayments.sentFor(others)).reduce((sum, sent) => sum + sent.payments, 0)
    assert.strictEqual(payments, others.length)
    yield* Purchase.assertNextStone(server.url)
  })
})
