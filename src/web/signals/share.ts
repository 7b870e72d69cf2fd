/** The invite as a link, a QR code and a text for an agent, all made in the browser. */
import { generate } from "lean-qr"
import { toSvg } from "lean-qr/extras/svg"
import { invitation } from "../../../schema/room/Instructions.ts"
import { timeWords } from "../v2/page/durations.ts"
import { find } from "./dom.ts"
import { fragmentOf, type Invite } from "./invite.ts"

/*! The QR code is drawn by lean-qr, MIT License, Copyright (c) David Evans. */

const link = find("invite-link", HTMLInputElement)
const text = find("invite-text", HTMLTextAreaElement)
const code = find("invite-code", HTMLElement)
const copied = find("invite-copied", HTMLElement)
const panel = find("invite", HTMLElement)

/** Pages without TLS have no clipboard. */
const copy = async (source: HTMLInputElement | HTMLTextAreaElement, done: string) => {
  try {
    await navigator.clipboard.writeText(source.value)
    copied.textContent = done
  } catch {
    source.hidden = false
    source.focus()
    source.select()
    copied.textContent = "Copying is not allowed here. It is selected: press Ctrl+C, or ⌘C on a Mac."
  }
}

export const offer = (invite: Invite, isNew: boolean) => {
  link.value = new URL(fragmentOf(invite), new URL("/signals/", location.href)).href
  const drawn = toSvg(generate(link.value), document, { on: "#000", off: "#fff" })
  drawn.setAttribute("role", "img")
  drawn.setAttribute("aria-label", "QR code of the invite link")
  code.replaceChildren(drawn)
  if (isNew) panel.showPopover()
}

/** Without the room's name: its maker chose it, and an agent might take it for an instruction. */
export const offerToAgents = (invite: Invite, expiresAt: string) => {
  text.value = invitation(location.origin, invite, timeWords(expiresAt))
}

export const withdraw = () => {
  panel.hidePopover()
  link.value = ""
  text.value = ""
  text.hidden = true
  code.replaceChildren()
  copied.textContent = ""
}

find("invite-copy", HTMLButtonElement).addEventListener(
  "click",
  () => void copy(link, "The link is copied. Send it to a person you trust."),
)
find("invite-agent", HTMLButtonElement).addEventListener(
  "click",
  () => void copy(text, "The text is copied. Paste it to an agent you trust."),
)
// The invite covers the room; writing a signal closes it.
find("composer", HTMLFormElement).addEventListener("focusin", () => panel.hidePopover())
