/** `serve --check`: everything a server needs from elsewhere is asked once, and each answer is a line. */
import { Clock, type Config, ConfigProvider, Console, Duration, Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createPublicClient, formatEther, http, keccak256, numberToHex, toBytes } from "viem"
import type { PaymentsConfig } from "../payments/Payments.ts"
import { production } from "../server/config/Config.ts"
import { adviceFor } from "../server/config/Advice.ts"
import { clockTolerance } from "../platform/DatabaseClock.ts"
import * as Sql from "../platform/Sql.ts"
import * as Fees from "../payments/x402/Fees.ts"
import * as JsonRpc from "../payments/x402/JsonRpc.ts"
import { addressOf } from "../payments/x402/Relayer.ts"
import * as Supported from "../payments/x402/Supported.ts"
import { standingOf } from "../payments/x402/TokenWatch.ts"
import { givenEnvironment } from "./Environment.ts"
import { plain } from "./Output.ts"
import { codeOf, Trouble } from "./Trouble.ts"

interface Line {
  readonly check: string
  readonly state: "ok" | "failed" | "warning" | "skipped"
  readonly says: string
}

const ok = (check: string, says: string): Line => ({ check, state: "ok", says })
const failed = (check: string, says: string): Line => ({ check, state: "failed", says })

const patience = Duration.seconds(10)

const mostSkew = Duration.toSeconds(clockTolerance)

/** A failure is a line as well; what an answer may quote, secrets of the environment, is taken out of it. */
const line = <E>(check: string, secrets: ReadonlyArray<string>, run: Effect.Effect<Line, E>): Effect.Effect<Line> =>
  run.pipe(
    Effect.timeout(patience),
    Effect.catchCause((cause) => {
      const reason = reasonOf(
        cause.reasons.map((one) => ("error" in one ? one.error : "defect" in one ? one.defect : ""))[0],
      )
      const said = secrets.reduce((text, secret) => text.replaceAll(secret, "…"), reason)
      return Effect.succeed(failed(check, plain(said).slice(0, 300)))
    }),
  )

const Said = Schema.Struct({ details: Schema.NonEmptyString })
const Named = Schema.Struct({ _tag: Schema.String })
const Messaged = Schema.Struct({ message: Schema.NonEmptyString })

/** The node did not answer, or not as it should. */
class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", { cause: Schema.Unknown }) {}

/** What went wrong, in the words of whoever said it, and the system's. */
const reasonOf = (error: unknown): string => {
  const code = codeOf(error)
  return `${sentenceOf(error)}${code === undefined ? "" : ` (${code})`}`
}

const sentenceOf = (given: unknown): string => {
  const error = given instanceof Unanswered ? given.cause : given
  if (Schema.is(Said)(error)) return error.details
  if (Schema.is(Named)(error) && error._tag === "TimeoutError") return "no answer within 10 seconds"
  return Schema.is(Messaged)(error)
    ? (error.message.split("\n")[0] ?? "").replace(/^PgConnection: /u, "")
    : "it does not answer"
}

const skewLine = (check: string, seconds: number, of: string): Line =>
  Math.abs(seconds) > mostSkew
    ? failed(
        check,
        `this machine's clock is ${Math.abs(Math.round(seconds))} s ${seconds > 0 ? "ahead of" : "behind"} ${of}: set it by NTP`,
      )
    : ok(check, `within ${Math.ceil(Math.abs(seconds))} s of ${of}`)

const databaseLines = (url: Redacted.Redacted<string>) => {
  const secrets = [Redacted.value(url), URL.parse(Redacted.value(url))?.password ?? ""].filter((one) => one !== "")
  const asked = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly version: string; readonly now: Date }>`
      SELECT current_setting('server_version') AS version, clock_timestamp() AS now`
    const here = yield* Clock.currentTimeMillis
    return { version: row?.version ?? "", skew: (here - (row?.now.getTime() ?? here)) / 1000 }
  }).pipe(Effect.provide(Sql.layer(url, 1)), Effect.scoped)
  return Effect.gen(function* () {
    const answered = yield* Effect.exit(Effect.timeout(asked, patience))
    if (answered._tag === "Failure") return [yield* line("database", secrets, Effect.failCause(answered.cause))]
    const { skew, version } = answered.value
    return [ok("database", `PostgreSQL ${version} answers`), skewLine("clock", skew, "the database")]
  })
}

const tokenLine = (url: Redacted.Redacted<string>, { asset, payTo }: PaymentsConfig["terms"]) =>
  Effect.gen(function* () {
    const { ask } = yield* JsonRpc.make({ url, timeout: patience })
    const code = yield* ask("eth_getCode", [asset, "latest"])
    if (code === "0x") return failed("token", `no contract at ${asset}`)
    switch (yield* standingOf(ask, { asset, payTo })) {
      case "open":
        return ok("token", `USDC at ${asset}`)
      case "paused":
        return failed(
          "token",
          `the issuer of ${asset} has paused all transfers: nothing can be sold until it ends the pause`,
        )
      case "blocked":
        return failed("token", `the issuer of ${asset} has blocked PAY_TO ${payTo}: put another wallet in`)
    }
  }).pipe(Effect.scoped)

/** Blocks that the search for a payment must be able to ask for at once, if only piece by piece. */
const logRange = 1_000n

const chainLines = ({ finalTag, rpcUrl, settlement, terms }: PaymentsConfig) => {
  const secrets = [Redacted.value(rpcUrl)]
  const client = createPublicClient({
    transport: http(Redacted.value(rpcUrl), { retryCount: 0, timeout: 8_000, fetchOptions: { redirect: "error" } }),
  })
  const ask = <A>(check: string, run: () => Promise<A>, say: (answer: A) => Line | Effect.Effect<Line>) =>
    line(
      check,
      secrets,
      Effect.flatMap(Effect.tryPromise({ try: run, catch: (cause) => new Unanswered({ cause }) }), (answer) => {
        const said = say(answer)
        return Effect.isEffect(said) ? said : Effect.succeed(said)
      }),
    )
  const expected = terms.network.replace("eip155:", "")
  return Effect.gen(function* () {
    const chain = yield* ask(
      "chain",
      () => client.getChainId(),
      (id) =>
        String(id) === expected
          ? ok("chain", `chain ${id}, as X402_NETWORK says`)
          : failed("chain", `RPC_URL is chain ${id}, but X402_NETWORK is ${terms.network}`),
    )
    if (chain.state !== "ok") return [chain]
    const others = [
      ask(
        "finality",
        () => client.getBlock({ blockTag: finalTag }),
        ({ number }) => ok("finality", `block ${number} is ${finalTag}`),
      ),
      ask(
        "chain clock",
        () => client.getBlock({ blockTag: "latest" }),
        ({ timestamp }) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            const behind = now / 1000 - Number(timestamp)
            return behind > 120
              ? ({
                  check: "chain clock",
                  state: "warning",
                  says: `the newest block is ${Math.round(behind)} s old`,
                } as const)
              : skewLine("chain clock", Math.min(behind, 0), "the newest block")
          }),
      ),
      ask(
        "log range",
        async () => {
          const latest = await client.getBlockNumber()
          const from = latest > logRange ? latest - logRange : 0n
          const logs = await client.request({
            method: "eth_getLogs",
            params: [
              {
                address: terms.asset,
                // Nobody's: the answer is empty, and still the range has to be searched.
                topics: [keccak256(toBytes("AuthorizationUsed(address,bytes32)")), numberToHex(1, { size: 32 })],
                fromBlock: numberToHex(from),
                toBlock: numberToHex(latest),
              },
            ],
          })
          return { logs, blocks: latest - from }
        },
        ({ blocks }) => ok("log range", `logs of ${blocks} blocks in one answer`),
      ),
      line("token", secrets, tokenLine(rpcUrl, terms)),
    ]
    const relayer =
      settlement._tag === "Facilitator"
        ? []
        : [
            ask(
              "relayer",
              async () => {
                const address = addressOf(settlement.privateKey)
                const [balance, block] = await Promise.all([
                  client.getBalance({ address }),
                  client.getBlock({ blockTag: "latest" }),
                ])
                return { address, balance, least: Fees.settlementGas * 3n * (block.baseFeePerGas ?? 0n) }
              },
              ({ address, balance, least }) =>
                balance > 0n && balance >= least
                  ? ok("relayer", `${address} has ${formatEther(balance)} ETH for gas`)
                  : failed(
                      "relayer",
                      `${address} has ${formatEther(balance)} ETH and needs ${formatEther(least)} for one settlement: send it some`,
                    ),
            ),
          ]
    return [chain, ...(yield* Effect.all([...others, ...relayer], { concurrency: 5 }))]
  })
}

const facilitatorLines = ({ settlement, terms }: PaymentsConfig) => {
  if (settlement._tag !== "Facilitator") return Effect.succeed([])
  const { host } = new URL(settlement.url)
  return Effect.map(
    line(
      "facilitator",
      [],
      Supported.make(settlement, terms.network).pipe(
        Effect.flatMap((ask) => ask),
        Effect.as(ok("facilitator", `${host} settles exact payments on ${terms.network}`)),
        Effect.scoped,
      ),
    ),
    (one) => [one],
  )
}

const configured = Effect.gen(function* () {
  const config = yield* production
  const advice = adviceFor(process.env).map((says): Line => ({ check: "configuration", state: "warning", says }))
  const { payments } = config
  if ("length" in payments) {
    const missing = `nothing is sold: ${payments.join(", ")} ${payments.length === 1 ? "is" : "are"} not set`
    const unsold: Line = { check: "payments", state: "skipped", says: missing }
    return [
      ok("configuration", "every value can be read"),
      ...advice,
      ...(yield* databaseLines(config.databaseUrl)),
      unsold,
    ]
  }
  const [database, chain, facilitator] = yield* Effect.all(
    [databaseLines(config.databaseUrl), chainLines(payments), facilitatorLines(payments)],
    { concurrency: "unbounded" },
  )
  return [ok("configuration", "every value can be read"), ...advice, ...database, ...chain, ...facilitator]
})

/** A table, or one JSON document; fails when a line has. */
export const checking = Effect.fn("checking")(
  function* (isJson: boolean) {
    const lines = yield* Effect.catch(configured, (error: Config.ConfigError) =>
      Effect.succeed(error.cause.message.split("\n").map((says) => failed("configuration", says))),
    )
    const wrong = lines.filter(({ state }) => state === "failed").length
    if (isJson) yield* Console.log(JSON.stringify({ ok: wrong === 0, checks: lines }))
    else
      for (const { check, says, state } of lines) yield* Console.log(`${check.padEnd(14)} ${state.padEnd(8)} ${says}`)
    if (wrong > 0) return yield* new Trouble({ message: `${wrong} of ${lines.length} checks failed.` })
  },
  Effect.provideService(ConfigProvider.ConfigProvider, givenEnvironment()),
)
