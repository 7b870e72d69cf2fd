/** While the page is visible, asks the altar for changes by ETag; only a change renews the page. */
import { all } from "./dom.ts"
import { paying } from "../pay/paying.ts"

/** Milliseconds between two requests, and the maximum without an answer. */
const beat = 10_000
const longest = 300_000

export const start = () => {
  // The paths that the page depends on, requested in turn for their ETags alone.
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
      timer = setTimeout(() => void poll(one), Math.max(0, Math.max(due, one.due) - Date.now()))
  }

  const pause = (missed: number) => Math.min(longest, beat * 2 ** (missed - 1))

  const poll = async (one: (typeof asked)[number]) => {
    isAsking = true
    const isAnswered = await ask(one).catch(() => false)
    one.misses = isAnswered ? 0 : one.misses + 1
    misses = isAnswered ? 0 : misses + 1
    const now = Date.now()
    // A failing path backs off alone; when none answers, all do.
    one.due = isAnswered ? now : now + pause(one.misses)
    // Each path is asked for once at first, to learn its tag.
    due = now + (isAnswered ? (asked.some((other) => other.due === 0) ? 0 : beat) : pause(misses))
    isAsking = false
    plan()
  }

  if (asked.length === 0) return
  plan()
  document.addEventListener("visibilitychange", plan)
  for (const change of ["online", "offline"]) addEventListener(change, plan)
}
