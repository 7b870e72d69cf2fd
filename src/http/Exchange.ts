/** One request and its response on the socket: its id, its place in the connection's queue, and its common headers. */
import { randomUUID } from "node:crypto"
import { IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import { Context } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Connections } from "./Connections.ts"
import type { SecurityHeaders } from "./SecurityHeaders.ts"

export type Observe = (request: IncomingMessage, response: ServerResponse) => void

/** Called with each request that the socket receives, and with its response. The default does nothing. */
export const Observer = Context.Reference<Observe>("spirit-altar/http/Observer", { defaultValue: () => () => {} })

export const requestIdHeader = "x-request-id"

const ids = new WeakMap<object, string>()

/** The id of a request, as in the log. It is generated here, never taken from the client, and only where it is used. */
export const requestIdOf = (request: IncomingMessage | HttpServerRequest.HttpServerRequest): string => {
  const message = request instanceof IncomingMessage ? request : request.source
  const existing = ids.get(message)
  if (existing !== undefined) return existing
  const id = randomUUID()
  ids.set(message, id)
  return id
}

type Head = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

/** A client needs the id of a refused request. */
const leastRefusal = 400

/** The headers that grant pages of other origins the answer to a request. */
export type Grants = (request: Pick<IncomingMessage, "headers" | "url">) => Readonly<Record<string, string>>

interface ExchangeOptions {
  readonly connections: Connections
  readonly grants: Grants
  readonly guards: SecurityHeaders
  /** Whether a connection closes with its response. */
  readonly isStopping: () => boolean
  /** Maximum unanswered requests of one connection. One more closes it. */
  readonly pipelined: number
}

/** The class of a server's responses. Node answers some requests itself without an event, so they are counted here. */
export const responses = ({ connections, grants, guards, isStopping, pipelined }: ExchangeOptions) =>
  class<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    constructor(...parameters: ConstructorParameters<typeof ServerResponse<Request>>) {
      super(...parameters)
      const connection = connections.of(this.req.socket)
      connections.begin(connection, this)
      // The framework adds many listeners when it streams. With this one they exceed Node's warning threshold for
      // leaks.
      this.setMaxListeners(32).once("close", () => connections.end(connection, this))
      if (connection.unanswered > pipelined) connections.close(connection)
    }

    /** Adds the headers where the head is written: one that is set separately costs as much as all others together. */
    override writeHead(status: number, ...rest: [reason?: string | Head, headers?: Head]): this {
      const [reason, headers] = rest
      if (isStopping()) this.shouldKeepAlive = false
      return typeof reason === "string"
        ? super.writeHead(status, reason, this.#complete(status, headers))
        : super.writeHead(status, this.#complete(status, reason ?? headers))
    }

    #complete(status: number, headers: Head | undefined): Head {
      const id = status >= leastRefusal ? { [requestIdHeader]: requestIdOf(this.req) } : {}
      const own = { ...grants(this.req), ...id }
      if (Array.isArray(headers)) return [...Object.entries({ ...guards(), ...own }).flat(), ...headers]
      // A 304 replaces the headers that a cache stored, and its own would not fit the cached type.
      const guard = status === 304 ? undefined : guards(headers?.["content-type"])
      return { ...guard, ...headers, ...own }
    }
  }
