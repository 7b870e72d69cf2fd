/** The wire before a PostgreSQL, which passes everything on and remembers every statement that was sent. */
import { connect, createServer, type Socket } from "node:net"

export interface StatementTap {
  readonly port: number
  /** Each text once. */
  readonly statements: ReadonlySet<string>
  readonly close: () => void
}

const sslRequest = 80_877_103

/** Tells of each statement in a front end's bytes: `Parse` and `Query` hold one. */
const listener = (hear: (statement: string) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = isStarted ? 1 : 0
      const size = rest.length < head + 4 ? Infinity : head + rest.readUInt32BE(head)
      if (rest.length < size) return
      const type = isStarted ? String.fromCharCode(rest[0] ?? 0) : ""
      if (!isStarted) isStarted = rest.readUInt32BE(4) !== sslRequest
      // A Parse names its statement first.
      const from = type === "P" ? rest.indexOf(0, 5) + 1 : 5
      if (type === "P" || type === "Q") hear(rest.toString("utf8", from, rest.indexOf(0, from)))
      rest = rest.subarray(size)
    }
  }
}

export const statementTap = (databasePort: number): Promise<StatementTap> => {
  const statements = new Set<string>()
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(databasePort, "127.0.0.1")
    const hear = listener((statement) => statements.add(statement))
    const end = () => {
      client.destroy()
      database.destroy()
    }
    for (const socket of [client, database]) {
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.on("error", end).once("close", () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on("data", (chunk) => {
      hear(chunk)
      database.write(chunk)
    })
    database.on("data", (chunk) => client.write(chunk))
  })
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        statements,
        close: () => {
          server.close()
          for (const socket of sockets) socket.destroy()
        },
      })
    })
  })
}
