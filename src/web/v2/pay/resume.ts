/** What was signed and is not over is followed on whatever page its owner looks at: a slot it holds has no form. */
import { priceUsd } from "../../../../schema/payments/Usdc.ts"
import { make } from "../page/dom.ts"
import { resume } from "./checkout.ts"
import type { Purchase } from "./purchase.ts"
import { conduct } from "./status.ts"

export const follow = (purchase: Purchase) => {
  const outcome = make(
    "div",
    {},
    make("div", { class: "pay__progress", "data-progress": "", role: "status", "aria-atomic": "false" }),
  )
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
    outcome,
  )
  document.getElementById("main")?.prepend(box)
  const askAgain = async () => {
    const { tag } = await conduct(
      outcome,
      (progress) => resume(purchase, progress),
      () => void askAgain(),
    )
    if (tag === "settled") box.setAttribute("aria-label", "Your purchase")
  }
  void askAgain()
}
