/** The findings of the linters that we accept, each with its reason; an exception that meets nothing fails. */

export interface Exception {
  readonly rule: string
  /** Matches the place of a finding: the segments of its JSON pointer, joined by spaces. */
  readonly where: RegExp
  readonly reason: string
}

export const exceptions: ReadonlyArray<Exception> = [
  {
    rule: "owasp:api4:2023-string-limit",
    where:
      /^components schemas (?:ChallengeExtensions|PaymentIdentifierExtension) examples 0 .*properties (?:id|salt)$/u,
    reason:
      "A schema inside an example. Its pattern bounds the length, and PAYMENT-REQUIRED has no room to say it twice.",
  },
  {
    rule: "no-ambiguous-paths",
    where: /^paths \/api\/candles\/\{candleId\}\/unseal$/u,
    reason:
      "The specification fixes both paths, and no request fits two: `day`, `week` and `month` are no candle ids, and `unseal` is no spirit.",
  },
  {
    rule: "owasp:api2:2023-write-restricted",
    where: /^paths \/api\/(?:witness\/\{witnessId\}\/reveal|candles\/\{candleId\}\/unseal) post security$/u,
    reason: "Free by the specification: a caller with salt and words may open the commitment, once.",
  },
  {
    rule: "owasp:api2:2023-write-restricted",
    where: /^paths \/api\/reconcile\/\{idempotencyKey\} post security$/u,
    reason: "Asks how a payment ended. The key in the path is known to the buyer alone, and asking changes no outcome.",
  },
  {
    rule: "owasp:api2:2023-write-restricted",
    where: /^paths \/api\/rooms post security$/u,
    reason: "Anyone may open a room, five an hour from one address; it is this answer that gives the token.",
  },
  {
    rule: "owasp:api2:2023-read-restricted",
    where: /^paths \/(?:api\/(?!rooms|reconcile)\S+|(?:acts|witness)\/\S+\.receipt\.json|livez|readyz) get security$/u,
    reason: "A public ledger: every read of the altar is meant for everyone.",
  },
  {
    rule: "owasp:api8:2023-define-error-responses-401",
    where:
      /^paths \/(?:api\/(?!rooms\/)\S+|(?:acts|witness)\/\S+\.receipt\.json|livez|readyz) (?:get|post) responses$/u,
    reason: "There are no accounts here. A paid route without a payment answers 402; only a room's token can be wrong.",
  },
  {
    rule: "owasp:api4:2023-rate-limit",
    where:
      /^paths \/(?:api\/(?!rooms)\S+|(?:acts|witness)\/\S+\.receipt\.json) (?:get|post) responses [24]\d\d headers$/u,
    reason:
      "Paid routes and reads of the altar have no limit by address, so there is nothing left to tell; the free POSTs say the true wait in Retry-After of their 429.",
  },
  {
    rule: "owasp:api4:2023-rate-limit",
    where: /^paths \/api\/rooms\S* (?:get|post|delete) responses 4(?!29)\d\d(?: headers)?$/u,
    reason:
      "A refusal of the room is given before or beside its limits; answers that count and the 429 itself carry RateLimit.",
  },
  {
    rule: "owasp:api4:2023-rate-limit",
    where: /^paths \/(?:api\/health|livez|readyz) get responses [24]\d\d$/u,
    reason:
      "Monitors ask for health as often as they like: it has no limit by address, so there is nothing left to tell.",
  },
  {
    rule: "owasp:api4:2023-rate-limit-responses-429",
    where: /^paths \/(?:api\/health|livez|readyz) get responses$/u,
    reason: "For the same reason health has no rate limit.",
  },
  {
    rule: "owasp:api8:2023-define-cors-origin",
    where: /^paths \/api\/rooms\S* (?:get|post|delete) responses \d{3} headers$/u,
    reason: "The specification forbids cross-origin use of the room: its answers carry no such header on purpose.",
  },
  {
    rule: "owasp:api8:2023-define-cors-origin",
    where: /^paths \/(?:api\/health|livez|readyz) get responses 503 headers$/u,
    reason: "Monitors and load balancers ask, and no page of another origin.",
  },
]
