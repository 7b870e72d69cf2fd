/** Who a request is counted as, and how often each may ask. */
import { Layer } from "effect"
import { ClientAddress, type ClientAddressConfig } from "./ClientAddress.ts"
import * as Loose from "./Loose.ts"
import * as PostgresLimiter from "./PostgresLimiter.ts"

export const layer = (config: ClientAddressConfig) =>
  Layer.merge(Loose.layer.pipe(Layer.provide(PostgresLimiter.layer())), ClientAddress.layer(config))
