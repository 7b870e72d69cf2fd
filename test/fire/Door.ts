/** The way from a buyer to the servers: connections that are refused or cut in the middle, and haproxy behind where it is. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { join } from "node:path"
import { freePort } from "../bench/Processes.ts"
import type { Random } from "./Random.ts"

export interface Door {
  readonly port: number
  /** From now on each new connection is closed at once, or after some bytes of an answer, with these probabilities. */
  readonly disturb: (refused: number, cut: number) => void
  readonly cutAll: () => void
  readonly calm: () => void
  /** Where it leads: one port, or several in turn. */
  readonly leadTo: (ports: ReadonlyArray<number>) => void
  readonly close: () => void
}

export const door = (random: Random): Promise<Door> => {
  let ports: ReadonlyArray<number> = []
  let turn = 0
  let [refused, cut] = [0, 0]
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const port = ports[turn++ % Math.max(1, ports.length)]
    if (port === undefined || random.chance(refused)) return client.destroy()
    const behind = connect(port, "127.0.0.1")
    const end = () => {
      client.destroy()
      behind.destroy()
    }
    for (const socket of [client, behind]) {
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
      socket.on("error", end).on("close", end)
    }
    client.on("data", (chunk) => behind.write(chunk))
    behind.on("data", (chunk) => {
      if (!random.chance(cut)) return client.write(chunk)
      client.write(chunk.subarray(0, random.below(chunk.length)))
      return end()
    })
    return undefined
  })
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        disturb: (refusals, cuts) => ([refused, cut] = [refusals, cuts]),
        cutAll,
        calm: () => ([refused, cut] = [0, 0]),
        leadTo: (behind) => (ports = behind),
        close: () => {
          server.close()
          cutAll()
        },
      })
    })
  })
}

export const hasHaproxy = () => spawnSync("haproxy", ["-v"]).status === 0

/** haproxy as an operator has it: turn by turn, whoever does not answer is left out, nothing sent twice by itself. */
export const haproxy = async (folder: string, ports: ReadonlyArray<number>) => {
  const port = await freePort()
  const file = join(folder, "haproxy.cfg")
  const servers = ports.map((one, index) => `  server s${index} 127.0.0.1:${one} check inter 500ms fall 2 rise 1`)
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 2s
  timeout client 90s
  timeout server 90s
  option forwardfor
  option httpchk GET /livez
listen altar
  bind 127.0.0.1:${port}
  balance roundrobin
${servers.join("\n")}
`,
  )
  const child: ChildProcess = spawn("haproxy", ["-f", file, "-db", "-q"], { stdio: "ignore" })
  const stop = () => child.kill("SIGKILL")
  process.once("exit", stop)
  return { port, close: () => void stop() }
}
