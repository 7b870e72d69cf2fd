/** The commands of a story of the altar, and its orders as requests of the wire. */
import { createHash } from "node:crypto"
import { Schema } from "effect"
import * as Model from "./AltarModel.ts"

export const pauses = {
  "two minutes": 120_000,
  "seven minutes": 420_000,
  "an hour": Model.apartMillis,
  "thirteen hours": 46_800_000,
  "a day": 86_400_000,
  "a week": 604_800_000,
} as const

/** A purchase, from the newest back. */
const Of = Schema.Literals([0, 0, 1, 2, 3])
/** A new key, or that of a purchase. */
export const Key = Schema.Literals(["new", "new", "new", "new", "new", 0, 1])
/** Which server is asked; a concurrent pair goes to both. */
const at = Schema.Literals([0, 0, 1])
const order = {
  act: Schema.Literals(["prayer", "keeper", "pixel", "pixel", "stone", "stone"]),
  target: Schema.Literals([0, 0, 1]),
  name: Schema.Literals(["Wren", "Wren", "Finch"]),
}

const Buy = Schema.TaggedStruct("Buy", {
  at,
  key: Key,
  ...order,
  wallet: Schema.Literals(["rich", "rich", "poor"]),
  isTwice: Schema.Literals([false, false, true]),
})
const Reconcile = Schema.TaggedStruct("Reconcile", { at, of: Of })
const Pass = Schema.TaggedStruct("Pass", {
  pause: Schema.Literals(Object.keys(pauses) as ReadonlyArray<keyof typeof pauses>),
})
const faultsAmong = (names: ReadonlyArray<Model.Fault>) =>
  Schema.TaggedStruct("Fault", { fault: Schema.Literals(names) })

/** As often as they are named. */
const often = [Buy, Buy, Buy, Buy, Reconcile, Reconcile, Pass, Pass] as const
const usual = [
  ...often,
  Schema.TaggedStruct("Rivals", { at, key: Key, ...order }),
  Schema.TaggedStruct("Ask", { at, key: Key, ...order }),
  Schema.TaggedStruct("Repeat", { at, of: Of }),
  Schema.TaggedStruct("Alter", { at, of: Of }),
  Schema.TaggedStruct("Move", { at, of: Of, to: Key }),
  Schema.TaggedStruct("TakeBack", { blocks: Schema.Literals([1, 2]), comesBack: Schema.Boolean }),
  Schema.TaggedStruct("Outsider", { of: Of, does: Schema.Literals(["brings", "cancels"]) }),
  Schema.TaggedStruct("Restart", { at, isMeanwhile: Schema.Boolean }),
] as const

export const commandOf = (settledBy: Model.SettledBy) => {
  const names = Model.faults[settledBy]
  return Schema.Union([...usual, faultsAmong(names), faultsAmong(["no", "no", ...names])])
}

export type Command = ReturnType<typeof commandOf>["Type"]

const spirits = ["moss-hare", "rain-crow"] as const
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
