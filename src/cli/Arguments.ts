/** What was typed, as the parser understands it: keys, salts and sealed words may begin with a dash, as one random key in 64 does. */

/** Options that take no value; a log's key, which `witness-serve --log` takes, begins with no dash. */
export const switches: ReadonlySet<string> = new Set(
  ["check", "fresh", "help", "insecure", "json", "log", "reveal", "show-link", "version", "wizard"].map(
    (name) => `--${name}`,
  ),
)

/** No option has a name of one letter but help and version: all else with one dash is a word. */
const isDashed = (argument: string) => /^-[^-]/u.test(argument) && argument !== "-h" && argument !== "-v"

/** The same call, in which no word can be taken for letters of options; what follows `--` is words already. */
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
    // Words keep their order: those behind the first that begins with a dash follow it.
    else if (isDashed(argument) || (after.length > 0 && !argument.startsWith("-"))) after.push(argument)
    else before.push(argument)
  }
  if (option !== "") before.push(option)
  after.push(...typed.slice(end + 1))
  return after.length > 0 || end < typed.length ? [...before, "--", ...after] : before
}
