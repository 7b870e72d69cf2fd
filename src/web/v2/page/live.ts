/** While somebody looks, the altar is asked whether anything changed; only then the page is fetched again. */
import { all } from "./dom.ts"
import { paying } from "../pay/paying.ts"

/** Milliseconds between two questions, and at most where no answer comes. */
const beat = 10_000
const longest = 300_000

export const start = () => {
  // What changes with what the page shows; the one that was asked longest ago is next, for its ETag alone.
  const asked = all("[data-live]", HTMLElement)
    .flatMap(({ dataset }) => dataset["live"]?.split(" ") ?? [])
    .map((path) => ({ path, tag: "", misses: 0, due: 0 }))
  let [misses, due, isAsking] = [0, 0, false]
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Whether the altar answered, and the page is as new as its answer. */
  const ask = async (one: (typeof asked)[number]): Promise<boolean> => {
    const answer = await fetch(one.path, {
      method: "HEAD",
      cache: "no-store",
      headers: one.tag === "" ? {} : { "if-none-match": one.tag },
      signal: AbortSignal.timeout(beat),
    })
    if (answer.status === 304) return true
    const tag = answer.headers.get("etag")
    if (!answer.ok || tag === null) return false
    if (one.tag !== "" && !(await (await paying()).renew())) return false
    one.tag = tag
    return true
  }

  const plan = () => {
    clearTimeout(timer)
    const one = asked.reduce((first, other) => (other.due < first.due ? other : first))
    if (!isAsking && !document.hidden && navigator.onLine)
      timer = setTimeout(() => void look(one), Math.max(0, Math.max(due, one.due) - Date.now()))
  }

  const pause = (missed: number) => Math.min(longest, beat * 2 ** (missed - 1))

  const look = async (one: (typeof asked)[number]) => {
    isAsking = true
    const isAnswered = await ask(one).catch(() => false)
    one.misses = isAnswered ? 0 : one.misses + 1
    misses = isAnswered ? 0 : misses + 1
    const now = Date.now()
    // One that fails waits longer by itself; where none answers, all of them do.
    one.due = isAnswered ? now : now + pause(one.misses)
    // At first each is asked for once: the page is as new as they are.
    due = now + (isAnswered ? (asked.some((other) => other.due === 0) ? 0 : beat) : pause(misses))
    isAsking = false
    plan()
  }

  if (asked.length === 0) return
  plan()
  document.addEventListener("visibilitychange", plan)
  for (const change of ["online", "offline"]) addEventListener(change, plan)
}
