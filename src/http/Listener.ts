/** The server's socket, open from before the routes are ready until the last response has ended. */
import { IncomingMessage, Server, ServerResponse } from "node:http"
import { createServer, Socket } from "node:net"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Duration, Effect, identity, Layer, Schedule, Schema } from "effect"
import { type Connection, Connections } from "./Connections.ts"
import { type Grants, Observer, responses } from "./Exchange.ts"
import { securityHeaders } from "./SecurityHeaders.ts"

/** How long requests in flight may take after the server is told to stop. */
export const grace = Duration.seconds(10)

/** Bytes for the first, milliseconds for the others. Incomplete requests are checked once a second. */
const limits = {
  maxHeaderSize: 32_768,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
}

/** Limits for clients that open connections or read slowly. Head and body have their own timeouts above. */
export interface ListenerLimits {
  /** Maximum open connections. Beyond, the longest-idle one is closed, or the new one while all are busy. */
  readonly connections: number
  /** Maximum silence of a connection that waits for a response, longer than any settlement takes. */
  readonly quiet: Duration.Duration
  /** Idle timeout between two requests, longer than a proxy's. */
  readonly rest: Duration.Duration
  /** Maximum unanswered requests of one connection. One more closes it. */
  readonly pipelined: number
}

export const defaultLimits: ListenerLimits = {
  connections: 4096,
  quiet: Duration.minutes(2),
  rest: Duration.seconds(65),
  pipelined: 32,
}

/** The phases of a server without routes. */
export type Phase = "starting" | "stopping"

/** The answer in these phases, in the format of the service at this path. The connection closes after it. */
export type NotNow = (
  request: Pick<IncomingMessage, "method" | "url">,
  phase: Phase,
) => { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }

/** Statuses of requests that cannot be parsed, by Node's code. Any other one is a 400. */
const unparsed: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
}

/**
 * One packet can hold thousands of requests, and Node would start all before it checks that the client reads. So a
 * request starts only when the previous response has left, which keeps at most one response per connection in memory.
 */
class OrderedServer extends Server {
  override emit(event: string, ...parameters: ReadonlyArray<unknown>): boolean {
    const [request, response] = parameters
    if (!(request instanceof IncomingMessage)) return super.emit(event, ...parameters)
    const begin = () => request.socket.destroyed || super.emit(event, ...parameters)
    if (!(response instanceof ServerResponse) || response.socket !== null) return begin()
    response.once("socket", begin)
    return true
  }
}

class Listener extends Context.Service<
  Listener,
  {
    readonly server: Server
    /** Leaves all further requests to `NotNow`, and returns the connections with requests in flight. */
    readonly turnAway: () => ReadonlyArray<Connection>
  }
>()("spirit-altar/http/Listener") {
  static readonly layer = (
    { grants = () => ({}), publicUrl = "" }: Address,
    notNow: NotNow,
    { connections, pipelined, quiet, rest }: ListenerLimits,
    canonical: (url: string) => string,
  ) =>
    Layer.effect(
      Listener,
      Effect.map(Observer, (observe) => {
        const open = new Connections(connections)
        const events = ["request", "checkContinue"] as const
        let phase: Phase = "starting"
        const refuse = (request: IncomingMessage, response: ServerResponse) => {
          const { body, headers, status } = notNow(request, phase)
          response
            .writeHead(status, { ...headers, "content-length": Buffer.byteLength(body), connection: "close" })
            .end(body)
        }
        // This listener comes first, and is the only one while there are no routes.
        const receive = (request: IncomingMessage, response: ServerResponse) => {
          request.url = canonical(request.url ?? "/")
          observe(request, response)
          if (server.listenerCount("request") === 1) refuse(request, response)
        }
        const server = new OrderedServer({
          ...limits,
          ServerResponse: responses({
            connections: open,
            grants,
            guards: securityHeaders(publicUrl.startsWith("https:")),
            isStopping: () => phase === "stopping",
            pipelined,
          }),
          keepAliveTimeout: Duration.toMillis(rest),
          // The server speaks no other protocol, and an upgraded connection would bypass these limits.
          shouldUpgradeCallback: () => false,
        })
        server.on("connection", (socket) => void open.of(socket))
        server.setTimeout(Duration.toMillis(quiet))
        // Node's own answer grants nothing. Bytes that cannot be parsed may be the rest of the connection's last request.
        server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
          if (!(socket instanceof Socket) || !socket.writable) return socket.destroy(error)
          const { newest, unanswered, url } = open.of(socket)
          // No answer may follow the head of another one.
          if (unanswered > 1 || newest?.headersSent === true) return socket.destroy(error)
          const head = Object.entries({ connection: "close", ...grants({ headers: {}, url }) })
          const status = unparsed[error.code ?? ""] ?? "400 Bad Request"
          const lines = [`HTTP/1.1 ${status}`, ...head.map((line) => line.join(": "))]
          return socket.end(`${lines.join("\r\n")}\r\n\r\n`, () => socket.destroy(error))
        })
        const onlyOurs = () => {
          for (const event of events) server.removeAllListeners(event).on(event, receive)
        }
        const turnAway = () => {
          phase = "stopping"
          onlyOurs()
          return open.busy()
        }
        onlyOurs()
        return Listener.of({ server, turnAway })
      }),
    )
}

/** Waits until these connections have answered their requests, or are closed. */
const answered = (connections: ReadonlyArray<Connection>) =>
  Effect.sync(() => connections.every(({ unanswered }) => unanswered === 0)).pipe(
    Effect.repeat({ until: (is) => is, schedule: Schedule.spaced("10 millis") }),
  )

const finalizer = (last: (listener: Listener["Service"]) => Effect.Effect<unknown>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const listener = yield* Listener
      yield* Effect.addFinalizer(() => last(listener))
    }),
  )

const closed = finalizer(({ server }) => Effect.sync(() => server.close().closeAllConnections()))

/**
 * Finalizes before the routes: no request starts, and those in flight finish. A request beyond the grace period is cut
 * off without an answer, since none is true of a payment with an unknown outcome.
 */
export const drained = Layer.fresh(
  finalizer(({ turnAway }) =>
    Effect.flatMap(Effect.sync(turnAway), (busy) =>
      Effect.andThen(
        Effect.timeoutOption(answered(busy), grace),
        Effect.sync(() => {
          for (const { socket, unanswered } of busy) if (unanswered > 0) socket?.destroy()
        }),
      ),
    ),
  ),
)

export interface Address {
  readonly host: string
  readonly port: number
  /** The public address. With https, browsers are told to use nothing else (HSTS). */
  readonly publicUrl?: string
  /** Headers of every answer, also of those that Node gives by itself. */
  readonly grants?: Grants
}

/** The system refuses a socket at an address; the cause has its code. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>()("AddressRefused", {
  cause: Schema.Unknown,
}) {}

/** Listens for a moment, before anything is made for a server that cannot. */
export const mayListen = ({ host, port }: Address) =>
  Effect.callback<void, AddressRefused>((resume) => {
    const socket = createServer()
    socket.once("error", (cause) => resume(Effect.fail(new AddressRefused({ cause }))))
    socket.listen({ host, port }, () => socket.close(() => resume(Effect.void)))
  })

/**
 * An HTTP server on a socket of its own that closes last. One process may have several. `canonical` rewrites a URL before
 * any guard or route sees it.
 */
export const layer = (
  address: Address,
  notNow: NotNow,
  within: ListenerLimits = defaultLimits,
  canonical: (url: string) => string = identity,
) =>
  Layer.fresh(
    closed.pipe(
      Layer.provideMerge(
        Layer.unwrap(
          Effect.map(Listener, ({ server }) =>
            NodeHttpServer.layer(() => server, {
              host: address.host,
              port: address.port,
              disablePreemptiveShutdown: true,
            }),
          ),
        ),
      ),
      Layer.provideMerge(Listener.layer(address, notNow, within, canonical)),
    ),
  )
