/** One TCP connection to a server, held by hand. */
import { connect, type Socket } from "node:net"
import { Effect } from "effect"

export interface Connection {
  readonly socket: Socket
  /** Waits until this has come. */
  readonly hears: (text: string) => Effect.Effect<void>
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
export const openConnection = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly line: Connection; readonly hangUp: () => void }>((resume) => {
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
      const hears = (text: string) =>
        Effect.callback<void>((done) => {
          const look = () => {
            if (heard.includes(text)) done(Effect.void)
          }
          looks.add(look)
          look()
          return Effect.sync(() => looks.delete(look))
        })
      const made: Connection = {
        socket,
        hears,
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
