/** A temporary room that its invite token opens, for seven days. */
import { Effect, Schema } from "effect"
import { listOf, sentence, patterned } from "../Fields.ts"
import { nameMaximum, retained } from "./Limits.ts"
import { plain } from "../PublicText.ts"
import { Instant, lineOf, Message, Sequence } from "./Message.ts"

export const RoomId = patterned(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u, 36).annotate({
  identifier: "RoomId",
  description: "A canonical lowercase UUID v4.",
  examples: ["5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d"],
})

/** 32 random bytes in base64url without padding. */
export const Token = patterned(/^[A-Za-z0-9_-]{43}$/u, 43).annotate({
  identifier: "RoomToken",
  description: "The invite token, shown once. It lets anyone read, send and delete.",
  examples: ["q1w2E3r4T5y6U7i8O9p0-A1s2D3f4G5h6J7k8L9z0_w"],
})

export const RoomBody = Schema.Struct({
  name: lineOf(nameMaximum, "RoomName", "The name of the room, under the rule of Sender.", "Night shift").pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("Signal room")),
  ),
}).annotate({ identifier: "RoomBody", description: "A room to create.", examples: [{ name: "Night shift" }] })

export const Room = Schema.Struct({
  id: RoomId,
  name: sentence("Night shift", nameMaximum, plain),
  createdAt: Instant,
  expiresAt: Instant,
  latestSequence: Sequence,
}).annotate({
  identifier: "Room",
  description:
    "A signal room. It ends exactly seven days after createdAt, sending does not extend it; latestSequence is 0 before the first message.",
  examples: [
    {
      id: "5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d",
      name: "Night shift",
      createdAt: "2026-11-21T09:00:00.000Z",
      expiresAt: "2026-11-28T09:00:00.000Z",
      latestSequence: 417,
    },
  ],
})
export type Room = typeof Room.Type

export const Created = Schema.Struct({ room: Room, token: Token }).annotate({
  identifier: "RoomCreated",
  description: "The room and its invite token, which is shown only here.",
})

export const Signals = Schema.Struct({
  room: Room,
  messages: listOf(Message, retained).annotate({
    description: "Stored messages after the cursor, oldest first, at most 50.",
  }),
  truncated: Schema.Boolean.annotate({ description: "True when messages after a nonzero cursor were evicted unseen." }),
  serverTime: Instant,
}).annotate({ identifier: "Signals", description: "The new messages of a room." })

const sentOf = (duplicate: boolean, identifier: string, description: string) =>
  Schema.Struct({ message: Message, room: Room, duplicate: Schema.Literal(duplicate) }).annotate({
    identifier,
    description,
  })

export const Sent = sentOf(
  false,
  "SignalSent",
  "The message as it is stored. The server does not know whether anyone reads it.",
)
export const Replayed = sentOf(true, "SignalReplayed", "The original message of this clientId.")

export const Deleted = Schema.Struct({ deleted: Schema.Literal(true) }).annotate({
  identifier: "RoomDeleted",
  description: "Room, messages and invite are deleted.",
})
