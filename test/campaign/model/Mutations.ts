/** The protocol with each deliberate fault, in the world in which some invariant has to notice it. */
import { large, small, steady } from "./Configurations.ts"
import { type Configuration, type Fault, faults } from "./State.ts"

const worlds: Readonly<Record<string, Configuration>> = Object.fromEntries([
  ...Object.entries(small).map(([name, world]) => [`small.${name}`, world]),
  ...Object.entries(large).map(([name, world]) => [`large.${name}`, world]),
  ["small.steady", steady],
])

export const mutants = Object.entries(faults).map(([fault, name]) => {
  const world = worlds[name]
  if (world === undefined) throw new Error(`there is no world ${name}`)
  return { ...world, fault: fault as Fault }
})
