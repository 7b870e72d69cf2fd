/** How long a test waits for an event before it gives up: generous, and longer while the machine is busy. */
import { availableParallelism, loadavg } from "node:os"

/** Runnable processes for each core, between one and ten. */
export const slowness = (): number => Math.min(10, Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()))

/** `seconds` of a quiet machine, in milliseconds of this one. */
export const patience = (seconds: number): number => Math.round(seconds * 1000 * slowness())

/** The same as a variable of a server's environment, which is in whole seconds. */
export const patientSeconds = (seconds: number): string => String(Math.ceil(seconds * slowness()))
