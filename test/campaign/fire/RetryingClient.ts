/** Clients who repeat a request until it has an answer, and complain when they never hear one. */
import { setTimeout } from "node:timers/promises"
import type { Answers, HttpRequest, HttpAnswer } from "../../lab/buyer/Answers.ts"
import type { Random } from "../../lab/Random.ts"

/** Milliseconds until a request without an answer is given up, once all is well. */
const patience = 30_000

export const retryingClient = (answers: Answers) => {
  let end = Infinity
  const violations: Array<string> = []
  return {
    /** The needless refusals, and the outcomes that stayed unknown. */
    violations,
    /** All is well from now on. */
    calm: () => (end = performance.now() + patience),
    /** A client in a hurry repeats its request before it can have an answer. */
    insist: async (
      who: Random,
      what: string,
      asked: HttpRequest,
      isHurried = false,
    ): Promise<HttpAnswer | undefined> => {
      let hurries = isHurried
      while (performance.now() < end) {
        const heard = await answers.ask(asked, hurries ? who.between(5, 300) : 15_000)
        hurries = false
        if (heard !== undefined && heard.status < 500 && heard.status !== 429) return heard
        const wait = Number(heard?.headers["retry-after"] ?? "0") * 1000
        await setTimeout(Math.min(2_500, Math.max(wait, who.between(100, 600))))
      }
      violations.push(`what became of ${what} stays unknown`)
      return undefined
    },
  }
}
