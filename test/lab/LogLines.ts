/** The lines that a server logged, as objects. */
type LogLine = Readonly<Record<string, unknown>> & { readonly message: string; readonly level: string }

/** Every line of stdout is one JSON object; any other line is named. */
export const linesOf = (output: string): ReadonlyArray<LogLine> =>
  output
    .split("\n")
    .filter((line) => line !== "")
    .map((line): LogLine => {
      if (!line.startsWith("{")) throw new Error(`no JSON line: ${line}`)
      return JSON.parse(line)
    })

export const requestsIn = (output: string) => linesOf(output).filter(({ message }) => message === "request")
export const attemptsIn = (output: string) => linesOf(output).filter(({ message }) => message === "attempt")
