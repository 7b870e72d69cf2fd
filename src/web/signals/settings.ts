/** The wishes for light and sound, kept between visits; the system's wish for less motion always holds. */
import type { Message } from "./api.ts"
import { find } from "./dom.ts"
import { recall, remember } from "./memory.ts"
import { makeSenses } from "./senses.ts"
import { light, say } from "./view.ts"

const sound = find("sound", HTMLInputElement)
const steady = find("steady", HTMLInputElement)
const calmer = matchMedia("(prefers-reduced-motion: reduce)")

const wishes = () => ({ sound: sound.checked, steady: steady.checked })

const player = makeSenses(find("light", HTMLElement), wishes)

const listening = () => say("sound-note", sound.checked ? "Sound is on." : "Off. Light and words say the same.")

/** A click or a key has come: the browser lets us play. */
const wake = () => {
  void player.wake()
  listening()
}

const settle = () => {
  steady.checked = calmer.matches || recall().steady
  steady.disabled = calmer.matches
  say("steady-note", calmer.matches ? "Your system asks for less motion." : "No pulses; shape and words stay.")
}

sound.checked = recall().sound
listening()
if (sound.checked) {
  say("sound-note", "Starts with your next click or key.")
  const once = new AbortController()
  for (const type of ["pointerdown", "keydown"]) {
    document.addEventListener(
      type,
      () => {
        once.abort()
        if (sound.checked) wake()
      },
      { signal: once.signal },
    )
  }
}
settle()
calmer.addEventListener("change", settle)

sound.addEventListener("change", () => {
  remember({ sound: sound.checked })
  if (sound.checked) return wake()
  player.mute()
  listening()
})
steady.addEventListener("change", () => {
  remember({ steady: steady.checked })
  if (steady.checked) player.still()
})

export const senses = {
  /** Shows and plays a signal when its turn comes. */
  play: (message: Message) => player.play(message.mode, () => light(message)),
  hush: player.hush,
}
