/** Card payments: the rail that offers them and the processor that charges them. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { type Duration, Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { CardProcessor, type CardProcessorConfig } from "./Processor.ts"
import { CardRail, type CardRailConfig } from "./Rail.ts"

export type CardConfig = CardRailConfig & Omit<CardProcessorConfig, "timeout">

/** A third party gets no trace context, and its redirects are not followed. */
const client = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transformResponse(Effect.provideService(HttpClient.TracerPropagationEnabled, false)),
  ),
).pipe(Layer.provide(NodeHttpClient.layerUndici))

/** `timeout` applies to each call. */
export const layer = (config: CardConfig, timeout: Duration.Duration) =>
  Layer.merge(CardRail.layer(config), CardProcessor.layer({ ...config, timeout })).pipe(Layer.provide(client))
