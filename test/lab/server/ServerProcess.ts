/** Our server as a process of its own: told to stop, killed without warning, and started again at the port it had first. */
import { setTimeout } from "node:timers/promises"
import { Effect, Exit, Redacted } from "effect"
import { takePort } from "../Ports.ts"
import { main, run, type Running } from "../Process.ts"
import { keepText } from "../run/FailureArtifacts.ts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import { Proxies } from "../TestServices.ts"

/** Waits until a server says that it is ready. */
export const isReady = async (url: string, patienceMs: number): Promise<boolean> => {
  for (const end = performance.now() + patienceMs; performance.now() < end; await setTimeout(20)) {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer?.ok === true) return true
  }
  return false
}

interface ServerOptions {
  /** Everything it is configured by but where it listens. */
  readonly environment: Readonly<Record<string, string>>
  readonly name?: string
  readonly hear?: (text: string) => void
}

export type Server = Awaited<ReturnType<typeof server>>

/** Prepared, and not started; port and public URL stay for all its lives. */
export const server = async ({ environment, hear = () => {}, name = "server" }: ServerOptions) => {
  const port = await takePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    PATH: process.env["PATH"] ?? "",
    NODE_ENV: "production",
    HOST: "127.0.0.1",
    PORT: String(port),
    PUBLIC_URL: url,
    ...environment,
  }
  let life: Running | undefined
  let isMeant = false
  let crashes = 0
  const kill = async () => {
    isMeant = true
    await life?.kill()
  }
  return {
    name,
    port,
    url,
    start: () => {
      isMeant = false
      life = run([main, "serve"], { env, hear })
      life.child.once("exit", () => (crashes += isMeant ? 0 : 1))
      return life
    },
    life: () => life,
    isRunning: () => life?.child.exitCode === null && life.child.signalCode === null,
    ready: (patienceMs: number) => isReady(url, patienceMs),
    /** SIGKILL, and waits until nothing of it runs. */
    kill,
    /** SIGTERM; whether it has ended by itself in a minute. */
    stop: async () => {
      isMeant = true
      life?.signal("SIGTERM")
      const ended = life?.exited.then(() => true) ?? true
      const inTime = await Promise.race([ended, setTimeout(60_000, false, { ref: false })])
      if (!inTime) await kill()
      return inTime
    },
    /** The number of its unexpected exits. */
    crashes: () => crashes,
  }
}

/** The same for a test: its steps are effects, and it ends with its scope. */
export type ServerProcess = Effect.Success<ReturnType<typeof make>>

/** Not started yet; it may be killed and started as often as one likes. */
export const make = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  let log = ""
  const own = yield* Effect.promise(() => server({ environment, hear: (text) => (log += text) }))
  yield* Effect.addFinalizer((exit) =>
    Effect.promise(own.kill).pipe(
      Effect.andThen(Effect.sync(() => (Exit.isFailure(exit) ? keepText(`server-${own.port}.log`, log) : undefined))),
    ),
  )
  const life = Effect.suspend(() => Effect.fromNullishOr(own.life())).pipe(Effect.orDie)
  const begin = Effect.sync(own.start)
  return {
    url: own.url,
    port: own.port,
    begin,
    /** Answers once the server says that it listens. */
    start: Effect.flatMap(begin, ({ says }) => Effect.promise(() => says("server listening"))),
    /** SIGKILL, and waits until nothing of it runs. */
    kill: Effect.promise(own.kill),
    /** Waits until it has written this, on stdout or stderr; all it has written so far. */
    says: (text: string) => Effect.flatMap(life, ({ says }) => Effect.promise(() => says(text))),
    signal: (name: NodeJS.Signals) => Effect.map(life, ({ signal }) => signal(name)),
    /** Its exit code, null when a signal ended it. */
    ended: Effect.flatMap(life, ({ ended }) => Effect.promise(() => ended)).pipe(Effect.map(({ code }) => code)),
    output: () => own.life()?.output() ?? "",
    /** From now on its output is not read. */
    deafen: () => void own.life()?.child.stdout?.pause(),
    /** From now on its output is closed. */
    hangUp: () => void own.life()?.child.stdout?.destroy(),
  }
})

/** As a service manager runs it: it starts now, without a wait. */
export const serving = (environment: Readonly<Record<string, string>>) =>
  Effect.tap(make(environment), ({ begin }) => begin)

/** Without proxies. */
export const direct = Effect.gen(function* () {
  const { network, payTo, relayerKey, rpcUrl } = yield* LocalChain
  const { url } = yield* LocalDatabase
  return {
    DATABASE_URL: Redacted.value(url),
    X402_NETWORK: network,
    RPC_URL: rpcUrl,
    PAY_TO: payTo,
    RELAYER_KEY: Redacted.value(relayerKey),
  }
})

/** Through the proxies of database and node. */
export const proxied = Effect.gen(function* () {
  const { database, rpc } = yield* Proxies
  return { ...(yield* direct), DATABASE_URL: database.url, RPC_URL: rpc.url }
})

/** A server behind these proxies that listens, and does not sweep unless it is told. */
export const listening = Effect.fnUntraced(function* (env: Readonly<Record<string, string>> = {}) {
  const server = yield* serving({ ...(yield* proxied), TEST_SWEEP_SECONDS: "3600", ...env })
  yield* server.says("server listening")
  return server
})
