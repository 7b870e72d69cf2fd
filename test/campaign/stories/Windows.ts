/** Exact sliding windows as the specification tabulates them, without looking at how the server counts. */

interface Window {
  readonly name: string
  readonly quota: number
  readonly seconds: number
}

/** When requests of each limit were accepted, ascending, in Unix milliseconds. */
export type Hits = Readonly<Record<string, ReadonlyArray<number>>>

export const limits = {
  creations: [
    { name: "creations-hour", quota: 5, seconds: 3600 },
    { name: "creations-day", quota: 10, seconds: 86_400 },
  ],
  sends: [{ name: "sends", quota: 20, seconds: 60 }],
  reads: [{ name: "reads", quota: 120, seconds: 60 }],
  deletions: [{ name: "deletions", quota: 10, seconds: 60 }],
  messages: [{ name: "room-messages", quota: 30, seconds: 60 }],
} as const satisfies Record<string, ReadonlyArray<Window>>

/** The headers for a list of windows, and the wait of a refused caller. */
export interface Left {
  readonly window: Window
  readonly remaining: number
  readonly reset: number
}

/** The remaining quota of each window at a moment: a request counts while less than the window's length has passed since. */
export const left = (windows: ReadonlyArray<Window>, hits: ReadonlyArray<number>, now: number): ReadonlyArray<Left> =>
  windows.map((window) => {
    const counted = hits.filter((hit) => now - hit < window.seconds * 1000)
    const first = counted[Math.max(0, counted.length - window.quota)]
    const reset = first === undefined ? 0 : (first + window.seconds * 1000 - now) / 1000
    return { window, remaining: Math.max(0, window.quota - counted.length), reset }
  })

export const isFull = (lefts: ReadonlyArray<Left>) => lefts.some(({ remaining }) => remaining === 0)

/** The wait that a refusal names, in whole seconds: the longest of the windows that are full. */
export const waitOf = (lefts: ReadonlyArray<Left>) =>
  Math.max(1, ...lefts.filter(({ remaining }) => remaining === 0).map(({ reset }) => Math.ceil(reset)))

export const headerOf = (lefts: ReadonlyArray<Left>) =>
  lefts.map(({ remaining, reset, window }) => `"${window.name}";r=${remaining};t=${Math.ceil(reset)}`).join(", ")
