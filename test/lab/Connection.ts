/** One TCP connection to a server, held by hand. */
import { connect } from "node:net"
import { Effect } from "effect"

const isWhole = (answer: string) => {
  const [head = "", ...rest] = answer.split("\r\n\r\n")
  const length = /content-length: (\d+)/iu.exec(head)?.[1]
  const body = rest.join("\r\n\r\n")
  return length === undefined ? /transfer-encoding/iu.test(head) && body.endsWith("0") : body.length >= Number(length)
}

export type Connection = Effect.Success<ReturnType<typeof openConnection>>

export const openConnection = Effect.fnUntraced(function* (port: number) {
  let [heard, isOpen] = ["", false]
  const looks = new Set<() => void>()
  const look = () => {
    for (const check of looks) check()
  }
  const opening = Effect.sync(() =>
    connect(port, "127.0.0.1")
      .setEncoding("latin1")
      .on("connect", () => {
        isOpen = true
        look()
      })
      .on("error", look)
      .on("close", look)
      .on("data", (part: string) => {
        heard += part
        look()
      }),
  )
  const socket = yield* Effect.acquireRelease(opening, (opened) => Effect.sync(() => opened.destroy()))
  const waits = (isOver: () => boolean) =>
    Effect.callback<void>((done) => {
      const check = () => {
        if (isOver()) done(Effect.void)
      }
      looks.add(check)
      check()
      return Effect.sync(() => looks.delete(check))
    })
  yield* waits(() => isOpen || socket.closed)
  if (!isOpen) return yield* Effect.die(`nothing listens at port ${port}`)
  const write = (bytes: string) => Effect.sync(() => void socket.write(bytes))
  return {
    socket,
    write,
    hears: (text: string) => waits(() => heard.includes(text)),
    /** Sends these bytes and waits for a whole answer, head and body of known length or to the connection's end. */
    ask: (bytes: string) =>
      Effect.suspend(() => {
        heard = ""
        return write(bytes).pipe(
          Effect.andThen(waits(() => isWhole(heard.trimEnd()) || socket.destroyed)),
          Effect.map(() => heard),
        )
      }),
    /** All that came, once the other side has hung up. */
    closed: Effect.map(
      waits(() => socket.closed),
      () => heard,
    ),
  }
})
