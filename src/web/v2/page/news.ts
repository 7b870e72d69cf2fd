/** Says how many acts were settled since the page was loaded; the reader decides when to see them. */
import { all, make } from "./dom.ts"
import { ask, part } from "./http.ts"

/** Milliseconds between two requests, and the maximum while there is no answer. */
const beat = 20_000
const longest = 300_000

/** Acts of one answer. */
const most = 50

const watch = (place: HTMLElement) => {
  const known = place.dataset["news"] ?? ""
  let misses = 0
  const look = async () => {
    const { body } = await ask(`/api/acts?limit=${most}`)
    const acts: ReadonlyArray<unknown> = Array.isArray(body["acts"]) ? body["acts"] : []
    const at = acts.findIndex((act) => part(act, "id") === known)
    const count = at === -1 ? acts.length : at
    if (count === 0) return
    const words = `${count}${at === -1 && count === most ? " or more" : ""} new ${count === 1 ? "act" : "acts"}: show`
    if (place.textContent !== words) place.replaceChildren(make("a", { href: "" }, words))
  }
  const plan = () =>
    setTimeout(
      async () => {
        if (!document.hidden && navigator.onLine)
          misses = await look().then(
            () => 0,
            () => misses + 1,
          )
        plan()
      },
      Math.min(longest, beat * 2 ** misses),
    )
  plan()
}

export const start = () => {
  for (const place of all("[data-news]", HTMLElement)) watch(place)
}
