/** Light and sound of a signal, one pattern at a time: sound only after a click, light steady for whoever wants it so. */
import type { Mode } from "./api.ts"
import { type Beat, patterns } from "./patterns.ts"

/** Loudness of a peak; the ear needs little. */
const volume = 0.16

const glow = (mode: Mode): Array<Keyframe> => {
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

export interface Wishes {
  readonly sound: boolean
  readonly steady: boolean
}

/** A mode to play and what else to do when its turn comes. */
type Turn = readonly [mode: Mode, begun: () => void]

/**
 * Plays on `light`, as `wishes` say at that moment. A signal that comes while another is played waits for its end; of
 * several that wait the newest is played, so that no crowd of signals can make the light flash faster.
 */
export const makeSenses = (light: HTMLElement, wishes: () => Wishes) => {
  let audio: AudioContext | undefined
  let playing = 0
  let waiting: Turn | undefined

  const still = () => {
    for (const animation of light.getAnimations()) animation.cancel()
  }

  const begin = ([mode, begun]: Turn) => {
    const { beats, length } = patterns[mode]
    const { sound, steady } = wishes()
    begun()
    if (!steady) light.animate(glow(mode), { duration: length })
    if (sound && audio?.state === "running") for (const beat of beats) tone(audio, beat)
    playing = window.setTimeout(() => {
      playing = 0
      const next = waiting
      waiting = undefined
      if (next !== undefined) begin(next)
    }, length)
  }

  return {
    play: (...turn: Turn) => {
      if (playing === 0) return begin(turn)
      waiting = turn
    },
    /** Only after a click or a key; browsers keep audio silent otherwise. */
    wake: () => {
      audio ??= new AudioContext()
      return audio.resume()
    },
    /** Cuts off what sounds. */
    mute: () => {
      void audio?.close()
      audio = undefined
    },
    still,
    /** Nothing of a room that was left is played on; the pause before the next pattern still holds. */
    hush: () => {
      waiting = undefined
      still()
    },
  }
}
