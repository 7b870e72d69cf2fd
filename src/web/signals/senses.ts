/** Light and sound of signals, one pattern at a time; the system's reduced motion always applies. */
import type { Message, Mode } from "./api.ts"
import { all, find as findIn } from "../v2/page/dom.ts"
import { find, say } from "./dom.ts"
import { recall, remember } from "./memory.ts"
import { type Beat, modes, patterns } from "./patterns.ts"
import { light as show } from "./view.ts"

const light = find("light", HTMLElement)
const sound = find("sound", HTMLInputElement)
const steady = find("steady", HTMLInputElement)
const calmer = matchMedia("(prefers-reduced-motion: reduce)")

const volume = 0.16

const glow = (mode: Mode) => {
  const { beats, length } = patterns[mode]
  const at = (milliseconds: number, opacity: number) => ({ offset: Math.min(milliseconds / length, 1), opacity })
  const pulse = ({ at: start, fall, peak, rise }: Beat) => [
    at(start, 0),
    at(start + rise, peak),
    at(start + rise + fall, 0),
  ]
  return [...beats.flatMap(pulse), at(length, 0)]
}

const tone = (audio: AudioContext, { at, fall, hertz, peak, rise }: Beat) => {
  const start = audio.currentTime + at / 1000
  const end = start + (rise + fall) / 1000
  const gain = new GainNode(audio, { gain: 0 })
  gain.gain.setValueAtTime(0, start)
  gain.gain.linearRampToValueAtTime(volume * peak, start + rise / 1000)
  gain.gain.linearRampToValueAtTime(0, end)
  const oscillator = new OscillatorNode(audio, { frequency: hertz })
  oscillator.connect(gain).connect(audio.destination)
  oscillator.start(start)
  oscillator.stop(end)
}

let audio: AudioContext | undefined
let isPlaying = false
let waiting: Message | undefined

const still = () => light.getAnimations().forEach((animation) => animation.cancel())

/**
 * Shows and plays a signal after the current pattern. Of several waiting signals only the newest is played, so that no
 * crowd of signals can make the light flash faster.
 */
export const play = (message: Message) => {
  if (isPlaying) {
    waiting = message
    return
  }
  const { beats, length } = patterns[message.mode]
  show(message)
  if (!steady.checked) light.animate(glow(message.mode), { duration: length })
  if (sound.checked && audio?.state === "running") for (const beat of beats) tone(audio, beat)
  isPlaying = true
  setTimeout(() => {
    isPlaying = false
    const next = waiting
    waiting = undefined
    if (next !== undefined) play(next)
  }, length)
}

/** Glows on the drawing of a pattern that is pointed at or focused; a drawing that glows finishes first. */
const preview = (place: HTMLElement) => {
  const mode = modes.find((name) => place.classList.contains(name))
  const drawing = findIn(".glyph", SVGElement, place)
  if (mode === undefined) return
  const frames = glow(mode).map(({ offset, opacity }) => ({
    offset,
    filter: `drop-shadow(0 0 ${opacity * 0.6}rem currentcolor)`,
    transform: `scale(${1 + opacity * 0.15})`,
  }))
  const show = () => {
    if (!steady.checked && drawing.getAnimations().length === 0)
      drawing.animate(frames, { duration: patterns[mode].length })
  }
  place.addEventListener("pointerenter", show)
  place.addEventListener("focusin", show)
}

all(".pattern, .mode", HTMLElement).forEach(preview)

/** Drops the waiting signal of a room that was left; the pause before the next pattern stays. */
export const hush = () => {
  waiting = undefined
  still()
}

/** Browsers keep audio silent before a click or a key press. */
const listen = () => {
  say("sound-note", sound.checked ? "Sound is on." : "Off. Light and words say the same.")
  if (sound.checked) {
    audio ??= new AudioContext()
    return void audio.resume()
  }
  void audio?.close()
  audio = undefined
}

const settle = () => {
  steady.checked = calmer.matches || recall().steady === true
  steady.disabled = calmer.matches
  say("steady-note", calmer.matches ? "Your system asks for less motion." : "No pulses; shape and words stay.")
}

sound.checked = recall().sound === true
if (sound.checked) {
  say("sound-note", "Starts with your next click or key.")
  const once = new AbortController()
  const begin = () => {
    once.abort()
    listen()
  }
  for (const type of ["pointerdown", "keydown"]) document.addEventListener(type, begin, { signal: once.signal })
} else listen()
settle()
calmer.addEventListener("change", settle)
sound.addEventListener("change", () => {
  remember({ sound: sound.checked })
  listen()
})
steady.addEventListener("change", () => {
  remember({ steady: steady.checked })
  if (steady.checked) still()
})
