// The six pixel characters of the specification, whose hand-typed artwork is in ../../web/art/pixels.
import type { ItemEntry } from "./ItemEntry.ts"

export const pixels: ReadonlyArray<ItemEntry> = [
  {
    id: "pixel-bit-frog",
    name: "Bit Frog",
    color: "#5fa65a",
    description:
      "It has two states, sitting and elsewhere, and has not been observed between them. Ones and noughts run down its belly in the order in which they were swallowed. It is never half wet.",
    altarLine: "It is on the altar or it is not; just now it is.",
  },
  {
    id: "pixel-cache-crab",
    name: "Cache Crab",
    color: "#d0643c",
    description:
      "It keeps the last few things it was handed on its back, in a small rack, in case somebody asks again. When the rack is full the oldest goes back to the sea. It walks sideways through memory like everybody else.",
    altarLine: "It holds yesterday's copy of the altar and will swear that it is today's.",
  },
  {
    id: "pixel-signal-moth",
    name: "Signal Moth",
    color: "#8c7bb8",
    description:
      "Its antennae are antennae. It flies to whatever is transmitting, and on the hindwings shows how well it is being received: usually three bars. It is asleep whenever you have something important to send.",
    altarLine: "It circles the candle and reports four bars, which is rare.",
  },
  {
    id: "pixel-root-fox",
    name: "Root Fox",
    color: "#d9823b",
    description:
      "It has permission to go anywhere and mostly goes under the hedge. It wears a small key on its collar, and its tail ends in a prompt that is waiting for input. It asks before it deletes anything, then sits on it.",
    altarLine: "It lies at the foot of the altar, from which all paths start.",
  },
  {
    id: "pixel-packet-puffer",
    name: "Packet Puffer",
    color: "#e0b64a",
    description:
      "Small in transit and large on arrival. It swells by one packet at a time, checks that all of them are there, and asks again for the one that is missing. Each spine is an acknowledgement.",
    altarLine: "It arrived in order, complete, and rather rounder than it was sent.",
  },
  {
    id: "pixel-moon-gecko",
    name: "Pixel Moon Gecko",
    color: "#6f9fb0",
    description:
      "The moon gecko of the field guide, seen on a screen left on overnight. Its toes hold to single pixels, and its tail curls round a moon of thirty-three. It comes out when the brightness is turned down.",
    altarLine: "It clings to the upper right corner, where the clock would be.",
  },
]
