/** TCP connections that pass through this process: each is joined to another one, and both end together. */
import { createServer, type Socket } from "node:net"

export interface Passage {
  readonly port: number
  readonly cutAll: () => void
  readonly close: () => void
}

/** `dial` opens what is behind, or refuses; `join` says how bytes go between the two. */
export const passage = (
  dial: () => Socket | undefined,
  join: (client: Socket, behind: Socket, cut: () => void) => void,
): Promise<Passage> => {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const behind = dial()
    if (behind === undefined) return client.destroy()
    const cut = () => {
      client.destroy()
      behind.destroy()
    }
    for (const socket of [client, behind]) {
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.on("error", cut).once("close", () => {
        sockets.delete(socket)
        cut()
      })
    }
    return join(client, behind, cut)
  })
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        cutAll,
        close: () => {
          server.close()
          cutAll()
        },
      })
    })
  })
}
