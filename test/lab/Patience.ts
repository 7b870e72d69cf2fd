/** How long a test waits for an event before it gives up: generous, and longer on a machine that is slow today. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"

/** Seconds that the work below takes on two quiet cores of the kind this was written on. */
const usual = 0.45

const name = "SPIRIT_ALTAR_SLOWNESS"

/** Hashing, garbage and new processes, as the tests make them; how many times longer than usual, never below one. */
const measure = () => {
  const started = performance.now()
  let text = "spirit altar"
  for (let round = 0; round < 60_000; round += 1) {
    const digest = createHash("sha256").update(text).digest("hex")
    text = JSON.stringify({ digest, rounds: Array.from({ length: 8 }, (_, index) => `${digest}${index}`) }).slice(
      0,
      300,
    )
  }
  for (let child = 0; child < 4; child += 1) execFileSync(process.execPath, ["--eval", "0"])
  return Math.max(1, (performance.now() - started) / 1000 / usual)
}

/** Measured once, when the run begins; the workers are told. */
export const slowness: number = Number((process.env[name] ??= measure().toFixed(2)))

/** `seconds` of a quiet machine, in milliseconds of this one. */
export const patience = (seconds: number): number => Math.round(seconds * 1000 * slowness)

/** The same as a variable of a server's environment, which is in whole seconds. */
export const patientSeconds = (seconds: number): string => String(Math.ceil(seconds * slowness))
