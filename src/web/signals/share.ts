/** The invite as a link to copy and as a code to scan; both are made here and leave the page only by hand. */
import { generate } from "lean-qr"
import { toSvg } from "lean-qr/extras/svg"
import { find } from "./dom.ts"
import { fragmentOf, type Invite } from "./invite.ts"

/*! The QR code is drawn by lean-qr, MIT License, Copyright (c) David Evans. */

const link = find("invite-link", HTMLInputElement)
const code = find("invite-code", HTMLElement)
const copied = find("invite-copied", HTMLElement)
const panel = find("invite", HTMLDetailsElement)

/** Pages without TLS have no clipboard. */
const copy = async () => {
  try {
    await navigator.clipboard.writeText(link.value)
    copied.textContent = "Copied. Send it to somebody you trust."
  } catch {
    link.focus()
    link.select()
    copied.textContent = "Copying is not allowed here. The link is selected: press Ctrl+C, or ⌘C on a Mac."
  }
}

export const offer = (invite: Invite, isNew: boolean) => {
  link.value = new URL(fragmentOf(invite), new URL("/signals/", location.href)).href
  const drawn = toSvg(generate(link.value), document, { on: "#000", off: "#fff" })
  drawn.setAttribute("role", "img")
  drawn.setAttribute("aria-label", "QR code of the invite link")
  code.replaceChildren(drawn)
  copied.textContent = ""
  panel.open = isNew
}

export const withdraw = () => {
  link.value = ""
  code.replaceChildren()
}

find("invite-copy", HTMLButtonElement).addEventListener("click", () => void copy())
