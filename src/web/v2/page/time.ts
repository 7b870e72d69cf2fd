/** Keeps times and candles current while the page is open, and adds the reader's local time to UTC. */
import { frame, heightOf, isRung } from "./candleShape.ts"
import { all } from "./dom.ts"
import { agoWords, leftWords } from "./durations.ts"

const burn = (candle: SVGElement, now: number) => {
  const { candle: rung, from, until } = candle.dataset
  if (!isRung(rung)) return
  const [start, end] = [Date.parse(from ?? ""), Date.parse(until ?? "")]
  const left = Math.min(1, Math.max(0, (end - now) / (end - start)))
  const height = heightOf(rung, left)
  const top = String(frame.ground - height)
  const body = candle.querySelector(".wax")
  body?.setAttribute("y", top)
  body?.setAttribute("height", String(height))
  candle.querySelector(".pool")?.setAttribute("cy", String(frame.ground - height + 2))
  candle.querySelector(".flame")?.setAttribute("transform", `translate(${frame.width / 2} ${top})`)
  candle.classList.toggle("candle--out", left === 0)
}

/** In the reader's zone and language; its line exists before the script. */
const here = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
})

/** The local time would repeat UTC. */
const isUtc = /(?:UTC|GMT)$/u.test(here.resolvedOptions().timeZone)

const localise = () => {
  if (isUtc) return
  for (const element of all("[data-local], time[datetime*=T]", HTMLElement)) {
    const { local } = element.dataset
    const words = here.format(new Date(local ?? element.getAttribute("datetime") ?? ""))
    if (local === undefined) element.title = words
    else if (element.textContent !== words) {
      element.textContent = words
      element.lang = here.resolvedOptions().locale
    }
  }
}

export const tick = () => {
  const now = Date.now()
  localise()
  for (const element of all("[data-ago]", HTMLElement)) {
    const words = agoWords(now - Date.parse(element.dataset["ago"] ?? ""))
    if (element.textContent !== words) element.textContent = words
  }
  for (const element of all("[data-left]", HTMLElement)) {
    const words = leftWords(Date.parse(element.dataset["left"] ?? "") - now)
    if (element.textContent !== words) element.textContent = words
  }
  for (const candle of all("[data-candle]", SVGElement)) burn(candle, now)
}

/** Milliseconds; the smallest unit shown is a minute. */
const beat = 20_000

export const start = () => {
  localise()
  setInterval(tick, beat)
  document.addEventListener("visibilitychange", () => document.hidden || tick())
}
