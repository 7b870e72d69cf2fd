/** The open connections of a server. Beyond the limit, the one that has waited longest for its client gives way. */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"

export class Connection {
  readonly socket: Socket | undefined
  isOpen = true
  unanswered = 0
  /** The response of the newest request, while that is unanswered. */
  newest: ServerResponse | undefined
  /** The URL of the newest request, answered or not. */
  url: string | undefined
  before: Connection = this
  after: Connection = this

  constructor(socket?: Socket) {
    this.socket = socket
  }
}

/** Also one with a part of a request's head. */
const isIdle = ({ unanswered }: Connection) => unanswered === 0

/** Its only request has done nothing yet, since its body has not arrived. */
const isUploading = ({ newest, unanswered }: Connection) => unanswered === 1 && newest?.req.complete === false

/** A ring in the order of the last change. A Set whose entries change with each request would keep its old tables alive. */
export class Connections {
  private readonly limit: number
  private readonly ofSockets = new WeakMap<Socket, Connection>()
  private readonly ring = new Connection()
  private count = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** The connection of a socket. A new one beyond the limit closes another, or itself while all others are busy. */
  of(socket: Socket): Connection {
    const existing = this.ofSockets.get(socket)
    if (existing !== undefined) return existing
    const connection = new Connection(socket)
    const idle = this.count < this.limit ? undefined : (this.all(isIdle)[0] ?? this.all(isUploading)[0] ?? connection)
    this.ofSockets.set(socket, connection)
    this.count += 1
    this.touch(connection)
    socket.once("close", () => this.close(connection))
    if (idle !== undefined) this.close(idle)
    return connection
  }

  begin(connection: Connection, response: ServerResponse): void {
    connection.unanswered += 1
    connection.newest = response
    connection.url = response.req.url
    this.touch(connection)
  }

  end(connection: Connection, response: ServerResponse): void {
    if (!connection.isOpen) return
    connection.unanswered -= 1
    if (connection.newest === response) connection.newest = undefined
    this.touch(connection)
  }

  /** Those with unanswered requests. */
  busy(): ReadonlyArray<Connection> {
    return this.all((connection) => !isIdle(connection))
  }

  close(connection: Connection): void {
    if (!connection.isOpen) return
    this.unlink(connection)
    this.count -= 1
    connection.isOpen = false
    connection.unanswered = 0
    connection.socket?.destroy()
  }

  private all(isSuch: (connection: Connection) => boolean): ReadonlyArray<Connection> {
    const such = []
    for (let next = this.ring.after; next !== this.ring; next = next.after) if (isSuch(next)) such.push(next)
    return such
  }

  private touch(connection: Connection): void {
    const { ring } = this
    if (!connection.isOpen || connection === ring.before) return
    this.unlink(connection)
    connection.before = ring.before
    connection.after = ring
    ring.before.after = connection
    ring.before = connection
  }

  private unlink({ after, before }: Connection): void {
    before.after = after
    after.before = before
  }
}
