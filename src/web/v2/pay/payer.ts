/** The wallet that pays for every form of a page, and the row of a form in which its owner chooses it. */
import { networkName } from "../../../../schema/payments/Usdc.ts"
import { all, button, make, shortOf, verdict } from "../page/dom.ts"
import { type ElementOf, marked, valuesOf } from "../page/marks.ts"
import { AnswerError, sentenceOf, waitOf } from "../page/http.ts"
import * as Wallets from "./wallet.ts"

let wallet: Wallets.Wallet | undefined
const watchers = new Set<() => void>()

/** Resolves when the wallet that is being opened is ready or failed. */
let opening: Promise<void> = Promise.resolve()

const tell = () => {
  for (const watch of watchers) watch()
}

const use = (chosen: Wallets.Wallet) => {
  wallet = chosen
  tell()
}

/** Whether the form takes the sandbox's play money. */
const isPlay = (form: ElementOf<"pay">) => valuesOf("pay", form).play !== undefined

/** Hears of wallets, and opens the play wallet of this tab; one that cannot be opened now is opened to pay. */
export const prepareWallets = (forms: ReadonlyArray<ElementOf<"pay">>) => {
  if (forms.length > 0) void Wallets.listen()
  if (forms.some(isPlay) && Wallets.hasPlayWallet()) void Wallets.playWallet().then(use, () => undefined)
}

/** `waits` says in the form that its owner has to choose. */
export const payerOf = (form: ElementOf<"pay">, waits: (words: string) => void) => {
  const { network = "" } = valuesOf("pay", form)
  const row = marked("wallet", form)
  const submit = marked("submit", form)
  const connector = marked("connect", row)
  /** The pay button was pressed before a way to pay was chosen. */
  let isAwaited = false
  /** The owner is to choose a wallet, or was told that there is none. */
  let isOffered = false

  const ways = () => Wallets.ways(isPlay(form), network)

  const open = async (way: Wallets.Way) => {
    isOffered = false
    row.replaceChildren(make("p", { class: "quiet" }, `Opening ${way.name}.`))
    use(await way.open())
  }

  const choice = async (way: Wallets.Way) => {
    await connectTo(() => open(way))
    if (isAwaited && wallet !== undefined) form.requestSubmit()
  }

  /** Shows a button for each wallet. One that has the focus keeps it. */
  const offer = () => {
    const name = row.contains(document.activeElement) ? document.activeElement?.textContent : undefined
    const choices = ways().map((way) => button(way.name, () => void choice(way)))
    row.replaceChildren(make("p", {}, "Pay with "), ...choices)
    if (name !== undefined) (choices.find(({ textContent }) => textContent === name) ?? choices[0])?.focus()
  }

  const choose = async (): Promise<void> => {
    await Wallets.listen()
    isOffered = true
    const [first, ...others] = ways()
    if (first === undefined) {
      for (const fold of all("details.call", HTMLDetailsElement)) fold.open = true
      throw new AnswerError(
        `You need a wallet in this browser with USDC on ${networkName(network)}. An agent or a terminal can pay instead: the call is below.`,
        "No wallet.",
      )
    }
    if (others.length === 0) return open(first)
    offer()
    row.querySelector("button")?.focus()
  }

  const connectTo = (work: () => Promise<void>) => {
    opening = work().then(
      // The pressed button is gone, so keyboard focus moves to the next one.
      () => void (wallet !== undefined && document.activeElement === document.body && submit.focus()),
      (error: unknown) => {
        const word = error instanceof AnswerError ? error.word : undefined
        const sentence = sentenceOf(error, "The wallet refused.")
        row.replaceChildren(
          connector,
          waitOf(error) === 0 ? verdict("broken", sentence) : verdict("broken", word ?? "Not connected.", sentence),
        )
        connector.focus()
      },
    )
    return opening
  }

  const chooseAgain = () => {
    isAwaited = false
    void connectTo(choose)
  }

  const show = () => {
    if (wallet === undefined) return
    isOffered = false
    const another = () => {
      wallet = undefined
      chooseAgain()
    }
    const change = ways().length > 1 ? [" ", button("Change", another)] : []
    row.replaceChildren(make("p", {}, make("b", {}, wallet.label()), " ", shortOf(wallet.address), ...change))
  }

  connector.addEventListener("click", chooseAgain)
  watchers.add(show)
  Wallets.watch(() => (isOffered ? offer() : show()))
  show()
  return {
    /** Undefined while the owner still has to choose among several wallets. */
    payer: async (): Promise<Wallets.Wallet | undefined> => {
      await opening
      if (wallet === undefined) await connectTo(choose)
      isAwaited = wallet === undefined && !row.contains(connector)
      if (isAwaited) {
        waits("Choose how to pay.")
        row.scrollIntoView({ block: "center" })
        row.querySelector("button")?.focus()
      }
      return wallet
    },
    /** The form is over, and the others show what the wallet has left. */
    paid: (amount: bigint) => {
      wallet?.paid(amount)
      watchers.delete(show)
      tell()
    },
  }
}
