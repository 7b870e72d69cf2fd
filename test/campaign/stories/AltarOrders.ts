/** Orders of the model as requests of the wire. */
import { createHash } from "node:crypto"
import * as Model from "./AltarModel.ts"

export const spirits = ["moss-hare", "rain-crow"] as const
export const pixels = ["pixel-bit-frog", "pixel-cache-crab"] as const
/** Editions of each pixel that other wallets hold. */
export const soldBefore = 128 - Model.editions
export const salt = "a salt of sixteen characters"
export const wordsOf = ({ name, target }: Model.Order) =>
  `The heron will return by ${["May", "June"][target]}, says ${name}.`
const sealed = (words: string) => createHash("sha256").update(`${salt}\0${words}`).digest("hex")
export const keyOf = (key: number) => `story-key-000${key}`

/** `parentId` is the candle of a light. */
export const requestOf = (order: Model.Order, parentId?: string) => {
  const { act, name: agentName, target } = order
  const commitment = sealed(wordsOf(order))
  switch (act) {
    case "prayer":
      return { path: `/api/prayers/${spirits[target]}`, body: { agentName, intentionCommitment: commitment } }
    case "keeper":
      return { path: `/api/acquire/${spirits[target]}`, body: { agentName } }
    case "pixel":
      return { path: `/api/elements/${pixels[target]}/collect`, body: { agentName } }
    case "candle":
      return {
        path: `/api/candles/${Model.rungOf(order)}/${spirits[target]}`,
        body: { agentName, dedication: "For the bees", intentionCommitment: commitment },
      }
    case "light":
      return {
        path: `/api/candles/${Model.rungOf(order)}/${spirits[target]}`,
        body: { agentName, parentId, intentionCommitment: commitment },
      }
    case "stone":
      return { path: "/api/witness", body: { commitment, agentName } }
  }
}

const orders = (["prayer", "keeper", "pixel", "candle", "stone"] as const).flatMap((act) =>
  ([0, 1] as const).flatMap((target) =>
    (["Wren", "Finch"] as const).map((name): Model.Order => ({ act, target, name })),
  ),
)

/** Where anything of the model is sold. */
export const paths: ReadonlySet<string> = new Set(orders.map((order) => requestOf(order).path))
