/** TCP connections that pass through this process: refused, cut in the middle of an answer, or led elsewhere. */
import { connect, createServer, type Socket } from "node:net"
import type { Random } from "../Random.ts"

/** Each connection is joined to another one, and both end together. `dial` opens what is behind, or refuses; `join` says how bytes go between the two. */
export const openRelay = (
  dial: () => Socket | undefined,
  join: (client: Socket, behind: Socket, cut: () => void) => void,
) => {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const behind = dial()
    if (behind === undefined) {
      sockets.add(client)
      // After its first bytes: a client that still sends would hear of a reset as often as of an end.
      return client
        .on("error", () => {})
        .once("close", () => sockets.delete(client))
        .once("data", () => client.destroy())
    }
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
  return new Promise<{ readonly port: number; readonly cutAll: () => void; readonly close: () => void }>((resolve) => {
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

/** The way to servers or a database: connections that are refused, or cut in the middle of an answer. */
export const tcpProxy = async (random: Random) => {
  let ports: ReadonlyArray<number> = []
  let turn = 0
  let [refused, cut] = [0, 0]
  const { close, cutAll, port } = await openRelay(
    () => {
      const next = ports[turn++ % Math.max(1, ports.length)]
      return next === undefined || random.chance(refused) ? undefined : connect(next, "127.0.0.1")
    },
    (client, behind, end) => {
      client.on("data", (chunk) => behind.write(chunk))
      behind.on("data", (chunk) => {
        if (!random.chance(cut)) return client.write(chunk)
        client.write(chunk.subarray(0, random.below(chunk.length)))
        return end()
      })
    },
  )
  return {
    port,
    /** From now on each new connection is closed at once, or after some bytes of an answer, with these probabilities. */
    disturb: (refusals: number, cuts: number) => void ([refused, cut] = [refusals, cuts]),
    cutAll,
    calm: () => void ([refused, cut] = [0, 0]),
    /** Where it leads: one port, or several in turn. */
    leadTo: (behind: ReadonlyArray<number>) => void (ports = behind),
    close,
  }
}
