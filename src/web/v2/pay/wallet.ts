/** The signing wallet: one of this browser, or in the sandbox a throw-away one that this tab creates and funds. */
import { attempt, memberAt } from "../../../buyer/core/Json.ts"
import { priceUsd } from "../../../../schema/payments/Usdc.ts"
import type { Challenge } from "../../../buyer/core/Challenge.ts"
import { randomHex } from "../../../buyer/core/Digest.ts"
import { ask, partFailed, post, refusalOf } from "../page/http.ts"
import { allMarked, valuesOf } from "../page/marks.ts"
import { tab } from "../page/store.ts"
import type { Provider } from "./signer.ts"

export interface Wallet {
  readonly address: string
  /** The name shown to its owner. */
  readonly label: () => string
  /**
   * `PAYMENT-SIGNATURE` of exactly this offer from `nowMs` on; fails with a sentence for its owner. `body` is the
   * request's, which the payment names.
   */
  readonly sign: (challenge: Challenge, body: string, nowMs: number) => Promise<string>
  /** Records a payment in atomic USDC. */
  readonly paid: (amount: bigint) => void
}

/** The code that signs is larger than a page, and comes when it is needed. */
const signer = () => import("./signer.ts").catch(partFailed)

interface WalletChoice {
  readonly name: string
  readonly provider: Provider
}

/** The wallets that announced themselves (EIP-6963), each once: by its uuid, or without one by its name. */
const announced = new Map<string, WalletChoice>()
const watchers = new Set<() => void>()
let isTelling = false

/** Calls back whenever another wallet announces itself. */
export const watch = (changed: () => void) => void watchers.add(changed)

// Scripts of wallets and strangers define these objects, so even naming a member may throw.
const isProvider = (value: unknown): value is Provider => typeof memberAt(value, "request") === "function"

const readWallet = (detail: unknown) => {
  const [info, provider] = [memberAt(detail, "info"), memberAt(detail, "provider")]
  const [name, uuid] = [memberAt(info, "name"), memberAt(info, "uuid")]
  if (typeof name !== "string" || !isProvider(provider)) return undefined
  const label = name.replace(/\p{C}/gu, "").trim().slice(0, 40) || "Wallet"
  return { key: typeof uuid === "string" && uuid !== "" ? uuid : label, name: label, provider }
}

const hear = (event: Event) => {
  const wallet = attempt(() => readWallet(memberAt(event, "detail")))
  if (wallet === undefined || announced.has(wallet.key)) return
  announced.set(wallet.key, wallet)
  if (isTelling) return
  isTelling = true
  // A thousand may answer at once: the choice is shown once for all of them.
  queueMicrotask(() => {
    isTelling = false
    for (const changed of watchers) changed()
  })
}

/** Milliseconds in which wallets usually answer. Later ones join the choice. */
const answerWithin = 500

let listening: Promise<void> | undefined

/** Asks wallets to announce themselves, and hears them from then on. Resolves when most have answered. */
export const listen = (): Promise<void> => {
  listening ??= new Promise((resolve) => {
    addEventListener("eip6963:announceProvider", hear)
    setTimeout(resolve, answerWithin)
  })
  dispatchEvent(new Event("eip6963:requestProvider"))
  return listening
}

/** Older wallets exist only at `window.ethereum`. */
const walletsHere = (): ReadonlyArray<WalletChoice> => {
  const old = attempt(() => {
    const provider: unknown = Reflect.get(globalThis, "ethereum")
    return isProvider(provider) ? { name: "Browser wallet", provider } : undefined
  })
  return announced.size > 0 || old === undefined ? [...announced.values()] : [old]
}

const slot = "altar:play-wallet"

/** The throw-away key of this tab, worthless elsewhere, and its balance in atomic play money. */
interface HeldWallet {
  readonly key: `0x${string}`
  readonly balance: bigint
}

const heldWallet = (): HeldWallet | undefined => {
  const [, key = "", balance = ""] = /^(0x[0-9a-f]{64}) ([0-9]+)$/u.exec(tab.get(slot) ?? "") ?? []
  return key === "" ? undefined : { key: `0x${key.slice(2)}`, balance: BigInt(balance) }
}

const keep = ({ balance, key }: HeldWallet): HeldWallet => {
  tab.set(slot, `${key} ${balance}`)
  return { key, balance }
}

export const hasPlayWallet = () => heldWallet() !== undefined

/** The price of the dearest act sold here; nothing is sold on a page without a form. */
const enough = () => BigInt(allMarked("pay").map((form) => valuesOf("pay", form).dearest)[0] ?? 0)

/** Created once for a tab, and funded again only when it could not pay for everything. */
export const playWallet = async (): Promise<Wallet> => {
  let held = heldWallet() ?? keep({ key: `0x${randomHex(32)}`, balance: 0n })
  const { address, sign } = (await signer()).own(held.key)
  if (held.balance < enough()) {
    const answer = await ask("/sandbox/fund", post({ address }))
    if (answer.status !== 200) throw refusalOf(answer)
    held = keep({ key: held.key, balance: BigInt(String(answer.body["balanceAtomic"])) })
  }
  return {
    address,
    sign,
    label: () => `Play wallet with ${priceUsd(held.balance)}`,
    paid: (amount) => {
      held = keep({ key: held.key, balance: held.balance > amount ? held.balance - amount : 0n })
    },
  }
}

const connect = async (name: string, provider: Provider, network: string): Promise<Wallet> => {
  const { address, sign } = await (await signer()).injected(provider, network)
  return { address, sign, label: () => name, paid: () => {} }
}

/** The wallets to choose from: those of this browser, and for play money the one of this tab. */
export const ways = (isPlay: boolean, network = "") => [
  ...(isPlay ? [{ name: "a play wallet", open: playWallet }] : []),
  ...walletsHere().map(({ name, provider }) => ({ name, open: () => connect(name, provider, network) })),
]

export type Way = ReturnType<typeof ways>[number]
