/** A form that pays: seals its words, shows its progress, and leaves its receipt on the page. */
import { networkName, priceUsd } from "../../../../schema/payments/Usdc.ts"
import { canHash, randomHex } from "../../../buyer/core/Digest.ts"
import { secondsReserved } from "../../../buyer/core/Purchase.ts"
import { all, button, failure, make, shortOf, verdict } from "../page/dom.ts"
import { allMarked, type ElementOf, marked, valuesOf } from "../page/marks.ts"
import { drawIn } from "../page/drawn.ts"
import { renew } from "../page/renew.ts"
import { AnswerError, cannotHash, pageFailed, sentenceOf, waitOf } from "../page/http.ts"
import type { Result } from "./checkout.ts"
import { entriesIn, fault, fieldNamed, termsIn } from "./fields.ts"
import { commitmentIn, leftOf, listedOf, type Order, orderOf } from "./order.ts"
import { begin, forget, mayBegin, pending, remembered } from "./purchase.ts"
import { checkout, conduct, follow } from "./status.ts"
import { hashed } from "../words/files.ts"
import * as Wallets from "./wallet.ts"

let wallet: Wallets.Wallet | undefined
const watchers = new Set<() => void>()

/** Resolves when the wallet that is being opened is ready or failed. */
let opening: Promise<void> = Promise.resolve()

const use = (chosen: Wallets.Wallet) => {
  wallet = chosen
  for (const watch of watchers) watch()
}

/** Whether the form takes the sandbox's play money. */
const isPlay = (form: HTMLFormElement) => valuesOf("pay", form).play !== undefined

const keepsNothing =
  "This browser saves nothing for this site, and a signed payment must outlive its page. Allow storage, save a copy of your words so that old ones may go, or use the call below. Nothing was signed."

/** The order as the form is filled; a field that cannot be sent says why. */
const orderIn = async (form: ElementOf<"pay">, salt: string): Promise<Order> => {
  await hashed()
  const order = await orderOf(termsIn(form), entriesIn(form), salt)
  if ("listed" in order) return order
  fault(fieldNamed(form, order.at.part, order.at.name), order.says)
  throw new AnswerError("Mend the marked field.")
}

const attach = (form: ElementOf<"pay">) => {
  const { network = "", path: id = "" } = valuesOf("pay", form)
  const outcome = marked("outcome", form)
  const region = marked("progress", outcome)
  const row = marked("wallet", form)
  const submit = marked("submit", form)
  const connector = marked("connect", row)
  const draw = drawIn(form)
  /** Of one purchase: the stone that is drawn is the one that is bought. */
  let salt = randomHex(16)
  const redraw = () => canHash() && void commitmentIn(entriesIn(form), salt).then(draw)
  let busy = false
  /** The pay button was pressed before a way to pay was chosen. */
  let isAwaited = false
  /** The owner is to choose a wallet, or was told that there is none. */
  let isOffered = false

  /** Updates the other forms of the page after a settled purchase. */
  const finish = (result: Result) => {
    if (result.tag === "refused" && result.field !== undefined)
      fault(fieldNamed(form, "body", result.field), result.message)
    if (result.tag === "refused") {
      salt = randomHex(16)
      redraw()
    }
    if (result.tag !== "settled") return
    wallet?.paid(BigInt(result.purchase.amount))
    for (const left of allMarked("left", form.closest("li") ?? form))
      left.textContent = String(Number(left.textContent) - 1)
    watchers.delete(show)
    for (const watch of watchers) watch()
    void renew()
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
      region.replaceChildren(
        ...(waitOf(error) === undefined
          ? [verdict("broken", "Not done.", message)]
          : failure("Not done.", message, again, "broken", waitOf(error))),
      )
      if (isHere) region.querySelector("button")?.focus()
      region.scrollIntoView({ block: "nearest" })
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
        form.closest("details")?.setAttribute("open", "")
        const { resume } = await checkout()
        return () => conduct(outcome, (progress) => resume(purchase, progress), askAgain)
      },
      "Nothing is paid twice.",
      askAgain,
    )

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

  /** Undefined while the owner still has to choose among several wallets. */
  const payerOf = async (): Promise<Wallets.Wallet | undefined> => {
    await opening
    if (wallet === undefined) await connectTo(choose)
    isAwaited = wallet === undefined && !row.contains(connector)
    if (isAwaited) {
      region.replaceChildren(verdict("waits", "Choose how to pay."))
      row.scrollIntoView({ block: "center" })
      row.querySelector("button")?.focus()
    }
    return wallet
  }

  const show = () => {
    if (wallet === undefined) return
    isOffered = false
    const another = () => {
      isAwaited = false
      wallet = undefined
      void connectTo(choose)
    }
    const change = ways().length > 1 ? [" ", button("Change", another)] : []
    row.replaceChildren(make("p", {}, make("b", {}, wallet.label()), " ", shortOf(wallet.address), ...change))
  }

  /** The button and the call below name the chosen price and path. */
  const showTerms = () => {
    const { amount, path } = listedOf(termsIn(form), entriesIn(form))
    const sold = form.closest(".offer") ?? form
    for (const price of allMarked("price", sold)) price.textContent = priceUsd(BigInt(amount))
    for (const route of allMarked("route", sold)) route.textContent = path
  }
  for (const words of allMarked("seal", form)) {
    const left = make("small", {})
    words.addEventListener("input", () => {
      left.textContent = leftOf(words.value)
      if (left.textContent === "") left.remove()
      else words.parentElement?.append(left)
    })
  }
  form.addEventListener("change", showTerms)
  showTerms()
  // A message about words that have changed since would mislead.
  form.addEventListener("input", () => {
    redraw()
    for (const field of all("[aria-invalid]", HTMLElement, form)) field.removeAttribute("aria-invalid")
    for (const problem of all(".problem", HTMLElement, form)) problem.remove()
    if (busy || remembered(id) !== undefined) return
    region.replaceChildren()
    for (const again of all(".again", HTMLElement, outcome)) again.remove()
  })
  connector.addEventListener("click", () => {
    isAwaited = false
    void connectTo(choose)
  })
  watchers.add(show)
  Wallets.watch(() => (isOffered ? offer() : show()))
  show()
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!canHash()) return region.replaceChildren(verdict("broken", "Cannot seal here.", cannotHash))
    // A signed purchase is still open: its outcome is asked for, and nothing else is signed.
    if (remembered(id)?.payment !== undefined) return askAgain()
    if (!mayBegin()) return region.replaceChildren(verdict("broken", "Cannot pay here.", keepsNothing))
    const again = () => (remembered(id)?.payment === undefined ? form.requestSubmit() : askAgain())
    void guard(
      async () => {
        await orderIn(form, salt)
        const payer = await payerOf()
        if (payer === undefined) return undefined
        const { run } = await checkout()
        // The form may have changed while a wallet was opened.
        const { body, keepsake, listed } = await orderIn(form, salt)
        return () => conduct(outcome, (progress) => run(begin(id, listed, body, keepsake), payer, progress), again)
      },
      "Nothing was signed.",
      again,
    )
  })
  if (remembered(id) !== undefined) askAgain()
}

/** Forms follow the purchases that this tab began on them; others are followed at the top of the page. */
export const start = () => {
  const forms = allMarked("pay")
  forms.forEach(attach)
  if (forms.length > 0) void Wallets.listen()
  // A play wallet that cannot be opened now is opened to pay.
  if (forms.some(isPlay) && Wallets.hasPlayWallet()) void Wallets.playWallet().then(use, () => undefined)
  const followed = new Set(forms.map((form) => valuesOf("pay", form).path))
  for (const purchase of pending()) {
    if (followed.has(purchase.form) && remembered(purchase.form)?.key === purchase.key) continue
    if (purchase.payment !== undefined) follow(purchase)
    // Another tab may be asking its wallet.
    else if (secondsReserved(purchase) === 0) forget(purchase)
  }
}
