/** The journal of this browser's purchases, in turns of all tabs. */
import { type Journal, localPages } from "../../../buyer/core/Journal.ts"
import { parsed } from "../../../buyer/core/Json.ts"
import { purchasesIn } from "../../../buyer/Purchases.ts"
import { browser } from "../page/store.ts"
import { decode, reserved } from "./purchase.ts"

const slots = localPages((page) => `altar:${page.replace("/", ":")}`)

/** The text of a stored purchase as today's; none when this site cannot read it. */
const renewed = (text: string | undefined) => {
  const purchase = decode(parsed(text ?? null))
  return purchase === undefined ? [] : [JSON.stringify(purchase)]
}

/** A stored purchase takes the room that was reserved for it. */
const journal: Journal = {
  alone: (turn) =>
    navigator.locks.request("altar:purchases", () =>
      turn({
        ...slots,
        get: async (page) => (page.startsWith("purchase/") ? renewed(await slots.get(page))[0] : slots.get(page)),
        all: async (prefix) => (await slots.all(prefix)).flatMap(renewed),
        set: async (page, text) => {
          browser.remove(reserved)
          await slots.set(page, text)
        },
      }),
    ),
}

export const { amend, signOnce } = purchasesIn(journal)
