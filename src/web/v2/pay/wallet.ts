/** The signing wallet: one of this browser, or in the sandbox a throw-away one that this tab creates and funds. */
import { priceUsd } from "../../../../schema/payments/Usdc.ts"
import type { Challenge } from "../../../buyer/core/Challenge.ts"
import { randomHex } from "../../../buyer/core/Digest.ts"
import { all } from "../page/dom.ts"
import { AnswerError, ask, post, refusalOf, unreached } from "../page/http.ts"
import { tab } from "../page/store.ts"
import type { Provider } from "./signer.ts"

export interface Wallet {
  readonly address: string
  /** The name shown to its owner. */
  readonly label: () => string
  /**
   * `PAYMENT-SIGNATURE` of exactly this offer; fails with a sentence for its owner. `body` is the request's, which the
   * payment names.
   */
  readonly sign: (challenge: Challenge, body: string) => Promise<string>
  /** Records a payment in atomic USDC. */
  readonly paid: (amount: bigint) => void
}

/** The code that signs is larger than a page, and comes when it is needed. A chunk that is gone belongs to an old build. */
const signer = () =>
  import("./signer.ts").catch(async () => {
    const status = await fetch(import.meta.url, { method: "HEAD", cache: "no-store" }).then(
      (answer) => answer.status,
      () => 0,
    )
    throw status === 404 ? new AnswerError("The site was updated. Load the page again.") : unreached()
  })

/** Wallets announce themselves (EIP-6963); older ones exist only at `window.ethereum`. */
interface Found {
  readonly name: string
  readonly provider: Provider
}

const found = async (): Promise<ReadonlyArray<Found>> => {
  const announced: Array<Found> = []
  const hear = (event: Event) => {
    if (!(event instanceof CustomEvent)) return
    const { info, provider } = event.detail
    announced.push({ name: String(info?.name ?? "Wallet"), provider })
  }
  addEventListener("eip6963:announceProvider", hear)
  dispatchEvent(new Event("eip6963:requestProvider"))
  await new Promise((resolve) => setTimeout(resolve, 60))
  removeEventListener("eip6963:announceProvider", hear)
  const old: Provider | undefined = Reflect.get(globalThis, "ethereum")
  return announced.length > 0 || old === undefined ? announced : [{ name: "Browser wallet", provider: old }]
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
const enough = () => BigInt(all("[data-dearest]", HTMLElement)[0]?.dataset["dearest"] ?? 0)

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
export const ways = async (isPlay: boolean, network = "") => [
  ...(isPlay ? [{ name: "a play wallet", open: playWallet }] : []),
  ...(await found()).map(({ name, provider }) => ({ name, open: () => connect(name, provider, network) })),
]
