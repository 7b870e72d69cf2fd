// The twelve plain materials of the element catalog, each a thing one could find on a walk.
import type { ItemEntry } from "./ItemEntry.ts"

export const elements: ReadonlyArray<ItemEntry> = [
  {
    id: "river-clay",
    name: "River Clay",
    color: "#a8663f",
    description:
      "A fistful of clay from the bank below the weir, pinched into a bowl by someone who was talking at the time. The thumb marks are still in it. It has not been fired, so it remains a suggestion.",
    altarLine: "It stands at the front and holds whatever the others drip.",
  },
  {
    id: "beeswax",
    name: "Beeswax",
    color: "#d9a441",
    description:
      "A cake of wax with the comb still showing on top. It took some thousands of bees, none of whom saw the whole of it. It smells of a cupboard in a house you liked.",
    altarLine: "Set near a candle it goes soft at one corner, and no further.",
  },
  {
    id: "salt-crystal",
    name: "Salt Crystal",
    color: "#c9a9a0",
    description:
      "Three cubes of rock salt that grew into one another and stayed. They came out of a sea that left before there was anyone to miss it. Please do not lick the specimen; it is listed as unlicked.",
    altarLine: "It takes the damp out of the air and keeps it to itself.",
  },
  {
    id: "birch-bark",
    name: "Birch Bark",
    color: "#d8ccb4",
    description:
      "A curl of bark from a tree that had already fallen, white outside and tan within. It peels in sheets, takes ink well and rolls itself up afterwards. The dark dashes are pores, though they do look like a letter.",
    altarLine: "It lies rolled, and nobody has asked it to open.",
  },
  {
    id: "sea-glass",
    name: "Sea Glass",
    color: "#6fa79a",
    description:
      "Three pieces of bottle, about forty years into becoming pebbles. Every edge has been argued off by sand. The green one says nothing of what was in it.",
    altarLine: "It lets through the light and keeps the details.",
  },
  {
    id: "pine-resin",
    name: "Pine Resin",
    color: "#c9781f",
    description:
      "A drop that gathered where a branch was broken, and stayed. It is how a pine closes a door. It will stick to your fingers, your sleeve and the rest of the afternoon.",
    altarLine: "One drop, and a small fly that is looking at it from a safe distance.",
  },
  {
    id: "raw-wool",
    name: "Raw Wool",
    color: "#cfc3a8",
    description:
      "A handful of fleece taken from barbed wire, with the wire's permission. It is still greasy and holds one burr. The sheep has been informed.",
    altarLine: "It keeps the shape of whatever was last laid on it.",
  },
  {
    id: "copper-wire",
    name: "Copper Wire",
    color: "#b5673a",
    description:
      "Two metres from a telephone line that no longer goes anywhere, wound into a coil. A great many ordinary evenings passed through it. Where it was cut it is bright, and the rest is slowly turning green.",
    altarLine: "Coiled at the edge, with one end pointing out of the picture.",
  },
  {
    id: "oak-gall",
    name: "Oak Gall",
    color: "#8a6a3c",
    description:
      "A round brown nursery that an oak built around the egg of a wasp. The tenant has left by the small hole. Crushed with iron it makes a black ink in which most of Europe was once written down.",
    altarLine: "It sits beside the sealed words, knowing how they are made.",
  },
  {
    id: "slate-chip",
    name: "Slate Chip",
    color: "#66707a",
    description:
      "An offcut from a roof: mud laid down in still water, pressed, and taught to split. Each layer is a season nobody attended. You may write on it with another piece of itself.",
    altarLine: "Leaned at the back, it makes everything in front look considered.",
  },
  {
    id: "flax-thread",
    name: "Flax Thread",
    color: "#b9a878",
    description:
      "Linen thread on a wooden spool, spun from a plant that flowers blue until noon. It is stronger wet than dry. There is about enough left for one coat and one regret.",
    altarLine: "Its loose end has been led once round the altar and tucked in.",
  },
  {
    id: "shed-feather",
    name: "Shed Feather",
    color: "#7c7f86",
    description:
      "A flight feather, dropped in moult and picked up off the path. The bird had a new one coming and did not look back. The barbs still zip together when drawn between two fingers.",
    altarLine: "Laid across the top, it is the only thing there that has been anywhere.",
  },
]
