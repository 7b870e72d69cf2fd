/** `buy`: the buyer's commands and the rooms' under one name, for `npm run buy -- witness …`. */
import { Command } from "effect/cli"
import { act } from "./Act.ts"
import { collect, keep, light, pray, witness } from "./Purchases.ts"
import { altar, purchases, reconcile, reveal, spirits, unseal } from "./Reads.ts"
import { roomCommand } from "./Room.ts"

/** Everything that has to do with a purchase. */
export const buying = [
  witness,
  pray,
  keep,
  collect,
  light,
  act,
  reveal,
  unseal,
  reconcile,
  purchases,
  spirits,
  altar,
] as const

export const buy = Command.make("buy").pipe(
  Command.withDescription("The same buyer's commands under one name: npm run buy -- witness …"),
  Command.withSubcommands([...buying, roomCommand]),
)
