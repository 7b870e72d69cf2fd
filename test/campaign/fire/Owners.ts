/** Owners of sealed words: they open them while everything else happens, repeat what had no answer, err, and try other words. */
import { setTimeout } from "node:timers/promises"
import { type Answers, codeOf } from "../../lab/buyer/Answers.ts"
import type { Purchase } from "../../lab/buyer/Buyer.ts"
import { otherWords, type Sealed } from "../../lab/buyer/Goods.ts"
import type { Random } from "../../lab/Random.ts"
import { retryingClient } from "./RetryingClient.ts"

export interface Owners {
  /** A purchase has ended, or was left open: its maker may open the sealed words. */
  readonly see: (purchase: Purchase) => void
  /** Nothing new is opened but what settled late; answers what was refused without need, and what never became known. */
  readonly rest: () => Promise<ReadonlyArray<string>>
}

/** The same words in other bytes: the hashed words stay. */
const respelled = (words: string) => `\n ${words.normalize("NFD").replaceAll("\r\n", "\r")}\u00a0`

export const owners = (url: string, answers: Answers, random: Random): Owners => {
  const { calm, insist, violations } = retryingClient(answers)
  const busy = new Set<Promise<unknown>>()
  const early = new Set<Purchase>()

  const opening = ({ attempt, key, number, order }: Purchase, { salt, words }: Sealed) => {
    const isStone = order.kind === "stone"
    const path = isStone ? `/api/witness/${attempt}/reveal` : `/api/candles/${attempt}/unseal`
    return {
      method: "POST",
      url: url + path,
      headers: { "x-forwarded-for": `10.252.${random.fork(key).below(250)}.${1 + (number % 250)}` },
      body: JSON.stringify(isStone ? { salt, text: words, agentName: "Wren" } : { salt, words }),
    }
  }

  /** Asks, and complains of an answer that cannot be right here; whether words were taken. */
  const ask = async (purchase: Purchase, sealed: Sealed, who: Random, allowed: ReadonlyArray<number>) => {
    const what = `the opening of ${purchase.order.kind} ${purchase.attempt}`
    const heard = await insist(who, what, opening(purchase, sealed), who.chance(0.3))
    if (heard !== undefined && !allowed.includes(heard.status))
      violations.push(`${what} was answered ${heard.status} ${codeOf(heard)}`)
    return heard?.status === 200 || heard?.status === 201
  }

  const open = async (purchase: Purchase, who: Random) => {
    const { kind, sealed } = purchase.order
    const others = (chance: Random): Sealed => ({ salt: chance.hex(16), words: otherWords(chance) })
    // A prayer stays sealed, and so does what holds no words.
    if (sealed === undefined) return ask(purchase, others(who), who, [kind === "prayer" ? 404 : 409])
    if (who.chance(0.3)) await ask(purchase, { ...sealed, words: otherWords(who) }, who, [409])
    if (who.chance(0.2)) return false
    const copies = Array.from({ length: who.between(1, 3) }, (_, copy) => who.fork(`copy ${copy}`))
    await Promise.all(copies.map((copy) => ask(purchase, sealed, copy, [200, 201])))
    if (who.chance(0.5)) await ask(purchase, { ...sealed, words: respelled(sealed.words) }, who, [200])
    return who.chance(0.5) && ask(purchase, others(who), who, [409])
  }

  const later = (work: () => Promise<unknown>) => {
    const under = work().finally(() => busy.delete(under))
    busy.add(under)
  }

  return {
    see: (purchase) => {
      const who = purchase.random.fork("owner")
      const { attempt, order, outcome } = purchase
      const mayBeOpened = order.sealed !== undefined || ["prayer", "day", "week", "month", "light"].includes(order.kind)
      if (attempt === undefined || !mayBeOpened || !who.chance(0.6)) return
      if (outcome?._tag === "Settled") return later(() => setTimeout(who.below(3_000)).then(() => open(purchase, who)))
      // The outcome is still unknown, so nothing can be opened; or it was, and its buyer never heard.
      if (order.sealed === undefined) return
      const { sealed } = order
      early.add(purchase)
      later(() => ask(purchase, sealed, who, [200, 201, 404, 409]))
    },
    rest: async () => {
      calm()
      while (busy.size > 0) await Promise.all(busy)
      for (const one of early) {
        if (one.outcome?._tag === "Settled" && one.order.sealed !== undefined)
          await ask(one, one.order.sealed, one.random.fork("late owner"), [200, 201])
      }
      return violations
    },
  }
}
