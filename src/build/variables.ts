/** `npm run variables`: writes `.env.example`. */
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

if (import.meta.main) writeFileSync(new URL(".env.example", packageRoot), example)
