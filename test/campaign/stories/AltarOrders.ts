/** Orders of the model as requests of the wire. */
import { createHash } from "node:crypto"
import * as Model from "./AltarModel.ts"

export const spirits = ["moss-hare", "rain-crow"] as const
export const pixels = ["pixel-bit-frog", "pixel-cache-crab"] as const
/** Editions of each pixel that other wallets hold. */
export const soldBefore = 128 - Model.editions
export const keyOf = (key: number) => `story-key-000${key}`

export const requestOf = ({ act, name: agentName, target }: Model.Order) => {
  const commitment = createHash("sha256").update(`${agentName} ${target}`).digest("hex")
  switch (act) {
    case "prayer":
      return { path: `/api/prayers/${spirits[target]}`, body: { agentName, intentionCommitment: commitment } }
    case "keeper":
      return { path: `/api/acquire/${spirits[target]}`, body: { agentName } }
    case "pixel":
      return { path: `/api/elements/${pixels[target]}/collect`, body: { agentName } }
    case "stone":
      return { path: "/api/witness", body: { commitment, agentName } }
  }
}

const orders = (["prayer", "keeper", "pixel", "stone"] as const).flatMap((act) =>
  ([0, 1] as const).map((target): Model.Order => ({ act, target, name: "Wren" })),
)

/** Where anything of the model is sold. */
export const paths: ReadonlySet<string> = new Set(orders.map((order) => requestOf(order).path))
