/** What was signed and is not over is followed on whatever page its owner looks at: a slot it holds has no form. */
import { priceUsd } from "../../../../schema/payments/Usdc.ts"
import { button, make } from "../dom.ts"
import { forget, pending, type Purchase, remembered } from "./purchase.ts"
import { resume } from "./checkout.ts"
import { failed, progress, receipt, unsettled } from "./status.ts"

const follow = (purchase: Purchase) => {
  const place = make("div", { role: "status" })
  const box = make(
    "section",
    { class: "pay pay--open", "aria-label": "Your open purchase" },
    make(
      "p",
      {},
      make("b", {}, "You signed a payment that is not over: "),
      `${priceUsd(BigInt(purchase.amount))} for `,
      make("code", { class: "long" }, purchase.path),
      ". It is kept in this browser until it is settled. This page asks how it ended, and never pays again.",
    ),
    place,
  )
  document.getElementById("main")?.prepend(box)
  const askAgain = async () => {
    const result = await resume(purchase, progress(place)).catch(failed)
    if (result.tag === "settled") return box.replaceChildren(receipt(result))
    place.append(unsettled(result))
    if (result.tag === "open") place.append(button("Ask again", () => void askAgain(), true))
  }
  void askAgain()
}

/** `forms` follow what this tab began on them. */
export const start = (forms: ReadonlySet<string | undefined>) => {
  for (const purchase of pending()) {
    if (forms.has(purchase.form) && remembered(purchase.form)?.key === purchase.key) continue
    if (purchase.payment === null) forget(purchase)
    else follow(purchase)
  }
}
