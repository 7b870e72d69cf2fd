/** `npm run variables`: writes `.env.example`, and for Nix the names of the secret variables. */
import { writeFileSync } from "node:fs"
import { packageRoot } from "../platform/PackageRoot.ts"
import { groups } from "../server/config/Table.ts"

const head = `# Every variable of a production server. The first five suffice to sell; each commented line shows its default, or nothing
# where it has none. Copy it to .env, fill it in, and run: npx node --env-file=.env src/start.js serve --check
# The sandbox (npm start) needs none of this. Keep secrets in a file that only the server can read.
`

export const example = [
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

const secrets = groups.flatMap(([, variables]) => variables.filter(({ isSecret }) => isSecret).map(({ name }) => name))

/** The headers of a collector may hold a key; OpenTelemetry reads them itself. */
export const secretNames = `${JSON.stringify([...secrets, "OTEL_EXPORTER_OTLP_HEADERS"].sort(), null, 2)}\n`

if (import.meta.main) {
  writeFileSync(new URL(".env.example", packageRoot), example)
  writeFileSync(new URL("nix/secrets.json", packageRoot), secretNames)
}
