/** Runs the tests of each deliberate fault; exit code 1 means that one was not noticed. */
import { seek } from "../Faults.ts"
import { mutants } from "./mutants.ts"

const missed = await seek(
  import.meta.dirname,
  mutants.map(({ fault, test }) => ({ fault, tests: [`fast/${test}`] })),
)
process.exit(missed > 0 ? 1 : 0)
