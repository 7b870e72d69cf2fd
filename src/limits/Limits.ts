/** Who a request is counted as, and how often each may ask. */
import { Layer } from "effect"
import { ClientAddress, type ClientAddressConfig } from "./ClientAddress.ts"
import * as Loose from "./Loose.ts"
import { RateLimiter } from "./RateLimiter.ts"

export const layer = (config: ClientAddressConfig) =>
  Layer.merge(Loose.layer.pipe(Layer.provide(RateLimiter.layer())), ClientAddress.layer(config))
