/** The four modes as data: a word, a rhythm in words, and beats for eye and ear; at most two flashes a second. */
import type { Mode } from "./api.ts"

/** One rise and fall of light and tone; times in milliseconds from the start of the pattern. */
export interface Beat {
  readonly at: number
  readonly rise: number
  readonly fall: number
  /** 0 to 1. */
  readonly peak: number
  readonly hertz: number
}

export interface Pattern {
  readonly word: string
  /** Said after the word: "Ping, two even pulses". */
  readonly rhythm: string
  readonly beats: ReadonlyArray<Beat>
  /** Milliseconds reserved for the pattern, long enough that any other may follow. */
  readonly length: number
}

export const patterns: Readonly<Record<Mode, Pattern>> = {
  calm: {
    word: "Calm",
    rhythm: "one slow swell",
    beats: [{ at: 0, rise: 1200, fall: 1300, peak: 0.7, hertz: 220 }],
    length: 2600,
  },
  spark: {
    word: "Spark",
    rhythm: "a flash and a glimmer",
    beats: [
      { at: 0, rise: 50, fall: 450, peak: 1, hertz: 1047 },
      { at: 620, rise: 80, fall: 520, peak: 0.4, hertz: 1568 },
    ],
    length: 1400,
  },
  ping: {
    word: "Ping",
    rhythm: "two even pulses",
    beats: [
      { at: 0, rise: 100, fall: 320, peak: 0.85, hertz: 659 },
      { at: 750, rise: 100, fall: 320, peak: 0.85, hertz: 659 },
    ],
    length: 1600,
  },
  celebrate: {
    word: "Celebrate",
    rhythm: "three rising pulses",
    beats: [
      { at: 0, rise: 90, fall: 380, peak: 0.55, hertz: 523 },
      { at: 600, rise: 90, fall: 380, peak: 0.75, hertz: 659 },
      { at: 1200, rise: 90, fall: 700, peak: 1, hertz: 784 },
    ],
    length: 2200,
  },
}

export const modes: ReadonlyArray<Mode> = ["calm", "spark", "ping", "celebrate"]
