/** Phase after phase, each in a world of its own, and what they have shown together. */
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { buildCheckout } from "../../../src/build/build.ts"
import { homeOf } from "../../lab/Program.ts"
import { cluster } from "../../lab/Cluster.ts"
import { hasHaproxy } from "../../lab/proxy/Haproxy.ts"
import type { Options } from "./Options.ts"
import { runPhase } from "./Phase.ts"
import { random } from "../../lab/Random.ts"
import { canSkewClocks } from "../../lab/server/ServerProcess.ts"
import { endOf, ends, rowOf, statesText, type Table, tableText } from "./Tally.ts"

export interface Report {
  readonly seed: number
  readonly phases: number
  readonly purchases: number
  readonly kills: number
  readonly seconds: number
  readonly faults: Table
  readonly kinds: Table
  /** Why purchases failed or were refused. */
  readonly reasons: ReadonlyMap<string, number>
  /** How often each status and code was answered. */
  readonly answers: ReadonlyMap<string, number>
  /** What the auditor has examined, by its checks. */
  readonly examined: ReadonlyMap<string, number>
  readonly violations: ReadonlyArray<{ readonly phase: number; readonly what: string }>
}

const add = (sums: Map<string, number>, name: string, count: number) => sums.set(name, (sums.get(name) ?? 0) + count)

/** How a phase of this number is set up, whatever the others did. */
const setUp = (options: Options, number: number) => {
  const chance = random(`${options.seed}/${number}/set-up`)
  const servers = 1 + chance.below(3)
  return {
    servers: options.servers ?? servers,
    settledBy: options.settledBy ?? (number % 4 === 0 ? ("facilitator" as const) : ("relayer" as const)),
  }
}

/** The command that runs one phase as it was. */
const againOf = ({ each, kills, only, purchases, seed, servers, settledBy, withHaproxy }: Options, number: number) =>
  [
    `npm run fire -- --seed ${seed} --phase ${number} --purchases ${purchases} --kills ${kills} --each ${each}`,
    ...(servers === undefined ? [] : [`--servers ${servers}`]),
    ...(settledBy === undefined ? [] : [`--settled-by ${settledBy}`]),
    ...(only === undefined ? [] : [`--only '${only}'`]),
    ...(withHaproxy ? [] : ["--no-proxy"]),
  ].join(" ")

export const campaign = async (options: Options, log: (line: string) => void): Promise<Report> => {
  const { each, kills, phase, purchases, seed } = options
  const withHaproxy = options.withHaproxy && hasHaproxy()
  if (options.withHaproxy && !withHaproxy) {
    log("haproxy is not installed (apt install haproxy): connections go to the servers in turn, as with --no-proxy")
  }
  if (!canSkewClocks) log("libfaketime is not installed (apt install faketime): every server has the right clock")
  await buildCheckout()
  const home = homeOf(options.keep, "fire")
  const database = await cluster(home)
  const started = performance.now()
  const [faults, kinds]: readonly [Table, Table] = [new Map(), new Map()]
  const [answers, examined, reasons] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
  const violations: Array<{ phase: number; what: string }> = []
  const count = Math.ceil(purchases / each)
  let [bought, killed, done] = [0, 0, 0]
  try {
    for (let number = phase ?? 1; number <= (phase ?? count); number += 1) {
      const minutes = (performance.now() - started) / 60_000
      if (minutes >= options.minutes) {
        log(`${options.minutes} minutes are over`)
        break
      }
      const { servers, settledBy } = setUp(options, number)
      const ofKills = Math.floor((number * kills) / count) - Math.floor(((number - 1) * kills) / count)
      log(
        `phase ${number} of ${count}: ${servers} server${servers > 1 ? "s" : ""}, settled by the ${settledBy}, ${ofKills} kills`,
      )
      const began = performance.now()
      const result = await runPhase({
        seed,
        number,
        purchases: Math.min(each, purchases - (number - 1) * each),
        kills: ofKills,
        servers,
        settledBy,
        withHaproxy,
        only: options.only,
        folder: join(home, `phase-${number}`),
        cluster: database,
        log,
      })
      result.tally.addTo(faults, result.purchases)
      for (const one of result.purchases) {
        const kind = one.order.card === undefined ? one.order.kind : `${one.order.kind} by card`
        rowOf(kinds, kind).ended[endOf(one)] += 1
        const { outcome } = one
        if (outcome !== undefined && "reason" in outcome) add(reasons, `${endOf(one)}: ${outcome.reason}`, 1)
      }
      for (const [name, times] of result.counts) add(answers, name, times)
      for (const { examined: times, name } of result.checks) add(examined, name, times)
      violations.push(...result.violations.map((what) => ({ phase: number, what })))
      bought += result.purchases.length
      killed += result.kills
      done += 1
      const how = ends.map((end) => `${result.purchases.filter((one) => endOf(one) === end).length} ${end}`).join(", ")
      const seconds = ((performance.now() - began) / 1000).toFixed(0)
      log(
        `  ${how}; ${result.tally.strikes()} strikes; ${seconds} s; ${bought} bought, ${killed} kills, ${violations.length} violations so far`,
      )
      for (const what of result.violations.slice(0, 20)) log(`  VIOLATION ${what}`)
      if (result.violations.length > 0) log(`  again: ${againOf(options, number)}`)
    }
  } finally {
    await database.close()
    if (options.keep === undefined && violations.length === 0) rmSync(home, { recursive: true, force: true })
    else if (existsSync(home)) log(`logs and answers are in ${home}`)
  }
  const seconds = (performance.now() - started) / 1000
  return {
    seed,
    phases: done,
    purchases: bought,
    kills: killed,
    seconds,
    faults,
    kinds,
    reasons,
    answers,
    examined,
    violations,
  }
}

export const reportText = (report: Report): string => {
  const sums = (of: ReadonlyMap<string, number>) =>
    [...of]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([name, times]) => `  ${String(times).padStart(8)}  ${name}`)
      .join("\n")
  const { kills, phases, purchases, seconds, seed, violations } = report
  return `
Faults, and how the purchases ended that met them (one may have met several):

${tableText(report.faults)}

Faults, and how many attempts stood where when they struck (of strikes that are unknown, nobody could ask):

${statesText(report.faults)}

What was bought:

${tableText(report.kinds)}

Why some were not sold:

${sums(report.reasons)}

What was answered:

${sums(report.answers)}

What the auditor examined:

${sums(report.examined)}

seed ${seed}: ${phases} phases, ${purchases} purchases, ${kills} kills, ${violations.length} violations in ${(seconds / 60).toFixed(1)} minutes
${violations.map(({ phase, what }) => `  phase ${phase}: ${what}`).join("\n")}`
}
