/** Groups of endpoints by the names of what they hold. */
import type { HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware } from "effect/http-api"

/**
 * A group whose endpoints all have one middleware. Groups say it themselves: where the compiler has to find it out, it prints
 * the endpoints in another order each time, and no two packages of the same sources are the same.
 */
export type Group<
  Id extends string,
  Endpoint extends HttpApiEndpoint.Constraint,
  Middleware extends HttpApiMiddleware.AnyId,
> = HttpApiGroup.HttpApiGroup<Id, HttpApiEndpoint.AddMiddleware<Endpoint, Middleware>>
