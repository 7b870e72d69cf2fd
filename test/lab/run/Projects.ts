/** Which tests are run by which command. */

/** No process, chain or browser: feedback on a changed line takes seconds. */
export const fast = ["test/fast/**/*.test.ts"]

/** A page of each kind as its visitor meets it; all other looks are deep. */
const journeys = [
  "test/browser/guide-newcomer.test.ts",
  "test/browser/room-invite.test.ts",
  "test/browser/site.test.ts",
]

/** Tests that need minutes: processes and their deaths, packages, generators, proxies, browsers, campaigns. */
export const deep = [
  "test/{admin,audit,campaign,cli,crash,integrators,nix,operations,pack,sandbox,telemetry}/**/*.test.ts",
  `test/browser/!(${journeys.map((file) => file.slice("test/browser/".length, -".test.ts".length)).join("|")}).test.ts`,
  "test/agents/conformance.test.ts",
  "test/contract/{silent-database,stopping,unreachable}.test.ts",
  "test/journeys/{maintainer-adds-an-act,operators-first-hour}.test.ts",
  "test/log/{end-to-end,shell,walk}.test.ts",
  "test/payments/{cards-processes,availability}.test.ts",
]

/**
 * Files that take half a minute or longer, in their order: a fresh clone knows only sizes, and some of these are short. Those that
 * compute stand between those that wait.
 */
export const long = [
  "test/contract/silent-database.test.ts",
  "test/campaign/mutants/mutants.test.ts",
  "test/pack/pack.test.ts",
  "test/journeys/maintainer-adds-an-act.test.ts",
  "test/log/end-to-end.test.ts",
  "test/campaign/model/protocol.test.ts",
  "test/integrators/integrators.test.ts",
  "test/crash/crash.test.ts",
  "test/browser/appearance.test.ts",
  "test/campaign/fire/fire.test.ts",
  "test/pack/production.test.ts",
  "test/browser/first-view.test.ts",
  "test/payments/payment-refusals.test.ts",
]
