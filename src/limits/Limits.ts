/** The limiter and the client address of requests. */
import { Layer } from "effect"
import { ClientAddress, type ClientAddressConfig } from "./ClientAddress.ts"
import * as LimitFactor from "./LimitFactor.ts"
import { RateLimiter } from "./RateLimiter.ts"

export const layer = (config: ClientAddressConfig) =>
  Layer.merge(LimitFactor.layer.pipe(Layer.provide(RateLimiter.layer())), ClientAddress.layer(config))
