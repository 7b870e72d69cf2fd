/** Whether the service works, for monitors and load balancers. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { Group } from "./Group.ts"
import { Count, listOf, shaped } from "./Bounds.ts"
import { ChainHead } from "./altar/Witness.ts"
import { RoomRequests } from "./room/Api.ts"
import { Mode, modes } from "./room/Message.ts"

const Part = Schema.Literals(["ok", "failing", "unknown"])

export const Health = Schema.Struct({
  ok: Schema.Boolean,
  version: shaped(/^\d{1,5}\.\d{1,5}\.\d{1,5}$/u, 17),
  database: Part,
  chain: Schema.Struct({
    state: Part.annotate({
      description: "`failing` when a link of the witness chain no longer hashes; `unknown` while it cannot be read.",
    }),
    head: Schema.NullOr(ChainHead).annotate({ description: "The newest link; null while it cannot be read." }),
  }),
  payments: Schema.Struct({
    enabled: Schema.Boolean,
    state: Schema.Literals(["ready", "not_configured", "failing", "unknown"]).annotate({
      description:
        "`failing` while the payment of an act was reorganised away for good and no operator has acknowledged it; `unknown` while the database cannot be asked.",
    }),
    pending: Schema.NullOr(Count).annotate({
      description: "Attempts whose outcome is not known yet; null while they cannot be counted.",
    }),
    settlement: Part.annotate({
      description:
        "`failing` when our relayer cannot pay the gas of one more settlement, or the facilitator does not say that it settles: nothing is sold meanwhile. `unknown` while the relayer's node does not answer, or the facilitator was asked too often.",
    }),
  }),
  modes: listOf(Mode, 4).annotate({ description: "Message modes of the signal room." }),
}).annotate({
  identifier: "Health",
  description: "The state of the service and its parts.",
  examples: [
    {
      ok: true,
      version: "0.15.0",
      database: "ok",
      chain: { state: "ok", head: { sequence: 0, chainHash: "0".repeat(64) } },
      payments: { enabled: true, state: "ready", pending: 0, settlement: "ok" },
      modes,
    },
  ],
})

const health = HttpApiEndpoint.get("health", "/api/health", {
  success: Health.pipe(HttpApiSchema.status(200)),
  error: Health.pipe(HttpApiSchema.status(503)),
}).annotateMerge(
  OpenApi.annotations({
    identifier: "health",
    summary: "Health",
    description:
      "200 when everything works, 503 with the same body when a part fails. Part of the room's API: its errors have the room's shape.",
  }),
)

export const Liveness = Schema.Struct({ alive: Schema.Literal(true) }).annotate({
  identifier: "Liveness",
  description: "The process answers; it says nothing about its parts.",
  examples: [{ alive: true }],
})

const livez = HttpApiEndpoint.get("livez", "/livez", { success: Liveness }).annotateMerge(
  OpenApi.annotations({
    identifier: "livez",
    summary: "Liveness",
    description:
      "200 as long as the process answers, also while it starts and stops. For whoever restarts what hangs: no part is asked.",
  }),
)

export const Readiness = Schema.Struct({
  ready: Schema.Boolean,
  state: Schema.Literals(["starting", "serving", "stopping"]),
  database: Part,
  settlement: Part.annotate({
    description:
      "`failing` when our relayer cannot pay the gas of one more settlement, or the facilitator does not say that it settles.",
  }),
}).annotate({
  identifier: "Readiness",
  description: "Whether this server should be sent requests. What was not asked, or did not answer, is `unknown`.",
  examples: [{ ready: true, state: "serving", database: "ok", settlement: "ok" }],
})

const readyz = HttpApiEndpoint.get("readyz", "/readyz", {
  query: {
    for: Schema.optionalKey(
      Schema.Literal("reads").annotate({
        description: "Leaves settlement out: reads, rooms and repeated requests work without anybody who settles.",
        examples: ["reads"],
      }),
    ),
  },
  success: Readiness.pipe(HttpApiSchema.status(200)),
  error: Readiness.pipe(HttpApiSchema.status(503)),
}).annotateMerge(
  OpenApi.annotations({
    identifier: "readyz",
    summary: "Readiness",
    description:
      "200 when this server should get traffic; 503 while it starts or stops, has no database, or nobody who could settle a payment. For load balancers.",
  }),
)

const serviceGroup: Group<"service", typeof health | typeof livez | typeof readyz, RoomRequests> = HttpApiGroup.make(
  "service",
)
  .add(health, livez, readyz)
  .middleware(RoomRequests)
  .annotateMerge(OpenApi.annotations({ title: "Service", description: "The service itself." }))

export class ServiceGroup extends serviceGroup {}
