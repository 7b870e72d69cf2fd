/** The sandbox's chain and database are ready at once, keep what they were told to keep, and leave no process behind. */
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it, layer } from "../lab/It.ts"
import { Effect, Layer, Redacted } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { PgClient } from "@effect/sql-pg"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { submitCancel } from "../lab/buyer/ThirdParty.ts"
import { chainClient, network, token } from "../lab/Chain.ts"
import { isAlive } from "../lab/Processes.ts"
import { until } from "../lab/Eventually.ts"
import { newFolder } from "../lab/Folders.ts"
import { assertEach } from "../lab/Assertions.ts"
import { realClock } from "../lab/TestServices.ts"

const payer = "0x00000000000000000000000000000000000000aa"
const chainPid = (stateFile: string) => Number(readFileSync(`${stateFile}.pid`, "utf8"))
const withChain = <Eff extends Effect.Effect<unknown, unknown>, A>(
  options: { readonly stateFile?: string; readonly heartbeatMs?: number },
  use: (chain: LocalChain["Service"], client: ReturnType<typeof chainClient>) => Generator<Eff, A, never>,
) =>
  Effect.flatMap(LocalChain, (chain) => Effect.gen(() => use(chain, chainClient(chain.rpcUrl)))).pipe(
    Effect.provide(LocalChain.layer({ network, ...options }), { local: true }),
  )

describe("LocalChain", () => {
  it.live("serves the network it names, with gas for its relayer, and with safe and finalized blocks", () =>
    withChain({}, function* (chain, client) {
      const relayer = privateKeyToAccount(Redacted.value(chain.relayerKey)).address
      assert.strictEqual(yield* Effect.promise(() => client.getChainId()), 84532)
      const balance = yield* Effect.promise(() => client.getBalance({ address: relayer }))
      assert.isAtLeast(Number(balance / 10n ** 18n), 1000)
      assert.include(String(chain.relayerKey), "redacted")

      yield* chain.fund(payer, 1n)
      yield* Effect.repeat(chain.mine, { times: 3 })
      const numbers = yield* Effect.forEach(["latest", "safe", "finalized"] as const, (blockTag) =>
        Effect.promise(() => client.getBlock({ blockTag })),
      )
      assertEach(numbers, (block) => block.number, [5n, 4n, 3n])
    }),
  )

  it.live("mines by its heartbeat, and a transaction at once", () =>
    withChain({ heartbeatMs: 200 }, function* (chain, client) {
      yield* chain.fund(payer, 1n)
      const before = yield* Effect.promise(() => client.getBlockNumber({ cacheTime: 0 }))
      yield* Effect.promise(() => client.getBlockNumber({ cacheTime: 0 })).pipe(
        until("no block comes", (number) => number >= before + 3n),
      )
    }),
  )

  it.live("keeps balances, receipts and used nonces over a restart, and leaves no process", function* () {
    const stateFile = join(newFolder(), "chain.json")
    const nonce = `0x${"ab".repeat(32)}` as const
    const before = yield* withChain({ stateFile }, function* (chain, client) {
      const account = privateKeyToAccount(Redacted.value(chain.relayerKey))
      yield* Effect.promise(() => submitCancel(client, chain, account, nonce))
      const { balanceAtomic, transaction } = yield* chain.fund(payer, 7n)
      assert.strictEqual(balanceAtomic, 7n)
      return { pid: chainPid(stateFile), transaction, authorizer: account.address }
    })
    assert.strictEqual(isAlive(before.pid), false)
    yield* withChain({ stateFile }, function* (chain, client) {
      const receipt = yield* Effect.promise(() => client.getTransactionReceipt({ hash: before.transaction }))
      assert.strictEqual(receipt.status, "success")
      const used = yield* Effect.promise(() =>
        client.readContract({
          address: chain.asset,
          abi: token,
          functionName: "authorizationState",
          args: [before.authorizer, nonce],
        }),
      )
      assert.strictEqual(used, true)
      assert.strictEqual((yield* chain.fund(payer, 1n)).balanceAtomic, 8n)
    })
  })

  it.live("ends another chain on its state file, but no other program with that process id", function* () {
    const stateFile = join(newFolder(), "chain.json")
    yield* withChain({ stateFile }, function* (first) {
      const pid = chainPid(stateFile)
      yield* first.fund(payer, 7n)
      yield* withChain({ stateFile }, function* (second) {
        assert.strictEqual(isAlive(pid), false)
        assert.strictEqual((yield* second.fund(payer, 1n)).balanceAtomic, 8n)
      })
    })
    writeFileSync(`${stateFile}.pid`, String(process.pid))
    yield* withChain({ stateFile }, function* (chain) {
      yield* chain.mine
    })
  })
})

const databasePid = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "cluster", "postmaster.pid"), "utf8").split("\n")[0])
const withSql = <A, E, R>(dataDir: string, use: (sql: PgClient.PgClient) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(PgClient.PgClient, use).pipe(
    Effect.provide(
      Layer.unwrap(Effect.map(LocalDatabase, ({ url }) => PgClient.layer({ url }))).pipe(
        Layer.provide(LocalDatabase.layer({ dataDir, durable: false })),
      ),
      { local: true },
    ),
  )

layer(Layer.empty, realClock)("LocalDatabase", (it) => {
  const dataDir = join(newFolder(), "database")

  it.effect("serves UTF8 and UTC to those who know the password, and leaves no process", function* () {
    const pid = yield* Effect.gen(function* () {
      const { url } = yield* LocalDatabase
      const ask = (at: typeof url) =>
        Effect.flatMap(
          PgClient.PgClient,
          (sql) => sql<Record<string, string>>`SELECT
            current_setting('server_encoding') AS encoding, current_setting('timezone') AS zone,
            current_setting('max_connections') AS connections, current_setting('fsync') AS fsync,
            current_setting('listen_addresses') AS address, current_database() AS database`,
        ).pipe(Effect.provide(PgClient.layer({ url: at }), { local: true }))
      const settings = { encoding: "UTF8", zone: "UTC", connections: "200", fsync: "on", address: "127.0.0.1" }
      assert.deepStrictEqual(yield* ask(url), [{ ...settings, database: "altar" }])
      const wrong = Redacted.make(Redacted.value(url).replace(/postgres:[0-9a-f]+@/, "postgres:guess@"))
      assert.strictEqual((yield* Effect.flip(ask(wrong))).reason._tag, "AuthenticationError")
      return databasePid(dataDir)
    }).pipe(Effect.provide(LocalDatabase.layer({ dataDir, durable: true }), { local: true }))
    assert.strictEqual(isAlive(pid), false)
    assert.strictEqual(statSync(join(dataDir, "password")).mode & 0o777, 0o600)
  })

  it.effect("keeps its data over a restart, and ends another server on its data folder first", function* () {
    yield* withSql(dataDir, (first) =>
      Effect.gen(function* () {
        const pid = databasePid(dataDir)
        yield* first`CREATE TABLE kept (n int)`
        yield* first`INSERT INTO kept VALUES (7)`
        const [kept] = yield* withSql(
          dataDir,
          (second) => second`SELECT n, current_setting('fsync') AS fsync FROM kept`,
        )
        assert.deepStrictEqual(kept, { n: 7, fsync: "off" })
        yield* Effect.sync(() => isAlive(pid)).pipe(until("the first server stays", (alive) => !alive))
      }),
    )
  })
})
