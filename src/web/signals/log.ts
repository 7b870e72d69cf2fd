/** The signals of a room, oldest first. A reader of older ones is not scrolled, but told of new ones. */
import { retained } from "../../../schema/room/Limits.ts"
import type { Message } from "./api.ts"
import { make } from "../v2/page/dom.ts"
import { drawing, find, timeOf } from "./dom.ts"
import { patterns } from "./patterns.ts"

const log = find("log", HTMLElement)
const list = find("log-list", HTMLElement)
const missed = find("missed", HTMLElement)
const later = find("later", HTMLButtonElement)

/** New signals while the reader looks at older ones. */
let unread = 0

/** Pixels from the end within which the log follows new signals. */
const near = 48

const isAtEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < near

const count = (signals: number) => {
  unread = signals
  later.hidden = unread === 0
  if (unread > 0) later.textContent = unread === 1 ? "1 new signal" : `${unread} new signals`
}

export const toEnd = () => {
  log.scrollTop = log.scrollHeight
  count(0)
}

/** The ids of the signals that this page sent. */
export const own = new Set<string>()

const entry = ({ createdAt, id, mode, sender, senderKind, text }: Message) =>
  make(
    "li",
    { class: `signal ${mode}` },
    drawing(mode),
    make(
      "div",
      {},
      make(
        "p",
        { class: "signal__meta small" },
        make("bdi", { class: "signal__from" }, sender),
        " ",
        make("span", { class: "tag" }, own.has(id) ? `${senderKind}, you` : senderKind),
        " ",
        make("span", { class: "signal__mode" }, patterns[mode].word),
        " ",
        make("time", { datetime: createdAt }, timeOf(createdAt)),
      ),
      make("p", { class: "signal__text", dir: "auto" }, text),
    ),
  )

/** Keeps the last signal in place during a change above it; not every browser anchors the scroll position. */
const inPlace = (change: () => void) => {
  const last = list.lastElementChild
  const before = last?.getBoundingClientRect().top ?? 0
  change()
  if (last !== null) log.scrollTop += last.getBoundingClientRect().top - before
}

const trim = () =>
  inPlace(() => {
    while (list.childElementCount > retained) list.firstElementChild?.remove()
  })

/** Adds signals at the end; history is added silently, news is announced politely. */
export const add = (messages: ReadonlyArray<Message>, isNews: boolean, isTruncated: boolean) => {
  if (messages.length === 0) return
  log.ariaLive = isNews ? "polite" : "off"
  const follows = !isNews || isAtEnd()
  inPlace(() => {
    list.append(...messages.map(entry))
    missed.hidden = !isTruncated
    find("empty", HTMLElement).hidden = true
  })
  if (follows) toEnd()
  else count(unread + messages.length)
  // Removal waits a frame: together with the addition, signals would jump instead of scroll.
  requestAnimationFrame(() => requestAnimationFrame(trim))
}

export const clear = () => {
  log.ariaLive = "off"
  list.replaceChildren()
  missed.hidden = true
  find("empty", HTMLElement).hidden = false
  count(0)
}

log.addEventListener("scroll", () => isAtEnd() && count(0))
later.addEventListener("click", () => {
  toEnd()
  log.focus({ preventScroll: true })
})
