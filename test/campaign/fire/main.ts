/** `npm run fire`: a campaign against real servers, and what it has shown. */
import { writeFileSync } from "node:fs"
import { endOnSignals, told } from "../../lab/Program.ts"
import { campaign, reportText } from "./Campaign.ts"
import { help, optionsOf } from "./Options.ts"
import { strikes } from "./Strikes.ts"

const options = told(optionsOf)
if (options === "help" || options === "list") {
  console.log(options === "help" ? help : strikes.map(({ name }) => name).join("\n"))
  process.exit(0)
}
endOnSignals()

console.log(`seed ${options.seed}`)
const report = await campaign(options, (line) => console.log(line))
console.log(reportText(report))
if (options.json !== undefined) {
  const plain = {
    ...report,
    faults: Object.fromEntries(report.faults),
    kinds: Object.fromEntries(report.kinds),
    reasons: Object.fromEntries(report.reasons),
    answers: Object.fromEntries(report.answers),
    examined: Object.fromEntries(report.examined),
  }
  writeFileSync(options.json, `${JSON.stringify(plain, null, 2)}\n`)
}
process.exit(report.violations.length > 0 ? 1 : 0)
