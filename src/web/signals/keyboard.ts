/** The composer stays above an on-screen keyboard, whether that lies over the page or makes the window smaller. */
import { find } from "./dom.ts"

const composer = find("composer", HTMLFormElement)
const seen = window.visualViewport

/** Pixels of the window that something lies over; enlarging with two fingers covers nothing. */
const covered = () =>
  seen?.scale === 1 ? Math.max(0, Math.round(document.documentElement.clientHeight - seen.height - seen.offsetTop)) : 0

/** Brings the end of the log into view, above the composer: whoever answers wants to see what is answered. */
export const showEnd = () => {
  const end = composer.parentElement?.getBoundingClientRect().bottom ?? 0
  const hidden = end - (seen === null ? window.innerHeight : seen.offsetTop + seen.height)
  if (hidden > 0) window.scrollBy(0, hidden)
}

const place = () => composer.style.setProperty("--keyboard", `${covered()}px`)

seen?.addEventListener("scroll", place)
seen?.addEventListener("resize", () => {
  place()
  if (composer.contains(document.activeElement)) showEnd()
})
