/** The commands of a story of the altar. */
import { Schema } from "effect"
import * as Model from "./AltarModel.ts"
import * as CardModel from "./CardModel.ts"

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
  act: Schema.Literals(["prayer", "keeper", "pixel", "pixel", "candle", "candle", "light", "stone", "stone"]),
  target: Schema.Literals([0, 0, 1]),
  name: Schema.Literals(["Wren", "Wren", "Finch"]),
}
const Wallet = Schema.Literals(["rich", "rich", "poor"])

const isTwice = Schema.Literals([false, false, true])
const Buy = Schema.TaggedStruct("Buy", { at, key: Key, ...order, wallet: Wallet, isTwice })
const BuyByCard = Schema.TaggedStruct("BuyByCard", {
  at,
  key: Key,
  act: Schema.Literals(["candle", "candle", "candle", "light", "light", "stone"]),
  target: order.target,
  name: Schema.Literals(["Finch", "Finch", "Finch", "Wren"]),
  card: Schema.Literals(["good", "good", ...CardModel.cards]),
  isTwice,
})
const Reconcile = Schema.TaggedStruct("Reconcile", { at, of: Of })
const Pass = Schema.TaggedStruct("Pass", {
  pause: Schema.Literals(Object.keys(pauses) as ReadonlyArray<keyof typeof pauses>),
})
const Ask = Schema.TaggedStruct("Ask", { at, key: Key, ...order })
const Repeat = Schema.TaggedStruct("Repeat", { at, of: Of })
const Move = Schema.TaggedStruct("Move", { at, of: Of, to: Key })
const Alter = Schema.TaggedStruct("Alter", { at, of: Of })
const Rivals = Schema.TaggedStruct("Rivals", { at, key: Key, ...order })
const Open = Schema.TaggedStruct("Open", { at, of: Of, isRight: Schema.Literals([true, true, false]) })
const Bank = Schema.TaggedStruct("Bank", { fault: Schema.Literals(CardModel.bankFaults) })
const Finish = Schema.TaggedStruct("Finish", {})
const BurnDown = Schema.TaggedStruct("BurnDown", { at, isOut: Schema.Boolean })
const Restart = Schema.TaggedStruct("Restart", { at, isMeanwhile: Schema.Boolean })
const Read = Schema.TaggedStruct("Read", { at })
const faultsAmong = (names: ReadonlyArray<Model.Fault>) =>
  Schema.TaggedStruct("Fault", { fault: Schema.Literals(names) })
const TakeBack = Schema.TaggedStruct("TakeBack", { blocks: Schema.Literals([1, 2]), comesBack: Schema.Boolean })
const Outsider = Schema.TaggedStruct("Outsider", { of: Of, does: Schema.Literals(["brings", "cancels"]) })

/** The subject of a story: payments on chain, or cards and candles. */
export type Kind = Model.SettledBy | "cards"

/** Candles and lights by wallet, beside those by card. */
const Wax = Schema.TaggedStruct("Buy", {
  at,
  key: Key,
  ...order,
  act: Schema.Literals(["candle", "light"]),
  wallet: Schema.Literals(["rich"]),
  isTwice,
})

/** As often as they are named. */
const usual = [Ask, Repeat, Alter, Move, Reconcile, Reconcile, Open, Pass, Pass, Bank, Finish, Restart, Read] as const
const byCard = [BuyByCard, BuyByCard, BuyByCard, BuyByCard, Wax, Bank, BurnDown, BurnDown] as const
const onChain = [Buy, Buy, Buy, Buy, BuyByCard, Rivals, TakeBack, Outsider] as const

const ofCards = Schema.Union([...byCard, ...usual])

const ofChain = (settledBy: Model.SettledBy) => {
  const names = Model.faults[settledBy]
  return Schema.Union([...onChain, ...usual, faultsAmong(names), faultsAmong(["no", "no", ...names])])
}

export const commandOf = (kind: Kind) => (kind === "cards" ? ofCards : ofChain(kind))

export type Command = ReturnType<typeof commandOf>["Type"]
