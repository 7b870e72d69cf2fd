/** What the page shows in each of its states, every word of it as text. */
import { elsewhere, type Message, type Problem } from "./api.ts"
import { drawing, find, inTime, make } from "./dom.ts"
import { inWords, patterns } from "./patterns.ts"

const states = {
  start: [find("start", HTMLElement), find("start-title", HTMLElement)],
  loading: [find("loading", HTMLElement), find("loading-title", HTMLElement)],
  room: [find("room", HTMLElement), find("room-name", HTMLElement)],
  ended: [find("ended", HTMLElement), find("ended-title", HTMLElement)],
} as const

export type State = keyof typeof states
let present: State | undefined

/** Shows one state; whoever moves by keyboard or by ear goes on at its heading. */
export const show = (state: State) => {
  if (present === state) return
  for (const [name, [section]] of Object.entries(states)) section.hidden = name !== state
  if (present !== undefined) states[state][1].focus({ preventScroll: true })
  if (present !== undefined) window.scrollTo(0, 0)
  present = state
}

export const isShown = (state: State) => present === state

/** How a room can be over for its visitor, and what there is to do. */
const endings = {
  DELETED: ["The room is deleted", "Its signals are gone and the invite no longer works, here or anywhere."],
  NOT_FOUND: [
    "There is no such room",
    "It was deleted, or it ended and was cleared away. If you expected one, ask whoever invited you for a new link.",
  ],
  EXPIRED: ["This room has ended", "Rooms last exactly seven days. Its signals are removed and cannot be read again."],
  UNAUTHORIZED: [
    "This invite does not open the room",
    "The key in the link is not this room's. Open the whole link again, exactly as you received it.",
  ],
  BROKEN: [
    "This invite is incomplete",
    "Part of the link is missing or was changed on the way. Copy the whole link again and open it.",
  ],
} as const

export type Ending = keyof typeof endings

const isEnding = (code: string): code is Ending => code in endings

export const end = (code: string) => {
  const [title, words] = endings[isEnding(code) ? code : "NOT_FOUND"]
  find("ended-title", HTMLElement).textContent = title
  find("ended-words", HTMLElement).textContent = words
  document.title = `${title} · Signal room`
  show("ended")
}

/** What a refusal means to whoever waits, and when it is tried again. */
export const trouble = ({ code, message }: Problem, seconds: number | undefined) => {
  const next = seconds === undefined ? "" : ` Trying again in ${inTime(seconds)}.`
  switch (code) {
    case "OFFLINE":
      return `No connection to the room.${next}`
    case "RATE_LIMITED":
      return `Too many requests from your network.${next}`
    case "INTERNAL":
      return `The room has a problem of its own.${next}`
    case "FORBIDDEN":
      return elsewhere
    default:
      return `${message}${next}`
  }
}

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" })
const times = new Intl.DateTimeFormat(undefined, { timeStyle: "short" })

export const room = (name: string, expiresAt: string, serverTime: string) => {
  const heading = find("room-name", HTMLElement)
  if (heading.textContent !== name) heading.textContent = name
  const left = (Date.parse(expiresAt) - Date.parse(serverTime)) / 1000
  const ends = find("room-ends", HTMLTimeElement)
  ends.dateTime = expiresAt
  ends.textContent = `${dates.format(new Date(expiresAt))}, in ${inTime(left)}`
  document.title = `${name} · Signal room`
}

/** Live regions speak whenever they are written, so only what changed is written. */
export const say = (id: string, words: string) => {
  const element = find(id, HTMLElement)
  if (element.textContent !== words) element.textContent = words
}

/** How the room is reached at this moment: the mark beside the words has a shape for each. */
export const state = (how: "well" | "resting" | "trouble", words: string) => {
  find("state", HTMLElement).className = `state state--${how} small`
  say("state", words)
}

const log = find("log", HTMLElement)
const list = find("log-list", HTMLElement)
/** As many as the room itself keeps. */
const kept = 50

const entry = ({ createdAt, mode, sender, senderKind, text }: Message) => {
  const time = make("time", "", times.format(new Date(createdAt)))
  time.dateTime = createdAt
  const meta = make("p", "signal__meta small", make("bdi", "signal__from", sender), " ")
  meta.append(make("span", "tag", senderKind), " ", make("span", "signal__mode", patterns[mode].word), " ", time)
  const line = make("p", "signal__text", text)
  line.dir = "auto"
  return make("li", `signal signal--${mode}`, drawing(mode), make("div", "", meta, line))
}

/** Adds signals at the end; history is added silently, news is read out politely. */
export const add = (messages: ReadonlyArray<Message>, isNews: boolean) => {
  log.ariaLive = isNews ? "polite" : "off"
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 48
  list.append(...messages.map(entry))
  while (list.childElementCount > kept) list.firstElementChild?.remove()
  find("empty", HTMLElement).hidden = list.childElementCount > 0
  log.hidden = list.childElementCount === 0
  if (isAtEnd || !isNews) log.scrollTop = log.scrollHeight
}

export const clear = () => {
  log.ariaLive = "off"
  list.replaceChildren()
  add([], false)
  rest()
  find("missed", HTMLElement).hidden = true
}

const lamp = find("lamp", HTMLElement)

const rest = () => {
  lamp.className = "lamp"
  find("lamp-glyph", HTMLElement).replaceChildren(drawing("rest"))
  say("lamp-mode", "The lamp rests")
  say("lamp-from", "The next signal shows here.")
}

/** The lamp's steady part: glyph, word, rhythm and sender say all that light and sound do. */
export const light = ({ mode, sender, senderKind }: Message) => {
  lamp.className = `lamp lamp--${mode}`
  find("lamp-glyph", HTMLElement).replaceChildren(drawing(mode))
  say("lamp-mode", inWords(mode))
  find("lamp-from", HTMLElement).replaceChildren("From ", make("bdi", "", sender), `, ${senderKind}`)
}
