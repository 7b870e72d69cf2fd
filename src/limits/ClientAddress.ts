/** Derives the pseudonym that limits count by: an HMAC of the address, under a secret that all servers share. */
import { createHmac, randomBytes } from "node:crypto"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { IpNetwork } from "effect/net"
import { SqlClient } from "effect/sql"
import { BoundedMap } from "../platform/BoundedMap.ts"
import { rowsOf } from "../platform/Rows.ts"
import { addressOf, networksOf } from "./Address.ts"

export interface ClientAddressConfig {
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
}

/** Cached pseudonyms, for clients that poll. */
const remembered = 10_000
const rememberedLength = 150

const secretOf = rowsOf("rate_limit_secret", Schema.Struct({ secret: Schema.NonEmptyString }))

/** The first server to start generates the secret, and the others read it. */
const storedSecret = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO rate_limit_secret (id, secret) VALUES (1, ${randomBytes(32).toString("base64url")})
    ON CONFLICT (id) DO NOTHING`
  const [row] = yield* secretOf(sql`SELECT secret FROM rate_limit_secret WHERE id = 1`)
  // With an empty secret anyone could invert the pseudonyms.
  return row === undefined ? yield* Effect.die("rate_limit_secret has no row") : Redacted.make(row.secret)
})

export class ClientAddress extends Context.Service<ClientAddress>()("spirit-altar/limits/ClientAddress", {
  make: Effect.fnUntraced(function* (config: ClientAddressConfig) {
    const secret = yield* storedSecret
    const hasProxies = config.trustedProxies.length > 0
    const pseudonyms = new BoundedMap<string, string>(remembered)

    const originOf = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest) => {
      const peer = Option.getOrElse(remoteAddress, () => "")
      return hasProxies ? `${peer} ${headers["x-forwarded-for"] ?? "-"} ${headers["forwarded"] ?? "-"}` : peer
    }

    const pseudonymOf = (request: HttpServerRequest.HttpServerRequest, origin: string) => {
      const address = addressOf(request, config.trustedProxies)
      const pseudonym = [address, ...networksOf(address)]
        .map((network) => createHmac("sha256", Redacted.value(secret)).update(network).digest("base64url"))
        .join(".")
      if (origin.length > rememberedLength) return pseudonym
      pseudonyms.set(origin, pseudonym)
      return pseudonym
    }

    return {
      /**
       * The pseudonym of the client, 43 base64url characters, the same for every address of an IPv6 /64. For IPv6, the
       * pseudonyms of its /56 and its /48 follow, separated by dots.
       */
      of: (request: HttpServerRequest.HttpServerRequest) => {
        const origin = originOf(request)
        return pseudonyms.get(origin) ?? pseudonymOf(request, origin)
      },
    }
  }),
}) {
  static readonly layer = (config: ClientAddressConfig) => Layer.effect(this, this.make(config))
}
