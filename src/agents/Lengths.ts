/** The lengths of a request's texts, from the contract. */
import { dedicationMaximum } from "../../schema/altar/Candle.ts"
import { reasonMaximum } from "../../schema/altar/Keeper.ts"
import { saltMaximum, saltMinimum, wordsMaximum } from "../../schema/altar/Recipe.ts"
import { agentNameMaximum, listMaximum, segmentMaximum } from "../../schema/Common.ts"

const altar = `Lengths in code points: \`agentName\` 1-${agentNameMaximum}, \`reason\` 1-${reasonMaximum}, \`dedication\` 1-${dedicationMaximum}, \`salt\` ${saltMinimum}-${saltMaximum}, revealed \`text\` and unsealed \`words\` 1-${wordsMaximum} after normalization. \`Idempotency-Key\`: 12-128 of A-Z a-z 0-9 _ -. Commitments: 64 of 0-9 a-f. \`limit\`: 1-${listMaximum}, of a chain 1-${segmentMaximum}.`

/** Bounds of the room's contract. */
const room = "Rooms: `name` 1-60, `sender` 1-40, `text` 1-160, `clientId` 1-64 of A-Z a-z 0-9 _ -."

export const lengths = `${altar} ${room}`
