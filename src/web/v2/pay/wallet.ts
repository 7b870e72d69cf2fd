/** Who signs: a wallet of this browser, or in the sandbox a throw-away one that this tab makes and funds. */
import { ask, messageOf, post } from "../ask.ts"
import { randomHex } from "../digest.ts"
import type { Challenge } from "./challenge.ts"
import type { Provider } from "./signing.ts"

export interface Wallet {
  readonly address: string
  /** What it is, for its owner. */
  readonly label: string
  /** `PAYMENT-SIGNATURE` of exactly this offer. */
  readonly sign: (challenge: Challenge) => Promise<string>
}

/** The part that can sign is fetched when somebody wants to pay. */
const signing = () => import("./signing.ts")

/** Wallets announce themselves (EIP-6963); older ones only stand at `window.ethereum`. */
export const found = async (): Promise<ReadonlyArray<{ readonly name: string; readonly provider: Provider }>> => {
  const announced: Array<{ name: string; provider: Provider }> = []
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

let asked: Promise<boolean> | undefined

/** Only a sandbox answers here. */
export const isSandbox = (): Promise<boolean> => {
  asked ??= ask("/sandbox").then(
    ({ status }) => status === 200,
    () => false,
  )
  return asked
}

const slot = "altar:play-wallet"

const isKey = (text: string | null): text is `0x${string}` => text !== null && /^0x[0-9a-f]{64}$/u.test(text)

/** The throw-away key of this tab, worth nothing anywhere else. */
const playKey = (): `0x${string}` => {
  const known = sessionStorage.getItem(slot)
  if (isKey(known)) return known
  const made = `0x${randomHex(32)}` as const
  sessionStorage.setItem(slot, made)
  return made
}

export const hasPlayWallet = () => isKey(sessionStorage.getItem(slot))

export const playWallet = async (): Promise<Wallet> => {
  const { address, sign } = (await signing()).own(playKey())
  const answer = await ask("/sandbox/fund", post({ address }))
  if (answer.status !== 200) throw new Error(messageOf(answer))
  const balance = Number(answer.body["balanceAtomic"]) / 1_000_000
  return { address, sign, label: `Play wallet with $${balance.toFixed(2)} of play money` }
}

export const connect = async (name: string, provider: Provider, network: string): Promise<Wallet> => {
  const { address, sign } = await (await signing()).injected(provider, Number(network.split(":")[1]))
  return { address, sign, label: name }
}
