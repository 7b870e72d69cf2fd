/** Conditional reads in the document: `If-None-Match` in, `ETag` out, 304 when nothing changed. */

interface Operation {
  readonly tags?: ReadonlyArray<string>
  parameters?: Array<object>
  readonly responses: Record<string, object>
}

const tag = { type: "string", pattern: '^"[A-Za-z0-9_-]{22}"$', maxLength: 24, examples: ['"4mJ0a5yX0m5v7h0l0k3B9Q"'] }

const headers = {
  ETag: { description: "Strong tag of these bytes.", required: true, schema: tag },
  "Cache-Control": {
    description: "`no-cache`: store it, and revalidate before use.",
    required: true,
    schema: { type: "string", const: "no-cache", maxLength: 8, examples: ["no-cache"] },
  },
}

const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The ETag of your copy; 304 without a body while it is current (RFC 9110).",
  schema: { type: "string", maxLength: 1024, pattern: "^[ -~]*$", examples: tag.examples },
}

/** Only reads carry tags: health must never be cached, and rooms are polled by sequence. */
const groups = new Set(["Payments", "Reads", "Receipts", "Witness"])

export const makeConditional = (paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>) => {
  for (const { get } of Object.values(paths)) {
    const read = get?.responses["200"]
    if (get === undefined || read === undefined || !groups.has(get.tags?.[0] ?? "")) continue
    get.parameters = [...(get.parameters ?? []), ifNoneMatch]
    get.responses["200"] = { ...read, headers }
    get.responses["304"] = { description: "Your copy is current; no body.", headers }
  }
}
