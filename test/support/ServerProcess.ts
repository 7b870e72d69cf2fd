/** The real server as a process of its own, which can be killed without warning and started again where it stood. */
import { Effect, Exit, Scope } from "effect"
import * as OwnedProcess from "../../src/sandbox/OwnedProcess.ts"
import { keepText } from "./FailureArtifacts.ts"
import { freePort } from "./Ports.ts"

export interface ServerProcess {
  readonly url: string
  /** Answers once the server says that it listens. */
  readonly start: Effect.Effect<void>
  /** SIGKILL, and waits until nothing of it runs. */
  readonly kill: Effect.Effect<void>
}

const stop: OwnedProcess.Stop = { signal: "SIGKILL", force: "SIGKILL", patienceMs: 5000 }

/** `env` is everything the server is configured by but where it listens: port and public URL stay for all its lives. */
export const make = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const port = yield* freePort
  const url = `http://127.0.0.1:${port}`
  const variables = { HOST: "127.0.0.1", PORT: String(port), PUBLIC_URL: url, ...env }
  let life = yield* Scope.make()
  let log = ""
  yield* Effect.addFinalizer((exit) =>
    Effect.andThen(
      Effect.suspend(() => Scope.close(life, Exit.void)),
      Effect.sync(() => (Exit.isFailure(exit) ? keepText(`server-${port}.log`, log) : undefined)),
    ),
  )

  const start = Effect.gen(function* () {
    life = yield* Scope.make()
    yield* OwnedProcess.start({
      command: "env",
      args: [
        ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
        process.execPath,
        "src/start.js",
        "serve",
      ],
      ready: /Listening on/,
      hear: (text) => (log += text),
      stop,
    }).pipe(Scope.provide(life), Effect.orDie)
  })
  const kill = Effect.suspend(() => Scope.close(life, Exit.void))
  const server: ServerProcess = { url, start, kill }
  return server
})
