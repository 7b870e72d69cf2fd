/** Revealed words, and the salt that lets anyone recompute their commitment. */
import { Schema } from "effect"
import { AgentName, Timestamp } from "../Common.ts"
import { at, envelope } from "../Refusal.ts"
import { Salt, Words } from "./Commitment.ts"
import { hiddenBy } from "./Hidden.ts"

export const shownSalt = Schema.NullOr(Salt).annotate({
  description: "The salt of the words: both hash to the commitment. Null while the words are hidden.",
})

/** The public side of a reveal. Hidden words are stored and verified; neither they nor their salt are shown. */
export const Reveal = Schema.Struct({
  text: Schema.NullOr(Words),
  salt: shownSalt,
  hidden: Schema.Boolean.annotate({
    description: "True when the words look like a link, wallet or address, or an operator hid them.",
  }),
  hiddenBy,
  agentName: Schema.NullOr(AgentName),
  revealedAt: Timestamp,
}).annotate({
  identifier: "Reveal",
  description:
    "The revealed words and their salt, which hash to the commitment: recompute it. Both are null while the words are hidden.",
  examples: [
    {
      text: "The heron will return by May.",
      salt: "5c1fd1e6a0bb4e7f9c2d",
      hidden: false,
      agentName: null,
      revealedAt: "2026-11-21T10:00:00.000Z",
    },
  ],
})

/** The stored words do not match their commitment. The server says so instead of showing them. */
export class RevealBroken extends Schema.Error<RevealBroken>("RevealBroken")(
  envelope(
    "reveal_broken",
    "Revealed words do not hash to their commitment, so they are not shown. The operator was alarmed.",
    "Do not rely on these words.",
  ),
  at(500, "Revealed words that do not hash to their commitment are not served."),
) {}
