/** Shows the page's states; every text is set as text. */
import { lifetimeDays } from "../../../schema/room/Limits.ts"
import { make } from "../v2/page/dom.ts"
import type { Message, Signals } from "./api.ts"
import { drawing, endOf, find, inTime, say } from "./dom.ts"
import { patterns } from "./patterns.ts"

const states = {
  start: "start-title",
  loading: "loading-title",
  room: "room-name",
  ended: "ended-title",
} as const

type State = keyof typeof states
let present: State | undefined

export const isShown = (state: State) => present === state

/** Shows one state and moves the focus to its heading, for keyboard and screen reader. */
export const show = (state: State) => {
  if (present === state) return
  for (const name of Object.keys(states)) find(name, HTMLElement).hidden = name !== state
  if (present !== undefined) {
    find(states[state], HTMLElement).focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }
  present = state
}

/** The ways a room can be over for its visitor, with the next step. */
const endings: Readonly<Record<string, readonly [title: string, words: string]>> = {
  DELETED: ["The room is deleted", "Its signals are gone and the invite no longer works, here or anywhere."],
  NOT_FOUND: [
    "There is no such room",
    "It was deleted, it ended, or the link was changed on the way. If you expected one, ask for a new invite link.",
  ],
  EXPIRED: [
    "This room has ended",
    `Rooms last exactly ${lifetimeDays} days. Its signals are removed and cannot be read again.`,
  ],
  UNAUTHORIZED: [
    "This invite does not open the room",
    "The key in the link is not this room's. Open the whole link again, exactly as you received it.",
  ],
  BROKEN: [
    "This invite is incomplete",
    "Part of the link is missing or was changed on the way. Copy the whole link again and open it.",
  ],
}

export const end = (code: string) => {
  const [title, words] = endings[code] ?? ["This room is over", ""]
  say("ended-title", title)
  say("ended-words", words)
  document.title = `${title} · Signal room`
  show("ended")
}

export const room = ({ room: { expiresAt, name }, serverTime }: Signals) => {
  say("room-name", name)
  find("room-ends", HTMLTimeElement).dateTime = expiresAt
  say("room-ends", endOf(expiresAt))
  say("room-left", `, in ${inTime((Date.parse(expiresAt) - Date.parse(serverTime)) / 1000)}`)
  document.title = `${name} · Signal room`
}

/** The state of the connection; the mark beside the words has a shape for each. */
export const state = (how: "well" | "resting" | "trouble", words: string) => {
  find("state", HTMLElement).className = `state state--${how} small`
  say("state", words)
}

const lamp = find("lamp", HTMLElement)

export const rest = () => {
  lamp.className = "lamp"
  find("lamp-glyph", HTMLElement).replaceChildren(drawing("rest"))
  say("lamp-mode", "The lamp rests")
  say("lamp-from", "The next signal shows here.")
}

/** The lamp's steady part: glyph, word, rhythm and sender repeat everything that light and sound say. */
export const light = ({ mode, sender, senderKind }: Message) => {
  lamp.className = `lamp ${mode}`
  find("lamp-glyph", HTMLElement).replaceChildren(drawing(mode))
  say("lamp-mode", `${patterns[mode].word}, ${patterns[mode].rhythm}`)
  find("lamp-from", HTMLElement).replaceChildren("From ", make("bdi", {}, sender), `, ${senderKind}`)
}
