/** The composer: sends a signal once however often Send is pressed, and keeps its words until the room has them. */
import { senderMaximum, textMaximum } from "../../../schema/room/Limits.ts"
import { randomHex } from "../../buyer/core/Digest.ts"
import * as Api from "./api.ts"
import { find, inTime, lengthOf, say } from "./dom.ts"
import type { Invite } from "./invite.ts"
import { recall, remember } from "./memory.ts"
import { modes } from "./patterns.ts"

const form = find("composer", HTMLFormElement)
const sender = find("sender", HTMLInputElement)
const text = find("text", HTMLInputElement)
const send = find("send", HTMLButtonElement)

const chosen = (name: string) => form.querySelector<HTMLInputElement>(`input[name=${name}]:checked`)?.value

const written = () => ({
  sender: sender.value.trim(),
  senderKind: chosen("kind") === "agent" ? ("agent" as const) : ("person" as const),
  text: text.value.trim(),
  mode: modes.find((mode) => mode === chosen("mode")) ?? "calm",
})

/** The same content keeps its clientId until it is accepted, so that a resend is the same message. */
let attempt = { content: "", clientId: "" }

const clientIdOf = (content: string) => {
  if (attempt.content !== content) attempt = { content, clientId: randomHex(16) }
  return attempt.clientId
}

/** The outcome of pressing Send; a field at fault gets the focus. */
const tell = (problem: string, field?: HTMLInputElement) => {
  find("send-problem", HTMLElement).textContent = problem
  find("sent", HTMLElement).textContent = ""
  for (const each of [sender, text]) each.toggleAttribute("aria-invalid", false)
  field?.setAttribute("aria-invalid", "true")
  field?.focus()
}

const complaint = (
  message: ReturnType<typeof written>,
): readonly [words: string, field: HTMLInputElement] | undefined => {
  if (message.sender === "") return ["Write your name first, so that others know who sends.", sender]
  if (lengthOf(message.sender) > senderMaximum) return [`A name has at most ${senderMaximum} characters.`, sender]
  if (message.text === "") return ["Write a line to send.", text]
  if (lengthOf(message.text) > textMaximum) return [`A signal has at most ${textMaximum} characters.`, text]
  return undefined
}

const failed = (problem: Api.Problem) => {
  const reason = Api.reasonOf(problem)
  if (Api.isUnknown(problem))
    return `Not confirmed. ${reason} Your words are still here; press Send again, it will not arrive twice.`
  const { retryAfter } = problem
  return `Not sent. ${reason}${retryAfter > 0 ? ` You can send again in ${inTime(retryAfter)}.` : ""}`
}

const counted = () => {
  const length = lengthOf(text.value)
  say("text-count", length === 0 ? "" : `${length} of ${textMaximum}`)
  find("text-count", HTMLElement).classList.toggle("problem", length > textMaximum)
}

export interface Sending {
  readonly invite: () => Invite | undefined
  readonly accepted: (message: Api.Message) => void
  readonly over: (problem: Api.Problem) => void
}

export const connect = ({ accepted, invite, over }: Sending) => {
  const { kind = "person", name = "" } = recall()
  sender.value = name
  for (const radio of form.querySelectorAll<HTMLInputElement>("input[name=kind]")) radio.checked = radio.value === kind
  text.addEventListener("input", counted)
  form.addEventListener("input", () => tell(""))

  const submit = async (room: Invite) => {
    const message = written()
    const complained = complaint(message)
    if (complained !== undefined) return tell(...complained)
    remember({ name: message.sender, kind: message.senderKind })
    send.setAttribute("aria-disabled", "true")
    const answer = await Api.send(room, { ...message, clientId: clientIdOf(JSON.stringify(message)) })
    send.removeAttribute("aria-disabled")
    if (invite() !== room) return
    if (!answer.ok) {
      if (Api.isOver(answer.problem)) return over(answer.problem)
      if (answer.problem.code === "CONFLICT") attempt = { content: "", clientId: "" }
      return tell(failed(answer.problem))
    }
    // Text typed during the request is the next signal.
    if (text.value.trim() === message.text) text.value = ""
    attempt = { content: "", clientId: "" }
    counted()
    tell("")
    say("sent", "Sent.")
    text.focus()
    accepted(answer.value.message)
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const room = invite()
    if (room !== undefined && send.ariaDisabled !== "true") void submit(room)
  })
}

/** Clears the words of one room before the next. */
export const reset = () => {
  text.value = ""
  attempt = { content: "", clientId: "" }
  counted()
  tell("")
}
