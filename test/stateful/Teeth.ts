/** Deliberate faults of the altar that a story has to notice, and in which few stories it does. */
import { type Mutant, mutants } from "../mutants/Mutants.ts"
import { makeScratch } from "../mutants/Scratch.ts"

type Fault = Omit<Mutant, "tests">

interface Tooth {
  readonly fault: Fault
  readonly kind: string
}

const known = (fault: string): Fault => {
  const found = mutants.find((one) => one.fault === fault)
  if (found === undefined) throw new Error(`No fault is called ${fault}`)
  return found
}

/** Faults that nothing but stories of cards and candles is asked about. */
const own: ReadonlyArray<Fault> = [
  {
    fault: "each look at a card's charge has a key of its own",
    file: "src/payments/card/CardProcessor.ts",
    from: '"idempotency-key", `altar_${attempt.id}`',
    to: '"idempotency-key", `altar_${attempt.id}_${Math.random()}`',
  },
  {
    fault: "what waits for a card's holder is left to them",
    file: "src/payments/card/CardProcessor.ts",
    from: "return unfinished.has(intent.status) ? cancel(intent) :",
    to: "return unfinished.has(intent.id) ? cancel(intent) :",
  },
  {
    fault: "a charge that is not found is none, however young",
    file: "src/payments/card/CardProcessor.ts",
    from: "return age > certainAfter ? voided",
    to: "return age > -certainAfter ? voided",
  },
  {
    fault: "a light is put on a candle that is out",
    file: "src/altar/candles/Candles.ts",
    from: "AND lit_until > ${timestampOf(millis)}::timestamptz`",
    to: "AND lit_until > ${timestampOf(0 * millis)}::timestamptz`",
  },
  {
    fault: "a candle still burns in the millisecond of its end",
    file: "src/altar/candles/CandleSql.ts",
    from: "parent_id IS NULL AND lit_until > (SELECT ${now}::timestamptz)",
    to: "parent_id IS NULL AND lit_until >= (SELECT ${now}::timestamptz)",
  },
]

export const teeth: ReadonlyArray<Tooth> = [
  ...own.map((fault) => ({ kind: "cards", fault })),
  ...[
    "a replay has other bytes than the first answer",
    "what is pending is answered as failed",
    "a link does not hash its transaction",
    "the fingerprint leaves the body out",
    "settled acts are not counted",
    "a kept read is not compared with its rows",
    "a pool gives out one number too many",
    "a key may be used for another request",
    "the authorization is not claimed",
  ].map((fault) => ({ kind: "relayer", fault: known(fault) })),
]

/** Minutes after which a run proves nothing. */
const patience = 20

/** Puts each fault that has these words into a copy and plays `runs` stories of `seed`; answers how many nobody noticed. */
export const bite = async (words: string, runs: string, seed: string) => {
  const scratch = makeScratch()
  process.once("exit", scratch.remove)
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))
  Object.assign(process.env, { STATEFUL_RUNS: runs, STATEFUL_SEED: seed, STATEFUL_SHRINKS: "0" })
  let missed = 0
  for (const { fault, kind } of teeth.filter(({ fault }) => fault.fault.includes(words))) {
    const mutant = { ...fault, tests: ["test/stateful/altar.test.ts"] } as const
    const began = performance.now()
    scratch.mutate(mutant)
    const verdict = await scratch.run([...mutant.tests, "-t", `says: ${kind}`], patience)
    scratch.restore(mutant)
    const seconds = ((performance.now() - began) / 1000).toFixed(0)
    if (verdict.kind !== "failed") missed += 1
    const said = { failed: "noticed", passed: "NOT NOTICED", unknown: "NO VERDICT" }[verdict.kind]
    console.log(
      `${said}, ${kind}, ${seconds} s: ${fault.fault}${verdict.kind === "unknown" ? ` (${verdict.why})` : ""}`,
    )
  }
  return missed
}
