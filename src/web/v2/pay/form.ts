/** A form that pays: seals its words, shows its progress, and leaves its receipt on the page. */
import { priceUsd } from "../../../../schema/payments/Usdc.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { secondsReserved } from "../../../buyer/core/Purchase.ts"
import { all, failure, make, verdict } from "../page/dom.ts"
import { allMarked, type ElementOf, marked, valuesOf } from "../page/marks.ts"
import { drawIn } from "../page/drawn.ts"
import { renew } from "../page/renew.ts"
import { AnswerError } from "../page/http.ts"
import { entriesIn, fault, fieldNamed, termsIn } from "./fields.ts"
import { commitmentIn, leftOf, listedOf, type Order, orderOf } from "./order.ts"
import { prepareWallets, payerOf } from "./payer.ts"
import { pressesOf } from "./press.ts"
import { forget, pending, remembered } from "./purchase.ts"
import { checkout, conduct, follow } from "./status.ts"
import { hashed } from "../words/files.ts"

/** The order as the form is filled; a field that cannot be sent says why. */
const orderIn = async (form: ElementOf<"pay">, salt: string): Promise<Order> => {
  await hashed()
  const order = await orderOf(termsIn(form), entriesIn(form), salt)
  if ("listed" in order) return order
  fault(fieldNamed(form, order.at.part, order.at.name), order.says)
  throw new AnswerError("Mend the marked field.")
}

/** The button and the call below name the chosen price and path. */
const showTerms = (form: ElementOf<"pay">) => {
  const { amount, path } = listedOf(termsIn(form), entriesIn(form))
  const sold = form.closest(".offer") ?? form
  for (const price of allMarked("price", sold)) price.textContent = priceUsd(BigInt(amount))
  for (const route of allMarked("route", sold)) route.textContent = path
}

/** Shows how many characters may still be sealed. */
const countLeft = (words: ElementOf<"seal">) => {
  const left = make("small", {})
  words.addEventListener("input", () => {
    left.textContent = leftOf(words.value)
    if (left.textContent === "") left.remove()
    else words.parentElement?.append(left)
  })
}

const attach = (form: ElementOf<"pay">) => {
  const { path: id = "" } = valuesOf("pay", form)
  const outcome = marked("outcome", form)
  const region = marked("progress", outcome)
  const submit = marked("submit", form)
  const draw = drawIn(form)
  const { paid, payer } = payerOf(form, (words) => region.replaceChildren(verdict("waits", words)))

  const presses = pressesOf({
    id,
    canHash,
    order: (salt) => orderIn(form, salt),
    payer,
    checkout,
    conduct: (work, again) => conduct(outcome, work, again),
    busy: (isBusy) => (isBusy ? submit.setAttribute("aria-disabled", "true") : submit.removeAttribute("aria-disabled")),
    stopped: (word, message, again, wait) => {
      const isHere = outcome.contains(document.activeElement)
      region.replaceChildren(
        ...(again === undefined ? [verdict("broken", word, message)] : failure(word, message, again, "broken", wait)),
      )
      if (isHere) region.querySelector("button")?.focus()
      region.scrollIntoView({ block: "nearest" })
    },
    ended: (result) => {
      if (result.tag === "refused") {
        if (result.field !== undefined) fault(fieldNamed(form, "body", result.field), result.message)
        redraw()
      }
      if (result.tag !== "settled") return
      paid(BigInt(result.purchase.amount))
      for (const left of allMarked("left", form.closest("li") ?? form))
        left.textContent = String(Number(left.textContent) - 1)
      void renew()
    },
  })
  const redraw = () => canHash() && void commitmentIn(entriesIn(form), presses.salt()).then(draw)

  allMarked("seal", form).forEach(countLeft)
  form.addEventListener("change", () => showTerms(form))
  showTerms(form)
  // A message about words that have changed since would mislead.
  form.addEventListener("input", () => {
    redraw()
    for (const field of all("[aria-invalid]", HTMLElement, form)) field.removeAttribute("aria-invalid")
    for (const problem of all(".problem", HTMLElement, form)) problem.remove()
    if (presses.isBusy() || remembered(id) !== undefined) return
    region.replaceChildren()
    for (const again of all(".again", HTMLElement, outcome)) again.remove()
  })
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    void presses.pay()
  })
  if (remembered(id) === undefined) return
  form.closest("details")?.setAttribute("open", "")
  void presses.ask()
}

/** Forms follow the purchases that this tab began on them; others are followed at the top of the page. */
export const start = () => {
  const forms = allMarked("pay")
  forms.forEach(attach)
  prepareWallets(forms)
  const followed = new Set(forms.map((form) => valuesOf("pay", form).path))
  for (const purchase of pending()) {
    if (followed.has(purchase.form) && remembered(purchase.form)?.key === purchase.key) continue
    if (purchase.payment !== undefined) follow(purchase)
    // Another tab may be asking its wallet.
    else if (secondsReserved(purchase) === 0) forget(purchase)
  }
}
