/** The health of the service, for monitors and load balancers. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { Group } from "./Group.ts"
import { Timestamp } from "./Common.ts"
import { Count, waitSeconds, listOf, sentence, patterned } from "./Fields.ts"
import { ChainHead } from "./altar/Witness.ts"
import { described, RoomRequests } from "./room/Api.ts"
import { interfaceVersion } from "./Version.ts"
import { Mode, modes } from "./room/Message.ts"

const Part = Schema.Literals(["ok", "failing", "unknown"])

const Log = Schema.Struct({
  state: Schema.Literals(["running", "waiting", "stopped", "unknown"]).annotate({
    description:
      "`waiting`: no checkpoint is signed or published until `waitsFor` is given. `stopped`: the log would contradict itself. Stones are sold in every state.",
  }),
  waitsFor: Schema.NullOr(
    sentence("LOG_CHECKPOINT_FILE, which holds no checkpoint, or a cosigner to confirm the checkpoint of size 417"),
  ).annotate({ description: "The input that a waiting log needs; null in every other state." }),
  since: Schema.NullOr(Timestamp).annotate({
    description: "Since when the log waits or is stopped; null while it runs or is unknown.",
  }),
}).annotate({
  identifier: "LogHealth",
  description: "The transparency log; absent without one. It does not affect `ok`.",
  examples: [{ state: "running", waitsFor: null, since: null }],
})
export type LogHealth = typeof Log.Type

const PaymentsState = Schema.Literals(["ready", "not_configured", "paused", "failing", "unknown"])

const settlement = Part.annotate({
  description:
    "`failing` while no payment on chain can be taken: the node does not answer, our relayer cannot pay the gas of one more settlement, the facilitator does not say that it settles, or the token's issuer has paused it or blocked the receiving wallet. Sales for USDC stop until then. `unknown` while the facilitator limits requests.",
})

const clock = Part.annotate({
  description:
    "`failing` while this server's clock is more than 30 seconds from the database's; `unknown` while the database does not answer.",
})

export const Health = Schema.Struct({
  ok: Schema.Boolean,
  version: patterned(/^\d{1,5}\.\d{1,5}\.\d{1,5}$/u, 17, 5).annotate({
    description: "The version of the software, as in its changelog.",
  }),
  interface: patterned(/^\d{1,5}\.\d{1,5}\.\d{1,5}$/u, 17, 5).annotate({
    description: "The version of the interface, as in `info.version` of this document.",
  }),
  commit: Schema.NullOr(patterned(/^[0-9a-f]{40}$/u, 40)).annotate({
    description: "The git commit that the server was built from, or null.",
  }),
  database: Part,
  clock,
  chain: Schema.Struct({
    state: Part.annotate({
      description: "`failing` when a link of the witness chain no longer hashes; `unknown` while it cannot be read.",
    }),
    head: Schema.NullOr(ChainHead).annotate({ description: "The newest link; null while it cannot be read." }),
  }),
  reveals: Part.annotate({
    description:
      "`failing` after revealed words did not hash to their commitment; `unknown` while they cannot be read.",
  }),
  payments: Schema.Struct({
    enabled: Schema.Boolean,
    state: PaymentsState.annotate({
      description:
        "`paused` while the operator has paused sales. `failing` while no payment on chain is possible, or until an operator acknowledges an act whose payment was orphaned for good. `unknown` while the database cannot be asked.",
    }),
    pausedSince: Schema.NullOr(Timestamp).annotate({
      description: "Since when the operator has paused sales; null while they are not paused.",
    }),
    pending: Schema.NullOr(Count).annotate({
      description: "Attempts with an unknown outcome; null while they cannot be counted.",
    }),
    settlement,
    gasLost: Schema.Struct({
      state: Part,
      lastHourEther: Schema.NullOr(patterned(/^\d{1,9}\.\d{9}$/u, 19, 11)),
    }).annotate({
      description:
        "Gas that transactions which did not pay cost our relayer in the last hour. `failing` from 0.001 ether on; nothing stops for it, and `ok` does not change.",
      examples: [{ state: "ok", lastHourEther: "0.000000000" }],
    }),
    obstacle: Schema.NullOr(sentence("The node of the payment network does not answer")).annotate({
      description: "Why no payment on chain is possible; null while payments are accepted.",
    }),
  }),
  log: Schema.optionalKey(Log),
  modes: listOf(Mode, 4).annotate({ description: "Message modes of the signal room." }),
}).annotate({
  identifier: "Health",
  description: "The state of the service and its parts.",
  examples: [
    {
      ok: true,
      version: "1.0.0",
      interface: interfaceVersion,
      commit: "0".repeat(40),
      database: "ok",
      clock: "ok",
      chain: { state: "ok", head: { sequence: 0, chainHash: "0".repeat(64) } },
      reveals: "ok",
      payments: {
        enabled: true,
        state: "ready",
        pausedSince: null,
        pending: 0,
        settlement: "ok",
        gasLost: { state: "ok", lastHourEther: "0.000000000" },
        obstacle: null,
      },
      modes,
    },
  ],
})

/** The same body as a 503 with `Retry-After`. */
const unhealthy = <Fields extends Schema.Struct.Fields>(state: Schema.Struct<Fields>) =>
  HttpApiSchema.WithHeaders(state.pipe(HttpApiSchema.status(503)), {
    "retry-after": waitSeconds(),
  })

const health = HttpApiEndpoint.get("health", "/api/health", {
  success: Health.pipe(HttpApiSchema.status(200)),
  error: unhealthy(Health),
}).annotateMerge(
  described(
    "Health",
    "200 when everything works, also while the operator has paused sales; 503 with the same body when a part fails. Part of the room's API: its errors have the room's shape.",
  ),
)

export const Liveness = Schema.Struct({ alive: Schema.Literal(true) }).annotate({
  identifier: "Liveness",
  description: "The process answers; it says nothing about its parts.",
})

const livez = HttpApiEndpoint.get("livez", "/livez", { success: Liveness }).annotateMerge(
  described(
    "Liveness",
    "200 as long as the process answers, also while it starts and stops. For supervisors that restart a hanging process: it checks no part.",
  ),
)

export const Readiness = Schema.Struct({
  ready: Schema.Boolean,
  state: Schema.Literals(["starting", "serving", "stopping"]),
  database: Part,
  clock,
  payments: PaymentsState.annotate({
    description: "`paused` while the operator has paused sales; `failing` while no payment on chain is possible.",
  }),
  settlement: Part.annotate({ description: "As in /api/health." }),
  log: Schema.optionalKey(Log),
}).annotate({
  identifier: "Readiness",
  description: "Whether this server should get requests. A part that was not checked or did not answer is `unknown`.",
  examples: [{ ready: true, state: "serving", database: "ok", clock: "ok", payments: "ready", settlement: "ok" }],
})

const readyz = HttpApiEndpoint.get("readyz", "/readyz", {
  query: {
    for: Schema.optionalKey(
      Schema.Literal("reads").annotate({
        description: "Leaves payments and the clock out: reads, rooms and repeated requests work without them.",
        examples: ["reads"],
      }),
    ),
  },
  success: Readiness.pipe(HttpApiSchema.status(200)),
  error: unhealthy(Readiness),
}).annotateMerge(
  described(
    "Readiness",
    "200 when this server should get traffic; 503 while it starts or stops, has no database, has a clock that is more than 30 seconds off, or cannot sell: sales are paused, or no payment on chain is possible. For load balancers.",
  ),
)

export const ServiceGroup: Group<"service", typeof health | typeof livez | typeof readyz, RoomRequests> =
  HttpApiGroup.make("service")
    .add(health, livez, readyz)
    .middleware(RoomRequests)
    .annotateMerge(OpenApi.annotations({ title: "Service", description: "The service itself." }))
