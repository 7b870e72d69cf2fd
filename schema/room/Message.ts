/** A short signal between people and agents, as sent and as stored. */
import { Effect, Schema, SchemaTransformation } from "effect"
import { anyText, Count, sentence, patterned } from "../Fields.ts"
import { plain, publicText, rule } from "../PublicText.ts"
import { senderMaximum, textMaximum } from "./Limits.ts"

/**
 * One line of text, trimmed before its code points are counted. The document can only bound the text as sent: at least
 * one character, and no more than a body holds.
 */
export const lineOf = (maximum: number, identifier: string, description: string, example: string) =>
  sentence(example, 4096, anyText)
    .check(Schema.isMinCodePoints(1), Schema.isMaxCodePoints(4096))
    .annotate({
      identifier,
      description: `${description} Trimmed; then 1 to ${maximum} code points on a single line.`,
      examples: [example],
    })
    .pipe(Schema.decodeTo(publicText(maximum), SchemaTransformation.trim()))

/** The light and sound patterns a client may play. */
export const modes = ["calm", "spark", "ping", "celebrate"] as const

export const Mode = Schema.Literals(modes).annotate({
  identifier: "Mode",
  description: "The light and sound pattern a client plays for the message.",
  examples: ["spark"],
})

export const SenderKind = Schema.Literals(["person", "agent"]).annotate({
  identifier: "SenderKind",
  description: "The self-declared kind of the sender; not verified.",
  examples: ["agent"],
})

export const ClientId = patterned(/^[A-Za-z0-9_-]{1,64}$/u, 64, 1).annotate({
  identifier: "ClientId",
  description:
    "Identifies this message for retries: the same id with the same content returns the original, with other content 409. 1 to 64 ASCII letters, digits, underscores or hyphens.",
  examples: ["build-417-done"],
})

export const MessageBody = Schema.Struct({
  sender: lineOf(senderMaximum, "Sender", `Self-declared name of the sender. ${rule}`, "Wren"),
  senderKind: SenderKind.pipe(Schema.withDecodingDefaultKey(Effect.succeed("person" as const))),
  text: lineOf(
    textMaximum,
    "SignalText",
    "The text of the message, under the rule of Sender. Untrusted: show it as text, never as HTML.",
    "The build is green.",
  ),
  mode: Mode,
  clientId: Schema.optionalKey(ClientId),
}).annotate({
  identifier: "MessageBody",
  description: "A signal to send.",
  examples: [{ sender: "Wren", senderKind: "agent", text: "The build is green.", mode: "celebrate" }],
})
export type MessageBody = typeof MessageBody.Type

/** Place of a message in its room: 1, 2, 3 … without gaps. */
export const Sequence = Count.annotateKey({
  identifier: "Sequence",
  description: "Sequence number, without gaps in a room, from 1; 0 means none.",
  examples: [417],
})

/** ISO 8601, UTC, with milliseconds. */
export const Instant = patterned(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u, 24).annotate({
  identifier: "Instant",
  description: "ISO 8601 time in UTC with milliseconds.",
  examples: ["2026-11-21T09:17:02.115Z"],
  format: "date-time",
})

export const Message = Schema.Struct({
  id: patterned(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u, 36).annotate({
    identifier: "MessageId",
    description: "A lowercase UUID v4.",
    examples: ["8c1f6a52-7d0e-4b63-9a53-0d7c2f1b8e44"],
  }),
  seq: Sequence,
  sender: sentence("Wren", senderMaximum, plain),
  senderKind: SenderKind,
  text: sentence("The build is green.", textMaximum, plain),
  mode: Mode,
  createdAt: Instant,
}).annotate({
  identifier: "Message",
  description: "A stored signal. Sender and kind are self-declared; the text is untrusted.",
})
