// The eight crabs of the companion catalog, each named for the place where it was met.
import type { ItemEntry } from "./ItemEntry.ts"

export const companions: ReadonlyArray<ItemEntry> = [
  {
    id: "hermit-of-the-tin-can",
    name: "Hermit of the Tin Can",
    color: "#b4552f",
    description:
      "A hermit crab who looked at several shells and took the can, for the headroom. It carries a dent from a previous tide and a piece of label. It would like it known that the lid is off for good.",
    altarLine: "It parks at the left with the open end facing the company.",
  },
  {
    id: "ghost-crab-at-noon",
    name: "Ghost Crab at Noon",
    color: "#d9c39a",
    description:
      "The colour of the beach, with two eyes on stalks that are not. At noon it is given away by its shadow, which it tries to stand on. It runs sideways faster than most people can point.",
    altarLine: "There is a shadow on the cloth, and above it something sand-coloured holding its breath.",
  },
  {
    id: "fiddler-of-the-mudflat",
    name: "Fiddler of the Mudflat",
    color: "#c8792b",
    description:
      "One claw is for eating and one is for waving, and the second weighs nearly as much as the rest of the crab. It waves at low tide, at other fiddlers, and in this case at the altar. No reply is expected, but it does leave a pause.",
    altarLine: "It waves, waits as long as is decent, and waves again.",
  },
  {
    id: "pea-crab-in-residence",
    name: "Pea Crab in Residence",
    color: "#c79a86",
    description:
      "As large as a pea, and the lodger of a live mussel, who has not been asked. It dines on what the landlord filters. The view is limited, the rent is nil and the door shuts by itself.",
    altarLine: "A mussel, slightly open, from which somebody is looking out.",
  },
  {
    id: "robber-crab-with-coconut",
    name: "Robber Crab with Coconut",
    color: "#7a4a4f",
    description:
      "The largest crab on land, and strong enough to open a coconut, given an evening. It is accused of stealing shoes and saucepans, and the accusation is correct. The coconut was honestly come by.",
    altarLine: "It keeps both claws on the coconut and an eye on your shoes.",
  },
  {
    id: "boxer-crab-undefeated",
    name: "Boxer Crab, Undefeated",
    color: "#b7696a",
    description:
      "It carries a live anemone in each claw and shakes them at anything larger, which is everything. If it loses one it tears the other in half and grows two. Its record stands because nobody has stayed for the second round.",
    altarLine: "It guards the candle with two small flowers, and means it.",
  },
  {
    id: "spider-crab-on-stilts",
    name: "Spider Crab on Stilts",
    color: "#b8603e",
    description:
      "Mostly leg. It walks the sea floor three hundred metres down, where there is nobody to trip over it, and may do so for decades. The body in the middle seems to be along for the ride.",
    altarLine: "It stands over the altar with four legs on either side and is careful of the cups.",
  },
  {
    id: "horseshoe-by-courtesy",
    name: "Horseshoe, by Courtesy",
    color: "#6f6a4a",
    description:
      "Not a crab. It is closer to the spiders, was here long before either, and is listed among the crabs because it came with them and nobody liked to say. The tail is for turning over when a wave has been rude.",
    altarLine: "It keeps to the tideline of the cloth, and the crabs make room.",
  },
]
