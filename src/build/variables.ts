/** `npm run variables`: writes `.env.example`, the guide's table of variables, and `docs/log-messages.md`. */
import { readFileSync, writeFileSync } from "node:fs"
import { messages } from "../platform/LogMessages.ts"
import { packageRoot } from "../platform/PackageRoot.ts"
import { groups } from "../server/config/Table.ts"

const head = `# Every variable of a production server. The first five suffice to sell; each commented line shows its default, or nothing
# where it has none. Copy it to .env, fill it in, and run: npx node --env-file=.env src/start.js serve --check
# The sandbox (npm start) needs none of this. Keep secrets in a file that only the server can read.
`

const example = [
  head,
  ...groups.map(([title, variables], index) =>
    [
      `# -- ${title}\n\n`,
      ...variables.map(
        ({ example: shown, fallback, name, says }) =>
          `# ${says}\n${index === 0 ? "" : "# "}${name}=${fallback || shown}\n`,
      ),
    ].join(""),
  ),
].join("\n")

const table = `| what for | variables |
| --- | --- |
${groups.map(([title, variables]) => `| ${title} | ${variables.map(({ name }) => `\`${name}\``).join(", ")} |`).join("\n")}
`

const listOf = (level: "Fatal" | "Error" | "Warn") =>
  Object.entries(Object.groupBy(Object.entries(messages[level]), ([, action]) => action))
    .map(([action, those = []]) => `- ${those.map(([message]) => `\`${message}\``).join(", ")}: ${action}`)
    .join("\n")

const logMessages = `# Log messages

The fields \`reason\` and \`cause\` have details. Names in italics are sections of [operations.md](operations.md).

## Fatal: stored data contradicts itself

${listOf("Fatal")}

## Error: an operator must act

${listOf("Error")}

## Warn: a part works worse, and the server retries

${listOf("Warn")}
`

export const documents = () => {
  const guide = readFileSync(new URL("docs/operations.md", packageRoot), "utf8")
  return [
    [".env.example", example],
    ["docs/operations.md", guide.replace(/^\| what for \| variables \|\n(?:\|.*\n)+/mu, () => table)],
    ["docs/log-messages.md", logMessages],
  ] as const
}

if (import.meta.main) for (const [file, text] of documents()) writeFileSync(new URL(file, packageRoot), text)
