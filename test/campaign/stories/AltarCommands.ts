/** What happens in a story of the altar, and each as a sentence. */
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
/** Which server is asked; what is sent twice at once goes to both. */
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

/** What a story is about: payments that somebody settles on the chain, or cards and candles. */
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

const ofCards = Schema.Union([
  BuyByCard,
  BuyByCard,
  BuyByCard,
  BuyByCard,
  Wax,
  Ask,
  Repeat,
  Alter,
  Move,
  Reconcile,
  Reconcile,
  Open,
  Pass,
  Pass,
  Bank,
  Bank,
  Finish,
  BurnDown,
  BurnDown,
  Restart,
  Read,
])

const ofChain = (settledBy: Model.SettledBy) => {
  const names = Model.faults[settledBy]
  return Schema.Union([
    Buy,
    Buy,
    Buy,
    Buy,
    BuyByCard,
    Ask,
    Repeat,
    Alter,
    Move,
    Rivals,
    Reconcile,
    Reconcile,
    Open,
    Pass,
    Pass,
    faultsAmong(names),
    faultsAmong(["no", "no", ...names]),
    Bank,
    Finish,
    TakeBack,
    Outsider,
    Restart,
    Read,
  ])
}

export const commandOf = (kind: Kind) => (kind === "cards" ? ofCards : ofChain(kind))

export type Command = ReturnType<typeof commandOf>["Type"]

const atSays = (at: 0 | 1) => (at === 0 ? "" : " at the second server")
const orderSays = ({ act, name, target }: Model.Order) =>
  act === "light" ? `light on the newest candle ${target} (or a candle) for ${name}` : `${act} ${target} for ${name}`
const cardSays = (card: CardModel.Card) =>
  ({
    good: "a good card",
    declined: "a card that is declined",
    held: "a card whose holder is asked",
    slow: "a card whose bank is slow",
  })[card]
const ofSays = (of: number) =>
  of === 0 ? "the newest purchase" : `the purchase ${of} before the newest, or the oldest`
const keySays = (key: typeof Key.Type) => (key === "new" ? "a new key" : `the key of ${ofSays(key)}`)

export const says = (command: Command): string => {
  switch (command._tag) {
    case "Buy":
      return `the ${command.wallet} wallet buys ${orderSays(command)} under ${keySays(command.key)}${command.isTwice ? ", sent to both servers at once" : atSays(command.at)}`
    case "BuyByCard":
      return `${cardSays(command.card)} buys ${orderSays(command)} under ${keySays(command.key)}${command.isTwice ? ", sent to both servers at once" : atSays(command.at)}`
    case "Ask":
      return `somebody asks for ${orderSays(command)} under ${keySays(command.key)} without paying${atSays(command.at)}`
    case "Repeat":
      return `the request of ${ofSays(command.of)} is sent again${atSays(command.at)}`
    case "Alter":
      return `the request of ${ofSays(command.of)} is sent again for somebody else${atSays(command.at)}`
    case "Move":
      return `the payment of ${ofSays(command.of)} is sent under ${keySays(command.to)}${atSays(command.at)}`
    case "Rivals":
      return `both wallets buy ${orderSays(command)} at once, at a server each, the rich one under ${keySays(command.key)}${atSays(command.at)}`
    case "Reconcile":
      return `${ofSays(command.of)} is reconciled${atSays(command.at)}`
    case "Open":
      return `the words of ${ofSays(command.of)} are shown${atSays(command.at)}, ${command.isRight ? "as sealed" : "other ones"}`
    case "Pass":
      return `${command.pause} ${command.pause.startsWith("a") ? "passes" : "pass"}`
    case "Fault":
      return command.fault === "no" ? "the network behaves" : `from here on ${command.fault}`
    case "Bank":
      return command.fault === "no"
        ? "the card processor behaves"
        : `from here on, of the card processor: ${command.fault}`
    case "Finish":
      return "what waits for a bank or a card's holder comes to its end"
    case "BurnDown":
      return `everything is read${atSays(command.at)} ${command.isOut ? "when the next candle or light goes out" : "in the last millisecond of the next candle or light"}`
    case "TakeBack":
      return `the newest ${command.blocks} blocks never were; what was in them ${command.comesBack ? "comes again" : "is gone"}`
    case "Outsider":
      return command.does === "brings"
        ? `an outsider brings the payment of ${ofSays(command.of)} to the chain`
        : `the payer cancels the payment of ${ofSays(command.of)}`
    case "Restart":
      return `the ${command.at === 0 ? "first" : "second"} server is started anew${command.isMeanwhile ? ", and somebody buys a stone at the other one meanwhile" : ""}`
    case "Read":
      return `everything is read${atSays(command.at)}`
  }
}
