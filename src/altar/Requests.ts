/** The altar's refusals of requests that the contract cannot decode. */
import { Context, Layer } from "effect"
import { AltarRequests, Unknown } from "../../schema/altar/Requests.ts"
import { BadRequest } from "../../schema/Errors.ts"
import { IdempotencyKeyInvalid } from "../../schema/payments/Errors.ts"
import { refusedBy } from "../http/Requests.ts"
import { refuse } from "../http/Responses.ts"

export const layer = Layer.succeed(
  AltarRequests,
  refusedBy({
    unknown: (endpoint) => refuse(Context.get(endpoint.annotations, Unknown)()),
    malformed: (issues, part) =>
      part === "Headers" && issues.some(({ path }) => path === "idempotency-key")
        ? refuse(new IdempotencyKeyInvalid({}))
        : refuse(new BadRequest({ issues })),
    undeclared: (names) =>
      refuse(
        new BadRequest({ issues: names.map((path) => ({ path, message: "This path takes no query parameters" })) }),
      ),
  }),
)
