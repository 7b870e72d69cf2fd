/** The signal room's page; the URL fragment decides the room and the state of every part. */
import * as Api from "./api.ts"
import * as Composer from "./composer.ts"
import * as Log from "./log.ts"
import * as Senses from "./senses.ts"
import * as Share from "./share.ts"
import * as View from "./view.ts"
import { nameMaximum, pace } from "../../../schema/room/Limits.ts"
import { find, inTime, lengthOf } from "./dom.ts"
import { fragmentIn, fragmentOf, type Invite, readInvite } from "./invite.ts"
import { follow, type Loop } from "./loop.ts"
import { felt, unseen } from "./poll.ts"

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

let invite: Invite | undefined
let loop: Loop | undefined
/** The room that was made on this page and is not shared yet. */
let made = ""

const retries = [find("loading-retry", HTMLButtonElement), find("state-retry", HTMLButtonElement)]
const canRetry = (can: boolean) => {
  for (const button of retries) button.hidden = !can
}

const leave = () => {
  loop?.leave()
  loop = undefined
  invite = undefined
  Senses.hush()
  View.clear()
  Composer.reset()
  Share.withdraw()
  find("confirm", HTMLDialogElement).close()
}

/** A room that is over leaves neither its key in the address bar nor its words on the page. */
const end = (code: string) => {
  leave()
  history.replaceState(null, "", location.pathname)
  View.end(code)
}

const enter = (room: Invite) => {
  invite = room
  View.say("loading-words", "Asking for its latest signals.")
  canRetry(false)
  View.show("loading")
  document.title = "Signal room"
  Share.offer(room, made === room.room)
  loop = follow(room, {
    answered: (signals, before) => {
      View.room(signals.room.name, signals.room.expiresAt, signals.serverTime)
      View.state("well", `Checking every ${pace} seconds.`)
      canRetry(false)
      const isFirst = !View.isShown("room")
      View.show("room")
      Share.offerToAgents(room, signals.room.expiresAt)
      Log.add(unseen(before, signals), before.joined, signals.truncated)
      if (isFirst) showEnd()
      const message = felt(before, signals)
      if (message !== undefined) Senses.play(message)
    },
    refused: (problem, seconds) => {
      if (seconds === undefined) return end(problem.code)
      const words = View.problem(problem, seconds)
      View.state("trouble", words)
      View.say("loading-words", words)
      canRetry(problem.code !== "RATE_LIMITED")
    },
    resting: () => View.state("resting", "Resting while this page is hidden."),
  })
}

const route = () => {
  const found = readInvite(location.hash)
  if (typeof found !== "string" && invite?.room === found.room && invite.token === found.token) return
  leave()
  if (found === "broken") return View.end("BROKEN")
  if (found !== "none") return enter(found)
  document.title = "Signal room"
  View.show("start")
}

const createName = find("create-name", HTMLInputElement)
const createButton = find("create-button", HTMLButtonElement)

const creationTrouble = {
  limited: (why: string, seconds: number) => `No new room yet. ${why}. Try again in ${inTime(seconds)}.`,
  offline: "No connection, so no room. Check your network and press the button again.",
  away: "No room was made: the server cannot answer now. Press the button again in a moment.",
  refused: (why: string) => `No room was made. ${why}`,
}

const create = async () => {
  const name = createName.value.trim()
  if (lengthOf(name) > nameMaximum) return View.say("create-problem", `A name has at most ${nameMaximum} characters.`)
  View.say("create-problem", "")
  createButton.setAttribute("aria-disabled", "true")
  const answer = await Api.create(name)
  createButton.removeAttribute("aria-disabled")
  if (!answer.ok) return View.say("create-problem", Api.explained(answer.problem, creationTrouble))
  createName.value = ""
  made = answer.value.room.id
  location.hash = fragmentOf({ room: made, token: answer.value.token })
}

find("create", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault()
  if (createButton.ariaDisabled !== "true") void create()
})

find("join", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault()
  const link = find("join-link", HTMLInputElement)
  const fragment = fragmentIn(link.value)
  if (typeof readInvite(fragment) === "string") {
    View.say("join-problem", "This is not a whole invite. It ends with #room=… and &token=…")
    link.focus()
    return
  }
  View.say("join-problem", "")
  link.value = ""
  location.hash = fragment
})

const confirm = find("confirm", HTMLDialogElement)
const confirmed = find("confirm-yes", HTMLButtonElement)

const remove = async (room: Invite) => {
  confirmed.setAttribute("aria-disabled", "true")
  const answer = await Api.remove(room)
  confirmed.removeAttribute("aria-disabled")
  if (invite !== room) return
  if (answer.ok) return end("DELETED")
  if (Api.isOver(answer.problem)) return end(answer.problem.code)
  const wait = answer.problem.retryAfter
  const next = wait > 0 ? `Try again in ${inTime(wait)}.` : "Press the button again; a room is deleted only once."
  View.say("confirm-problem", `Not deleted. ${View.problem(answer.problem, undefined)} ${next}`)
}

find("delete", HTMLButtonElement).addEventListener("click", () => {
  View.say("confirm-problem", "")
  confirm.showModal()
})
find("confirm-no", HTMLButtonElement).addEventListener("click", () => confirm.close())
confirmed.addEventListener("click", () => {
  if (invite !== undefined && confirmed.ariaDisabled !== "true") void remove(invite)
})

for (const button of retries) button.addEventListener("click", () => loop?.wanted())

// The fragment belongs to the room, so these two links do not set one.
const main = find("main", HTMLElement)
main.tabIndex = -1
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault()
  main.focus()
})
find("ended-again", HTMLAnchorElement).addEventListener("click", (event) => {
  event.preventDefault()
  history.replaceState(null, "", location.pathname)
  route()
})

Composer.connect({
  invite: () => invite,
  accepted: () => {
    // The sender wants to see the signal arrive.
    Log.toEnd()
    loop?.wanted()
  },
  over: ({ code }) => end(code),
})
window.addEventListener("hashchange", route)
// The browser's scroll position belongs to another state of the page.
history.scrollRestoration = "manual"
route()
