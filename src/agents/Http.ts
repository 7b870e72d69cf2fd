/** The routes for agents beside the contract: tools, manifests and the manual, over one list of offers. */
import { Layer } from "effect"
import * as DiscoveryHttp from "./DiscoveryHttp.ts"
import { Mcp } from "./Mcp.ts"
import * as McpHttp from "./McpHttp.ts"
import { Offers } from "./Offers.ts"
import { Tools } from "./Tools.ts"

export const layer = Layer.merge(
  McpHttp.layer.pipe(Layer.provide(Mcp.layer), Layer.provide(Tools.layer)),
  DiscoveryHttp.layer,
).pipe(Layer.provide(Offers.layer))
