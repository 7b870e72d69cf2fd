/** The routes for agents beside the contract: tools, manifests and the manual, over one list of offers. */
import { Layer } from "effect"
import * as DiscoveryHttp from "./DiscoveryHttp.ts"
import * as McpHttp from "./McpHttp.ts"
import { Offers } from "./Offers.ts"

export const layer = Layer.merge(McpHttp.layer, DiscoveryHttp.layer).pipe(Layer.provide(Offers.layer))
