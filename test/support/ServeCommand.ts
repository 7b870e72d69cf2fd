/** `serve` as a service manager runs it: a process that is told to stop, with its output and exit code. */
import { spawn } from "node:child_process"
import { connect } from "node:net"
import { Effect } from "effect"
import { main } from "./Cli.ts"
import { freePort } from "./Ports.ts"

export interface Serving {
  readonly url: string
  readonly port: number
  /** Waits until it has written this, on stdout or stderr; all it has written so far. */
  readonly says: (text: string) => Effect.Effect<string>
  readonly signal: (name: NodeJS.Signals) => Effect.Effect<void>
  /** Its exit code, null when a signal ended it. */
  readonly ended: Effect.Effect<number | null>
  readonly output: () => string
  /** From now on nobody reads what it writes. */
  readonly deafen: () => void
  /** From now on there is nobody who could read it. */
  readonly hangUp: () => void
}

/** Ended with its scope, whatever it does. */
export const serving = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const port = yield* freePort
  const url = `http://127.0.0.1:${port}`
  let output = ""
  const looks = new Set<() => void>()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [main, "serve"], {
        env: { PATH: process.env["PATH"] ?? "", HOST: "127.0.0.1", PORT: String(port), PUBLIC_URL: url, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    ),
    (one) => Effect.sync(() => one.kill("SIGKILL")),
  )
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (bytes: Buffer) => {
      output += bytes.toString()
      for (const look of looks) look()
    })
  }
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
  const service: Serving = {
    url,
    port,
    output: () => output,
    deafen: () => child.stdout.pause(),
    hangUp: () => void child.stdout.destroy(),
    says: (text) =>
      Effect.callback<string>((resume) => {
        const look = () => {
          if (output.includes(text)) resume(Effect.succeed(output))
        }
        looks.add(look)
        look()
        void ended.then((code) => resume(Effect.die(`it never said ${text}, and ended with ${code}: ${output}`)))
        return Effect.sync(() => looks.delete(look))
      }),
    signal: (name) => Effect.sync(() => void child.kill(name)),
    ended: Effect.promise(() => ended),
  }
  return service
})

export interface Line {
  /** Sends these bytes and waits for a whole answer, head and body of known length or to the connection's end. */
  readonly ask: (bytes: string) => Effect.Effect<string>
  readonly write: (bytes: string) => Effect.Effect<void>
  /** All that came, once the other side has hung up. */
  readonly closed: Effect.Effect<string>
}

const isWhole = (answer: string) => {
  const [head = "", ...rest] = answer.split("\r\n\r\n")
  const length = /content-length: (\d+)/iu.exec(head)?.[1]
  const body = rest.join("\r\n\r\n")
  return length === undefined ? /transfer-encoding/iu.test(head) && body.endsWith("0") : body.length >= Number(length)
}

/** One TCP connection, held by hand. */
export const line = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly line: Line; readonly hangUp: () => void }>((resume) => {
      let heard = ""
      const looks = new Set<() => void>()
      const socket = connect(port, "127.0.0.1")
      const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(heard)))
      socket.setEncoding("latin1")
      socket.on("error", () => socket.destroy())
      socket.on("data", (part: string) => {
        heard += part
        for (const look of looks) look()
      })
      const write = (bytes: string) => Effect.sync(() => void socket.write(bytes))
      const answer = Effect.callback<string>((done) => {
        const look = () => {
          if (isWhole(heard.trimEnd()) || socket.destroyed) done(Effect.succeed(heard))
        }
        looks.add(look)
        look()
        socket.once("close", look)
        return Effect.sync(() => looks.delete(look))
      })
      const made: Line = {
        write,
        ask: (bytes) =>
          Effect.suspend(() => {
            heard = ""
            return Effect.andThen(write(bytes), answer)
          }),
        closed: Effect.promise(() => closed),
      }
      socket.once("connect", () => resume(Effect.succeed({ line: made, hangUp: () => socket.destroy() })))
      socket.once("error", (error) => resume(Effect.die(error)))
    }),
    ({ hangUp }) => Effect.sync(hangUp),
  ).pipe(Effect.map((one) => one.line))
