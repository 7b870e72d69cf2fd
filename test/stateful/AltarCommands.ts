/** What happens in a story of the altar, and each as a sentence. */
import { Schema } from "effect"
import * as Model from "./AltarModel.ts"

export const pauses = {
  "two minutes": 120_000,
  "seven minutes": 420_000,
  "an hour": Model.apartMillis,
  "a day": 86_400_000,
} as const

/** A purchase, from the newest back. */
const Of = Schema.Literals([0, 0, 1, 2, 3])
/** A new key, or that of a purchase. */
export const Key = Schema.Literals(["new", "new", "new", "new", "new", 0, 1])
const order = {
  act: Schema.Literals(["prayer", "keeper", "pixel", "pixel", "candle", "stone", "stone"]),
  target: Schema.Literals([0, 0, 1]),
  name: Schema.Literals(["Wren", "Wren", "Finch"]),
}
const Wallet = Schema.Literals(["rich", "rich", "poor"])

const Buy = Schema.TaggedStruct("Buy", {
  key: Key,
  ...order,
  wallet: Wallet,
  isTwice: Schema.Literals([false, false, true]),
})
const Reconcile = Schema.TaggedStruct("Reconcile", { of: Of })
const Pass = Schema.TaggedStruct("Pass", {
  pause: Schema.Literals(Object.keys(pauses) as ReadonlyArray<keyof typeof pauses>),
})

export const commandOf = (settledBy: Model.SettledBy) =>
  Schema.Union([
    Buy,
    Buy,
    Buy,
    Buy,
    Schema.TaggedStruct("Ask", { key: Key, ...order }),
    Schema.TaggedStruct("Repeat", { of: Of }),
    Schema.TaggedStruct("Move", { of: Of, to: Key }),
    Schema.TaggedStruct("Rivals", { key: Key, ...order }),
    Reconcile,
    Reconcile,
    Schema.TaggedStruct("Open", { of: Of, isRight: Schema.Literals([true, true, false]) }),
    Pass,
    Pass,
    Schema.TaggedStruct("Fault", { fault: Schema.Literals(Model.faults[settledBy]) }),
    Schema.TaggedStruct("Fault", { fault: Schema.Literals(["no", "no", ...Model.faults[settledBy]]) }),
    Schema.TaggedStruct("TakeBack", { blocks: Schema.Literals([1, 2]), comesBack: Schema.Boolean }),
    Schema.TaggedStruct("Outsider", { of: Of, does: Schema.Literals(["brings", "cancels"]) }),
    Schema.TaggedStruct("Restart", {}),
    Schema.TaggedStruct("Read", {}),
  ])
export type Command = ReturnType<typeof commandOf>["Type"]

const orderSays = ({ act, name, target }: Model.Order) => `${act} ${target} for ${name}`
const ofSays = (of: number) => (of === 0 ? "the newest purchase" : `the purchase ${of} before the newest`)
const keySays = (key: typeof Key.Type) => (key === "new" ? "a new key" : `the key of ${ofSays(key)}`)

export const says = (command: Command): string => {
  switch (command._tag) {
    case "Buy":
      return `the ${command.wallet} wallet buys ${orderSays(command)} under ${keySays(command.key)}${command.isTwice ? ", sent twice at once" : ""}`
    case "Ask":
      return `somebody asks for ${orderSays(command)} under ${keySays(command.key)} without paying`
    case "Repeat":
      return `the request of ${ofSays(command.of)} is sent again`
    case "Move":
      return `the payment of ${ofSays(command.of)} is sent under ${keySays(command.to)}`
    case "Rivals":
      return `both wallets buy ${orderSays(command)} at once, the rich one under ${keySays(command.key)}`
    case "Reconcile":
      return `${ofSays(command.of)} is reconciled`
    case "Open":
      return `the words of ${ofSays(command.of)} are shown, ${command.isRight ? "as sealed" : "other ones"}`
    case "Pass":
      return `${command.pause} ${command.pause.startsWith("a") ? "passes" : "pass"}`
    case "Fault":
      return command.fault === "no" ? "the network behaves" : `from here on ${command.fault}`
    case "TakeBack":
      return `the newest ${command.blocks} blocks never were; what was in them ${command.comesBack ? "comes again" : "is gone"}`
    case "Outsider":
      return command.does === "brings"
        ? `an outsider brings the payment of ${ofSays(command.of)} to the chain`
        : `the payer cancels the payment of ${ofSays(command.of)}`
    case "Restart":
      return "the server is started anew"
    case "Read":
      return "everything is read"
  }
}
