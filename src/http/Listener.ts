/** The server's socket: it is open before the routes stand and until what is in flight is done; who asks too early or too late is told so. */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Duration, Effect, Layer } from "effect"
import type { IdentifiedResponse } from "./IdentifiedResponse.ts"
import { Observer, requestIdHeader } from "./Observer.ts"
import { PipelineBound } from "./PipelineBound.ts"
import { securityHeaders } from "./SecurityHeaders.ts"

/** How long what is in flight may take once the server is told to stop. */
export const grace = Duration.seconds(10)

/** All in milliseconds but the first, which is bytes; half a request is looked for once a second. */
const limits = {
  maxHeaderSize: 32_768,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
}

/** What those can take who open connections, or are slow to read; a head and a body have their times above. */
export interface Bounds {
  /** Open at once; one more is closed before it is heard. */
  readonly connections: number
  /** How long nothing may be read or taken while an answer is waited for; longer than any settlement takes. */
  readonly quiet: Duration.Duration
  /** How long a connection may rest between two requests; longer than a proxy lets one rest. */
  readonly rest: Duration.Duration
  /** Requests of one connection that may wait for their answers; with one more it is hung up on. */
  readonly pipelined: number
}

export const bounds: Bounds = {
  connections: 4096,
  quiet: Duration.minutes(2),
  rest: Duration.seconds(65),
  pipelined: 32,
}

/** What a server is while no routes stand. */
export type Phase = "starting" | "stopping"

/** What is answered then, in the shape of whoever serves the path; the connection is closed behind it. */
export type NotNow = (
  url: string,
  phase: Phase,
) => { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }

const plainly: NotNow = () => ({
  status: 503,
  headers: { "retry-after": "1", "cache-control": "no-store", "content-type": "text/plain; charset=utf-8" },
  body: "The server is starting or stopping: ask again in a second. This request did nothing.\n",
})

class Listener extends Context.Service<
  Listener,
  {
    readonly server: Server
    /** Leaves every further request to `NotNow`. */
    readonly turnAway: () => void
    /** Answers that have been begun and not ended. */
    readonly inFlight: ReadonlySet<ServerResponse>
  }
>()("spirit-altar/http/Listener") {
  static readonly layer = (isEncrypted: boolean, notNow: NotNow, { connections, pipelined, quiet, rest }: Bounds) =>
    Layer.effect(
      Listener,
      Effect.map(Observer, (observe) => {
        const inFlight = new Set<ServerResponse>()
        const events = ["request", "checkContinue"] as const
        const guards = securityHeaders(isEncrypted)
        let phase: Phase = "starting"
        const refuse = (url: string, response: ServerResponse) => {
          const { body, headers, status } = notNow(url, phase)
          response
            .writeHead(status, { ...headers, "content-length": Buffer.byteLength(body), connection: "close" })
            .end(body)
        }
        // Ours is the first of the listeners, and the only one while no routes stand.
        const receive = (request: IncomingMessage, response: IdentifiedResponse) => {
          request.headers[requestIdHeader] = response.requestId
          response.securityHeaders = guards
          observe(request, response)
          if (server.listenerCount("request") === 1) return refuse(request.url ?? "/", response)
          inFlight.add(response)
          response.once("close", () => inFlight.delete(response))
        }
        const server = new PipelineBound(pipelined, {
          ...limits,
          keepAliveTimeout: Duration.toMillis(rest),
          // Nothing here speaks another protocol, and what asks for one would go around all of this.
          shouldUpgradeCallback: () => false,
        })
        server.maxConnections = connections
        server.setTimeout(Duration.toMillis(quiet))
        const onlyOurs = () => {
          for (const event of events) server.removeAllListeners(event).on(event, receive)
        }
        const turnAway = () => {
          phase = "stopping"
          onlyOurs()
          for (const response of inFlight) response.shouldKeepAlive = false
        }
        onlyOurs()
        return Listener.of({ inFlight, server, turnAway })
      }),
    )
}

const ended = (responses: ReadonlySet<ServerResponse>) =>
  Effect.callback<void>((resume) => {
    const look = () => {
      if (responses.size === 0) resume(Effect.void)
    }
    for (const response of responses) response.once("close", look)
    look()
  })

const finalizer = (last: (listener: Listener["Service"]) => Effect.Effect<unknown>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const listener = yield* Listener
      yield* Effect.addFinalizer(() => last(listener))
    }),
  )

const closed = finalizer(({ server }) => Effect.sync(() => server.close().closeAllConnections()))

/**
 * To be built after the routes: before they end, what is in flight ends, and nothing new begins. Who waited too long hears
 * nothing: no answer is true of a payment whose outcome is not known.
 */
export const drained = Layer.fresh(
  finalizer(({ inFlight, turnAway }) =>
    Effect.sync(turnAway).pipe(
      Effect.andThen(Effect.timeoutOption(ended(inFlight), grace)),
      Effect.andThen(Effect.sync(() => inFlight.forEach((response) => response.destroy()))),
    ),
  ),
)

export interface Address {
  readonly host: string
  readonly port: number
  /** Where the world finds it; with https, browsers are told to come back by nothing else. */
  readonly publicUrl?: string
}

/** An HTTP server on a socket of its own, which is closed last of all; one process may have several. */
export const layer = ({ host, port, publicUrl = "" }: Address, notNow: NotNow = plainly, within: Bounds = bounds) =>
  Layer.fresh(
    closed.pipe(
      Layer.provideMerge(
        Layer.unwrap(
          Effect.map(Listener, ({ server }) =>
            NodeHttpServer.layer(() => server, { host, port, disablePreemptiveShutdown: true }),
          ),
        ),
      ),
      Layer.provideMerge(Listener.layer(publicUrl.startsWith("https:"), notNow, within)),
    ),
  )
