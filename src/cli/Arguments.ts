/** Rewrites the command line for the parser: keys, salts and sealed words may begin with a dash, as one in 64 does. */

/** Options without a value. */
export const switches: ReadonlySet<string> = new Set(
  ["check", "fresh", "help", "insecure", "json", "log", "reveal", "version"].map((name) => `--${name}`),
)

/** Only help and version have names of one letter; anything else with one dash is a word. */
const isDashed = (argument: string) => /^-[^-]/u.test(argument) && argument !== "-h" && argument !== "-v"

/** The same arguments with every word behind `--`, where the parser takes none for an option. */
export const spelledOut = (typed: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = typed.includes("--") ? typed.indexOf("--") : typed.length
  const [before, after]: [Array<string>, Array<string>] = [[], []]
  let option = ""
  for (const argument of typed.slice(0, end)) {
    if (option !== "" && !argument.startsWith("--")) {
      before.push(...(isDashed(argument) ? [`${option}=${argument}`] : [option, argument]))
      option = ""
      continue
    }
    if (option !== "") before.push(option)
    option = ""
    if (argument.startsWith("--") && !argument.includes("=") && !switches.has(argument)) option = argument
    // Keeps the order of words: those after the first one with a dash follow it.
    else if (isDashed(argument) || (after.length > 0 && !argument.startsWith("-"))) after.push(argument)
    else before.push(argument)
  }
  if (option !== "") before.push(option)
  after.push(...typed.slice(end + 1))
  return after.length > 0 || end < typed.length ? [...before, "--", ...after] : before
}
