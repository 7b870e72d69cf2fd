/** While somebody looks, the altar is asked whether anything changed; only then the page is fetched again. */
import { all } from "./dom.ts"
import { paying } from "./load.ts"

/** Milliseconds between two questions, and at most where no answer comes. */
const beat = 10_000
const longest = 300_000

export const start = () => {
  // What changes with what the page shows; asked in turn, for their ETags alone.
  const paths = all("[data-live]", HTMLElement).flatMap(({ dataset }) => dataset["live"]?.split(" ") ?? [])
  const tags = new Map<string, string>()
  let [turn, wait, due, isAsking] = [0, 0, 0, false]
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Whether the altar answered, and the page is as new as its answer. */
  const ask = async (path: string): Promise<boolean> => {
    const known = tags.get(path)
    const answer = await fetch(path, {
      method: "HEAD",
      cache: "no-store",
      headers: known === undefined ? {} : { "if-none-match": known },
      signal: AbortSignal.timeout(beat),
    })
    if (answer.status === 304) return true
    const tag = answer.headers.get("etag")
    if (!answer.ok || tag === null) return false
    if (known !== undefined && !(await (await paying()).renew())) return false
    tags.set(path, tag)
    return true
  }

  const plan = () => {
    clearTimeout(timer)
    if (!isAsking && !document.hidden && navigator.onLine)
      timer = setTimeout(() => void look(), Math.max(0, due - Date.now()))
  }

  const look = async () => {
    isAsking = true
    const isAnswered = await ask(paths[turn++ % paths.length] ?? "").catch(() => false)
    // At first each is asked for once: the page is as new as they are.
    const pause = tags.size < paths.length ? 0 : beat
    wait = isAnswered ? pause : Math.min(longest, Math.max(beat, 2 * wait))
    due = Date.now() + wait
    isAsking = false
    plan()
  }

  if (paths.length === 0) return
  plan()
  document.addEventListener("visibilitychange", plan)
  for (const change of ["online", "offline"]) addEventListener(change, plan)
}
