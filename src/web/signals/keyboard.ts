/** Keeps the composer above an on-screen keyboard, whether that overlays the page or shrinks the window. */
import { find } from "./dom.ts"

const composer = find("composer", HTMLFormElement)
const seen = window.visualViewport

/** Covered pixels of the window; pinch zoom covers nothing. */
const covered = () =>
  seen?.scale === 1 ? Math.max(0, Math.round(document.documentElement.clientHeight - seen.height - seen.offsetTop)) : 0

/** Scrolls the end of the log into view above the composer, because a reply refers to it. */
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
