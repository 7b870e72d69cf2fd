/** The presses of a form that pays: orders, opens a wallet, and runs the purchase or asks how it ended. It needs no page. */
import { randomHex } from "../../../buyer/core/Digest.ts"
import { cannotHash, pageFailed, sentenceOf, waitOf } from "../page/http.ts"
import type * as Checkout from "./checkout.ts"
import type { Order } from "./order.ts"
import { begin, mayBegin, remembered } from "./purchase.ts"
import type { Wallet } from "./wallet.ts"

/** A form as its presses see it. */
export interface PressedForm {
  /** The path that it sends to before a choice, which names it. */
  readonly id: string
  readonly canHash: () => boolean
  /** The order as the form is filled; fails with a sentence where it cannot be sent. */
  readonly order: (salt: string) => Promise<Order>
  /** Undefined while the owner still has to choose among several wallets. */
  readonly payer: () => Promise<Wallet | undefined>
  readonly checkout: () => Promise<Pick<typeof Checkout, "run" | "resume">>
  /** Shows a purchase while it runs, and its end with a button for the next step. */
  readonly conduct: (
    work: (progress: Checkout.Progress) => Promise<Checkout.Result>,
    again: () => void,
  ) => Promise<Checkout.Result>
  readonly busy: (isBusy: boolean) => void
  /** Shows why nothing was done, with a button to retry where that may help. */
  readonly stopped: (word: string, message: string, again?: () => void, wait?: number) => void
  /** Shows what else changes after an end. */
  readonly ended: (result: Checkout.Result) => void
}

const keepsNothing =
  "This browser saves nothing for this site, and a signed payment must outlive its page. Allow storage, save a copy of your words so that old ones may go, or use the call below. Nothing was signed."

export const pressesOf = (form: PressedForm) => {
  /** Of one purchase: the stone that is drawn is the one that is bought. */
  let salt = randomHex(16)
  let busy = false

  /** Runs a preparation, which neither signs nor sends anything; its failure shows `safe`. */
  const guard = async (
    prepare: () => Promise<(() => Promise<Checkout.Result>) | undefined>,
    safe: string,
    again: () => void,
  ) => {
    if (busy) return
    busy = true
    form.busy(true)
    const pay = await prepare().catch((error: unknown) => {
      const wait = waitOf(error)
      form.stopped(
        "Not done.",
        `${sentenceOf(error, pageFailed)} ${safe}`,
        wait === undefined ? undefined : again,
        wait,
      )
    })
    if (pay !== undefined) {
      const result = await pay()
      if (result.tag === "refused") salt = randomHex(16)
      form.ended(result)
    }
    busy = false
    form.busy(false)
  }

  /** Asks how the purchase of this form ended. */
  const ask = (): Promise<void> =>
    guard(
      async () => {
        const purchase = remembered(form.id)
        if (purchase === undefined) return undefined
        const { resume } = await form.checkout()
        return () => form.conduct((progress) => resume(purchase, progress), ask)
      },
      "Nothing is paid twice.",
      ask,
    )

  const pay = async (): Promise<void> => {
    if (!form.canHash()) return form.stopped("Cannot seal here.", cannotHash)
    // A signed purchase is still open: its outcome is asked for, and nothing else is signed.
    if (remembered(form.id)?.payment !== undefined) return ask()
    if (!mayBegin()) return form.stopped("Cannot pay here.", keepsNothing)
    return guard(
      async () => {
        await form.order(salt)
        const payer = await form.payer()
        if (payer === undefined) return undefined
        const { run } = await form.checkout()
        // The form may have changed while a wallet was opened.
        const { body, keepsake, listed } = await form.order(salt)
        return () => form.conduct((progress) => run(begin(form.id, listed, body, keepsake), payer, progress), pay)
      },
      "Nothing was signed.",
      pay,
    )
  }

  return { ask, pay, salt: () => salt, isBusy: () => busy }
}
