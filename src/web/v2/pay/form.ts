/** A form that pays: seals its words, shows its progress, and leaves its receipt on the page. */
import { baseSepolia, priceUsd } from "../../../../schema/payments/Usdc.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { cannotHash, isUnreached, pageFailed, AnswerError, sentenceOf, waitOf } from "../page/http.ts"
import { all, button, failure, make, one, shortOf, verdict } from "../page/dom.ts"
import { parts } from "../page/load.ts"
import type { Result } from "./checkout.ts"
import { begin, forget, mayLeave, pending, type Purchase, remembered } from "./purchase.ts"
import { orderOf } from "./order.ts"
import * as Wallets from "./wallet.ts"

let wallet: Wallets.Wallet | undefined
const watchers = new Set<() => void>()

/** Resolves when the wallet that is being opened is ready or failed. */
let opening: Promise<void> = Promise.resolve()

const use = (chosen: Wallets.Wallet) => {
  wallet = chosen
  for (const watch of watchers) watch()
}

const attach = (form: HTMLFormElement) => {
  const id = form.dataset["path"] ?? ""
  const network = form.dataset["network"] ?? ""
  const outcome = one("[data-outcome]", HTMLElement, form)
  const said = one("[data-progress]", HTMLElement, outcome)
  const row = one("[data-wallet]", HTMLElement, form)
  const submit = one("[data-submit]", HTMLButtonElement, form)
  const connector = one("[data-connect]", HTMLButtonElement, row)
  let busy = false

  /** Updates the other forms of the page after a settled purchase. */
  const finish = (result: Result) => {
    if (result.tag !== "settled") return
    wallet?.paid(BigInt(result.purchase.amount))
    watchers.delete(show)
    for (const watch of watchers) watch()
  }

  /** Runs a preparation, which neither signs nor sends anything; its failure shows `safe`. */
  const guard = async (
    prepare: () => Promise<(() => Promise<Result>) | undefined>,
    safe: string,
    again: () => void,
  ) => {
    if (busy) return
    busy = true
    submit.setAttribute("aria-disabled", "true")
    const pay = await prepare().catch((error: unknown) => {
      const message = `${sentenceOf(error, pageFailed)} ${safe}`
      const isHere = outcome.contains(document.activeElement)
      said.replaceChildren(
        ...(isUnreached(error) || waitOf(error) !== undefined
          ? failure("Not done.", message, again, "broken", waitOf(error))
          : [verdict("broken", "Not done.", message)]),
      )
      if (isHere) said.querySelector("button")?.focus()
    })
    if (pay !== undefined) finish(await pay())
    busy = false
    submit.removeAttribute("aria-disabled")
  }

  const askAgain = (): void =>
    void guard(
      async () => {
        const purchase = remembered(id)
        if (purchase === undefined) return undefined
        for (let fold = form.closest("details"); fold !== null; fold = fold.parentElement?.closest("details") ?? null)
          fold.open = true
        const { conduct, resume } = await parts.paying()
        return () => conduct(outcome, (progress) => resume(purchase, progress), askAgain)
      },
      "Nothing is paid twice.",
      askAgain,
    )

  const choose = async (): Promise<void> => {
    const [providers, sandbox] = await Promise.all([Wallets.found(), Wallets.isSandbox()])
    const ways = [
      ...(sandbox ? [{ name: "a play wallet", icon: undefined, make: Wallets.playWallet }] : []),
      ...providers.map(({ icon, name, provider }) => ({
        name,
        icon,
        make: () => Wallets.connect(name, provider, network),
      })),
    ]
    const open = async (way: (typeof ways)[number]) => {
      row.replaceChildren(make("p", { class: "quiet" }, `Opening ${way.name}.`))
      use(await way.make())
    }
    const [first] = ways
    if (first === undefined) {
      for (const fold of all("details[data-ways]", HTMLDetailsElement, form.parentElement ?? form)) fold.open = true
      throw new AnswerError("None was found in this browser. Other ways to pay are listed below.", "No wallet.")
    }
    if (ways.length === 1) return open(first)
    row.replaceChildren(
      make("p", {}, "Pay with "),
      ...ways.map((way) => {
        const choice = button(way.name, () => void connectTo(() => open(way)))
        choice.dataset["way"] = ""
        if (way.icon !== undefined)
          choice.prepend(make("img", { class: "wallet-icon", src: way.icon, alt: "", width: "24", height: "24" }))
        return choice
      }),
    )
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
          isUnreached(error) ? verdict("broken", sentence) : verdict("broken", word ?? "Not connected.", sentence),
        )
        connector.focus()
      },
    )
    return opening
  }

  /** Undefined while the owner still has to choose among several wallets. */
  const payerOf = async (): Promise<Wallets.Wallet | undefined> => {
    await opening
    if (wallet === undefined) await connectTo(choose)
    if (wallet === undefined && row.querySelector("[data-way]") !== null) {
      said.replaceChildren(verdict("waits", "Choose how to pay."))
      row.scrollIntoView({ block: "center" })
      row.querySelector("button")?.focus()
    }
    return wallet
  }

  const show = () => {
    if (wallet === undefined) return
    row.replaceChildren(make("p", {}, make("b", {}, wallet.label()), " ", shortOf(wallet.address)))
  }

  for (const select of all("select[data-options]", HTMLSelectElement, form)) {
    const options = document.getElementById(select.dataset["options"] ?? "")
    if (options instanceof HTMLTemplateElement) select.append(options.content.cloneNode(true))
  }
  // The button names the price of the selected rung.
  for (const rung of all("input[data-amount]", HTMLInputElement, form)) {
    rung.addEventListener("change", () => {
      one("[data-price]", HTMLElement, form).textContent = priceUsd(BigInt(rung.dataset["amount"] ?? 0))
    })
  }
  connector.addEventListener("click", () => void connectTo(choose))
  watchers.add(show)
  show()
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!canHash()) return said.replaceChildren(verdict("broken", "Cannot seal here.", cannotHash))
    // A signed purchase is still open: its outcome is asked for, and nothing else is signed.
    if (remembered(id)?.payment != null) return askAgain()
    const again = () => (remembered(id)?.payment == null ? form.requestSubmit() : askAgain())
    void guard(
      async () => {
        const payer = await payerOf()
        if (payer === undefined) return undefined
        const { body, keepsake, listed } = await orderOf(form)
        const { conduct, run } = await parts.paying()
        return () => conduct(outcome, (progress) => run(begin(id, listed, body, keepsake), payer, progress), again)
      },
      "Nothing was signed.",
      again,
    )
  })
  addEventListener("beforeunload", (event) => {
    const purchase = remembered(id)
    if (busy && purchase?.payment != null && !mayLeave(purchase)) event.preventDefault()
  })
  if (remembered(id) !== undefined) askAgain()
}

/** Announces the sandbox's play money on load. */
const greet = async (forms: ReadonlyArray<HTMLFormElement>) => {
  if (!(await Wallets.isSandbox())) return
  for (const form of forms) {
    for (const connector of all("[data-connect]", HTMLButtonElement, form)) connector.textContent = "Make a play wallet"
  }
  if (Wallets.hasPlayWallet() && wallet === undefined) use(await Wallets.playWallet())
}

const followOther = (purchase: Purchase): void =>
  void parts.paying().then(
    ({ follow }) => follow(purchase),
    (error: unknown) => {
      const message = `${sentenceOf(error, pageFailed)} Your signed payment is kept in this browser.`
      const notice = make("section", { class: "pay pay--open", role: "status", "aria-label": "Your open purchase" })
      document.getElementById("main")?.prepend(notice)
      notice.append(
        ...failure("Not asked.", message, () => {
          notice.remove()
          followOther(purchase)
        }),
      )
    },
  )

/** Follows open purchases without a form on this page; `forms` follow those that this tab began on them. */
const followOthers = (forms: ReadonlySet<string | undefined>) => {
  for (const purchase of pending()) {
    if (forms.has(purchase.form) && remembered(purchase.form)?.key === purchase.key) continue
    if (purchase.payment === null) forget(purchase)
    else followOther(purchase)
  }
}

const attachAll = (): ReadonlyArray<HTMLFormElement> => {
  const forms = all("[data-pay]", HTMLFormElement)
  for (const form of forms) attach(form)
  // A sandbox uses the test network; on other networks it is looked for only when paying.
  if (forms.some((form) => form.dataset["network"] === baseSepolia)) void greet(forms).catch(() => undefined)
  return forms
}

export const start = () => {
  followOthers(new Set(attachAll().map((form) => form.dataset["path"])))
}
