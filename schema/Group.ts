/** A group of endpoints as a named type. */
import type { HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware } from "effect/http-api"

/**
 * A group whose endpoints all have one middleware. The type is explicit because the compiler prints an inferred one in
 * varying order, and packages of the same sources would differ.
 */
export type Group<
  Id extends string,
  Endpoint extends HttpApiEndpoint.Constraint,
  Middleware extends HttpApiMiddleware.AnyId,
> = HttpApiGroup.HttpApiGroup<Id, HttpApiEndpoint.AddMiddleware<Endpoint, Middleware>>
