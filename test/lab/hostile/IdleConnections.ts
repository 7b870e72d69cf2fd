/** Connections from as many addresses as there are connections: each asks once, and then rests. */
import { connect, type Socket } from "node:net"

const ask = "GET /livez HTTP/1.1\r\nhost: altar.example\r\n\r\n"

/** Fewer than a kernel keeps waiting for one listener. */
const atOnce = 128

/** Loopback has sixteen million addresses, from which a client may choose. */
const localAddress = (index: number) => `127.${16 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`

/** Whether an answer came before the other side hung up. */
const isHeard = (socket: Socket) =>
  new Promise<boolean>((resolve) => {
    const settle = (heard: boolean) => () => {
      socket.off("data", yes).off("close", no)
      resolve(heard)
    }
    const [yes, no] = [settle(true), settle(false)]
    socket.once("data", yes).once("close", no).write(ask)
  })

/** Opens so many connections, each of which asks once and rests until all leave. */
export const openIdleConnections = async (port: number, count: number) => {
  const inside = new Set<Socket>()
  let next = 0
  const work = async () => {
    while (next < count) {
      const socket = connect({ port, host: "127.0.0.1", localAddress: localAddress(next) })
      next += 1
      socket.on("error", () => socket.destroy())
      if (await isHeard(socket)) inside.add(socket.once("close", () => inside.delete(socket)))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { leave: () => inside.forEach((socket) => socket.destroy()) }
}
