/** Whether the service works, for monitors and load balancers. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Count, listOf, shaped } from "./Bounds.ts"
import { ChainHead } from "./altar/Witness.ts"
import { RoomRequests } from "./room/Api.ts"
import { Mode, modes } from "./room/Message.ts"

const Part = Schema.Literals(["ok", "failing"])

export const Health = Schema.Struct({
  ok: Schema.Boolean,
  version: shaped(/^\d{1,5}\.\d{1,5}\.\d{1,5}$/u, 17),
  database: Part,
  chain: Schema.Struct({
    state: Part.annotate({ description: "`failing` when a link of the witness chain no longer hashes." }),
    head: ChainHead,
  }),
  payments: Schema.Struct({
    enabled: Schema.Boolean,
    state: Schema.Literals(["ready", "not_configured", "failing"]).annotate({
      description:
        "`failing` while the payment of an act was reorganised away for good and no operator has acknowledged it.",
    }),
    pending: Count.annotate({ description: "Attempts whose outcome is not known yet." }),
    settlement: Part.annotate({
      description: "`failing` when our relayer cannot pay the gas of one more settlement: nothing is sold meanwhile.",
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
  success: [Health.pipe(HttpApiSchema.status(200)), Health.pipe(HttpApiSchema.status(503))],
}).annotateMerge(
  OpenApi.annotations({
    identifier: "health",
    summary: "Health",
    description:
      "200 when everything works, 503 with the same body when a part fails. Part of the room's API: its errors have the room's shape.",
  }),
)

export class ServiceGroup extends HttpApiGroup.make("service")
  .add(health)
  .middleware(RoomRequests)
  .annotateMerge(OpenApi.annotations({ title: "Service", description: "The service itself." })) {}
