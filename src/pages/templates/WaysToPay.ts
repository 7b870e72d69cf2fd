/** Ways to pay without a wallet extension: a phone, a passkey, a command or an agent, and where USDC comes from. */
import { type Html, html } from "../../platform/Html.ts"
import { faucet, type Surroundings } from "./Layout.ts"
import { sample } from "./Prose.ts"

export interface Wanted {
  /** Unique on its page. */
  readonly id: string
  readonly publicUrl: string
  readonly path: string
  readonly verb: string
}

/** Links of the wallets' own that open a page in their app. */
const apps = (url: string): ReadonlyArray<readonly [name: string, href: string]> => {
  const bare = url.replace(/^https?:\/\//u, "")
  return [
    ["Base or Coinbase Wallet", `https://go.cb-w.com/dapp?${new URLSearchParams({ cb_url: url })}`],
    ["MetaMask", `https://metamask.app.link/dapp/${bare}`],
    ["Trust Wallet", `https://link.trustwallet.com/open_url?${new URLSearchParams({ coin_id: "60", url })}`],
  ]
}

export const agentPrompt = ({ path, publicUrl, verb }: Wanted): string =>
  `Read ${publicUrl}/llms.txt. Then buy this for me: ${verb}, POST ${publicUrl}${path}. Ask me for my words and the maximum price before you sign. Seal my words on this machine, and give me the salt and the receipt to keep.`

const onPhone = (url: string): Html =>
  html`<p class="way">With a phone</p>
    <p>
      Open this page inside a wallet app. Some of them make a wallet with a passkey and need no extension and no written
      key.
    </p>
    <p class="doors doors--small">
      ${apps(url).map(([name, href]) => html`<a class="button" rel="external noreferrer" href="${href}">${name}</a>`)}
    </p>`

const dollar = html`<p class="way">A dollar of USDC on Base</p>
  <p>
    USDC is a token worth one US dollar. Base is the network that it moves on here. Most exchanges sell USDC and send it
    to your wallet's address: choose Base as the network. One dollar pays for a hundred stones. You need no other coin,
    because the altar pays the network's fee.
  </p>`

const testDollars = html`<p class="way">Test USDC</p>
  <p>
    This altar takes test USDC on Base Sepolia, a network for trying things out. It is free and worth nothing. Enter
    your wallet's address at ${faucet}, choose Base Sepolia, and it sends you some. You need no other coin, because the
    altar pays the network's fee.
  </p>`

/** `page` is the path that a phone opens. */
export const waysToPay = (money: Surroundings["money"], wanted: Wanted, page: string): Html => {
  const { id, publicUrl } = wanted
  return html`<details class="call" data-ways>
    <summary>No wallet in this browser? Other ways to pay</summary>
    ${money === "real" ? html`${onPhone(`${publicUrl}${page}`)}${dollar}` : money === "test" ? testDollars : ""}
    <p class="way">With an agent</p>
    <p>Give this to an agent that can pay by x402:</p>
    ${sample(`${id}-prompt`, "the prompt for an agent", agentPrompt(wanted))}
    <p>
      A terminal does the same: the call is above, and any x402 client pays it. <a href="/for-agents">For agents</a> has
      programs.
    </p>
  </details>`
}
