/** The signal room's page; the URL fragment decides the room and the state of every part. */
import * as Api from "./api.ts"
import * as Composer from "./composer.ts"
import * as Log from "./log.ts"
import * as Senses from "./senses.ts"
import * as Share from "./share.ts"
import * as View from "./view.ts"
import { nameMaximum, pace } from "../../../schema/room/Limits.ts"
import { find, inTime, lengthOf, say } from "./dom.ts"
import { fragmentOf, type Invite, readInvite } from "./invite.ts"
import { follow } from "./poll.ts"

const composer = find("composer", HTMLFormElement)
const seen = window.visualViewport

/** Scrolls the end of the log into view above the composer, because a reply refers to it. */
const showEnd = () => {
  const end = composer.parentElement?.getBoundingClientRect().bottom ?? 0
  const hidden = end - (seen === null ? window.innerHeight : seen.offsetTop + seen.height)
  if (hidden > 0) window.scrollBy(0, hidden)
}

/** Keeps the composer above an on-screen keyboard; pinch zoom covers nothing. */
const place = ({ type }: Event) => {
  if (seen === null) return
  const covered = seen.scale === 1 ? document.documentElement.clientHeight - seen.height - seen.offsetTop : 0
  composer.style.setProperty("--keyboard", `${Math.max(0, Math.round(covered))}px`)
  if (type === "resize" && composer.contains(document.activeElement)) showEnd()
}

for (const type of ["scroll", "resize"]) seen?.addEventListener(type, place)

let invite: Invite | undefined
let loop: ReturnType<typeof follow> | undefined
/** The room that was made on this page and is not shared yet. */
let made = ""

const retries = [find("loading-retry", HTMLButtonElement), find("state-retry", HTMLButtonElement)]
const canRetry = (can: boolean) => {
  for (const button of retries) button.hidden = !can
}

const question = find("delete-dialog", HTMLDialogElement)

const leave = () => {
  loop?.leave()
  loop = undefined
  invite = undefined
  Senses.hush()
  View.rest()
  Log.clear()
  Composer.reset()
  Share.withdraw()
  question.returnValue = ""
  question.close()
  say("delete-problem", "")
}

/** A room that is over leaves neither its key in the address bar nor its words on the page. */
const end = (code: string) => {
  leave()
  history.replaceState(null, "", location.pathname)
  View.end(code)
}

const enter = (room: Invite) => {
  invite = room
  say("loading-words", "Asking for its latest signals.")
  canRetry(false)
  View.show("loading")
  document.title = "Signal room"
  Share.offer(room, made === room.room)
  loop = follow({
    isVisible: () => document.visibilityState !== "hidden",
    read: (after) => Api.read(room, after),
    answered: (signals, unseen, isHistory) => {
      View.room(signals)
      View.state("well", `Checking every ${pace} seconds.`)
      canRetry(false)
      const isFirst = !View.isShown("room")
      View.show("room")
      Share.offerToAgents(room, signals.room.expiresAt)
      Log.add(unseen, !isHistory, signals.truncated)
      if (isFirst) showEnd()
      const newest = unseen.at(-1)
      if (newest !== undefined && !isHistory) Senses.play(newest)
    },
    failed: (problem, seconds) => {
      const next = seconds === undefined ? "" : ` Trying again in ${inTime(seconds)}.`
      const words = `${Api.reasonOf(problem)}${next}`
      View.state("trouble", words)
      say("loading-words", words)
      canRetry(problem.code !== "RATE_LIMITED")
    },
    over: ({ code }) => end(code),
    resting: () => View.state("resting", "Resting while this page is hidden."),
  })
}

document.addEventListener("visibilitychange", () => loop?.seen())
window.addEventListener("online", () => loop?.wanted())

const route = () => {
  const link = readInvite(location.hash)
  if (typeof link !== "string" && invite?.room === link.room && invite.token === link.token) return
  leave()
  if (link === "broken") return View.end("BROKEN")
  if (link !== "none") return enter(link)
  document.title = "Signal room"
  View.show("start")
}

const createName = find("create-name", HTMLInputElement)
const createButton = find("create-button", HTMLButtonElement)

const create = async () => {
  const name = createName.value.trim()
  if (lengthOf(name) > nameMaximum) return say("create-problem", `A name has at most ${nameMaximum} characters.`)
  say("create-problem", "")
  createButton.setAttribute("aria-disabled", "true")
  const answer = await Api.create(name)
  createButton.removeAttribute("aria-disabled")
  if (!answer.ok)
    return say("create-problem", `No room was made. ${Api.reasonOf(answer.problem)} ${Api.nextOf(answer.problem)}`)
  createName.value = ""
  made = answer.value.room.id
  location.hash = fragmentOf({ room: made, token: answer.value.token })
}

find("create", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault()
  if (createButton.ariaDisabled !== "true") void create()
})

const deleter = find("delete", HTMLButtonElement)

const remove = async (room: Invite) => {
  say("delete-problem", "")
  deleter.setAttribute("aria-disabled", "true")
  const answer = await Api.remove(room)
  deleter.removeAttribute("aria-disabled")
  if (invite !== room) return
  if (answer.ok) return end("DELETED")
  if (Api.isOver(answer.problem)) return end(answer.problem.code)
  say("delete-problem", `Not deleted. ${Api.reasonOf(answer.problem)} ${Api.nextOf(answer.problem)}`)
}

deleter.addEventListener("click", () => {
  question.returnValue = ""
  if (deleter.ariaDisabled !== "true") question.showModal()
})
question.addEventListener("close", () => {
  if (invite !== undefined && question.returnValue === "delete") void remove(invite)
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
  accepted: ({ id }) => {
    Log.own.add(id)
    // The sender wants to see the signal arrive.
    Log.toEnd()
    showEnd()
    loop?.wanted()
  },
  over: ({ code }) => end(code),
})
window.addEventListener("hashchange", route)
// The browser's scroll position belongs to another state of the page.
history.scrollRestoration = "manual"
route()
