/** The altar's refusals of requests that the contract cannot decode. */
import { Context, Layer } from "effect"
import { AltarRequests, Unknown } from "../../schema/altar/Requests.ts"
import { BadRequest } from "../../schema/Errors.ts"
import { IdempotencyKeyInvalid } from "../../schema/payments/Errors.ts"
import { refusedBy } from "../http/Requests.ts"
import { refuse } from "../http/Responses.ts"

/** Some HTTP libraries quote the key as a structured header. */
const wrongKey = (key = "") =>
  /^["'`]|["'`]$/u.test(key)
    ? new IdempotencyKeyInvalid({
        message:
          "The Idempotency-Key has quotation marks, which no key has. Send its 12 to 128 characters of A-Z a-z 0-9 _ - without them. This request charged nothing.",
      })
    : new IdempotencyKeyInvalid({})

export const layer = Layer.succeed(
  AltarRequests,
  refusedBy({
    unknown: (endpoint) => refuse(Context.get(endpoint.annotations, Unknown)()),
    malformed: (issues, part, { headers }) =>
      part === "Headers" && issues.some(({ path }) => path === "idempotency-key")
        ? refuse(wrongKey(headers["idempotency-key"]))
        : refuse(new BadRequest({ issues })),
    undeclared: (names) =>
      refuse(
        new BadRequest({
          issues: names.map((path) => ({ path, message: "Must be left out: this path takes no query parameters" })),
        }),
      ),
  }),
)
