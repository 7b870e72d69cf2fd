/** A check that found something wrong: not trouble on the way, but the answer. */
import { Schema } from "effect"

/** What was checked does not hold; one sentence says what and where. */
export class Broken extends Schema.TaggedError<Broken>()("Broken", { message: Schema.String }) {}
