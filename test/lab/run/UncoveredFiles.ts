/** The end of a coverage report: the source files of which no test runs a line in its own process. */

interface Node {
  readonly getQualifiedName: () => string
  readonly getCoverageSummary: () => { readonly lines: { readonly total: number; readonly covered: number } }
}

interface Visitor {
  readonly onDetail: (node: Node) => void
  readonly onEnd: () => void
}

interface Context {
  readonly getTree: (order: "flat") => { readonly visit: (visitor: Visitor, state: unknown) => void }
}

/** Pages run these in a browser, where no tool counts lines. */
const inBrowsers = /^src\/web\//u

export default class Unreached {
  readonly #root: string

  constructor({ projectRoot }: { readonly projectRoot: string }) {
    this.#root = projectRoot
  }

  execute(context: Context) {
    const files: Array<string> = []
    context.getTree("flat").visit(
      {
        onDetail: (node) => {
          const { covered, total } = node.getCoverageSummary().lines
          // A file of types alone has no line to run.
          if (total > 0 && covered === 0) files.push(this.#nameOf(node.getQualifiedName()))
        },
        onEnd: () => {
          const [elsewhere, missed] = [true, false].map((is) => files.filter((file) => inBrowsers.test(file) === is))
          process.stdout.write(
            [
              "",
              `No test reaches ${missed?.length ?? 0} files in its own process (commands and servers started as processes are not counted):`,
              ...(missed ?? []).sort().map((file) => `  ${file}`),
              `${elsewhere?.length ?? 0} more below src/web run in browsers or make what they load.`,
              "",
            ].join("\n"),
          )
        },
      },
      context,
    )
  }

  /** From the project's root, as everywhere else. */
  #nameOf(name: string) {
    return name.startsWith(this.#root) ? name.slice(this.#root.length + 1) : name
  }
}
