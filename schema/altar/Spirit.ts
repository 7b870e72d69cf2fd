/** The 24 spirits: their ids and their order, which decides the spirit of a stone that names none. */
import { Schema } from "effect"
import { at, envelope } from "../Refusal.ts"

export const spiritIds = [
  "moss-hare",
  "static-fox",
  "rain-crow",
  "library-moth",
  "glass-tortoise",
  "midnight-otter",
  "lantern-axolotl",
  "drift-albatross",
  "moon-gecko",
  "frost-stoat",
  "dew-spider",
  "kelp-seal",
  "slate-lynx",
  "dune-pangolin",
  "lichen-yak",
  "compass-beetle",
  "silt-salamander",
  "quartz-elephant",
  "ink-cuttlefish",
  "ribbon-eel",
  "orchard-dormouse",
  "atlas-sandpiper",
  "cloud-tapir",
  "brass-cicada",
] as const

export const SpiritId = Schema.Literals(spiritIds).annotate({
  identifier: "SpiritId",
  description: "One of the 24 spirits of the field guide.",
  examples: ["moss-hare"],
})
export type SpiritId = (typeof spiritIds)[number]

/**
 * The spirit of a stone that names none: the commitment as an unsigned integer modulo 24, so that anyone can recompute
 * it. `commitment` is 64 lowercase hex digits.
 */
export const spiritOf = (commitment: string): SpiritId =>
  spiritIds[Number(BigInt(`0x${commitment}`) % BigInt(spiritIds.length))] ?? spiritIds[0]

export class SpiritNotFound extends Schema.Error<SpiritNotFound>("SpiritNotFound")(
  envelope("spirit_not_found", "No spirit has this id.", "Take one of the 24 ids that /api/spirits lists."),
  at(404, "No such spirit."),
) {}
