/** Candles and the lights on them: each burns as long as was paid for, a light on a candle that burned, and the wall shows them. */
import { type Json, pagesOf, parsed, textAt } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import { answersOf } from "./RecordedAnswers.ts"
import type { CandleRow, Ledger } from "./Ledger.ts"

/** Servers' clocks may differ by so much, milliseconds: a candle closer to its end may burn or not. */
const clocks = 600_000

const day = 86_400_000

const days: Readonly<Record<string, readonly [rung: string, count: number]>> = {
  lightDay: ["day", 1],
  lightWeek: ["week", 7],
  lightMonth: ["month", 30],
}

const checks = {
  days: "a candle burns as long as was paid for",
  light: "a light is on a candle that burned",
  asked: "a light is on the candle that was asked for",
  refused: "who was refused a light had named no candle that burned",
  wall: "the wall shows every candle that burns, with its lights",
}

/** A candle on the wall, as a server shows it. */
export type ShownCandle = Json

const auditRows = ({ attempts, candles }: Ledger, found: Findings) => {
  const byId = new Map(candles.map((one) => [one.id, one]))
  const sold = new Map(attempts.filter(({ state }) => state === "settled").map((one) => [one.id, one]))
  for (const { id, litAt, litUntil, parent: parentId, rung, spirit } of candles) {
    const attempt = sold.get(id)
    if (attempt === undefined) continue // The check of records says so.
    const paid = days[attempt.act]
    found.hold(
      checks.days,
      paid !== undefined && rung === paid[0] && litUntil.getTime() - litAt.getTime() === paid[1] * day,
      () =>
        `candle ${id}, sold as ${attempt.act}, burns as ${rung} from ${litAt.toISOString()} to ${litUntil.toISOString()}`,
    )
    const answered = textAt(parsed(attempt.answer ?? ""), "record", "parentId") ?? null
    if (parentId === null && answered === null) continue
    found.examine(checks.light)
    const what = `light ${id} on ${spirit}`
    const parent = parentId === null ? undefined : byId.get(parentId)
    if (answered !== parentId)
      found.violate(checks.light, `${what} is on ${parentId}, but was answered to be on ${answered}`)
    else if (parent === undefined) found.violate(checks.light, `${what} is on ${parentId}, which is no candle`)
    else if (parent.parent !== null) found.violate(checks.light, `${what} is on the light ${parentId}`)
    else if (parent.spirit !== spirit) found.violate(checks.light, `${what} is on ${parentId} of ${parent.spirit}`)
    else if (!sold.has(parent.id)) found.violate(checks.light, `${what} is on ${parentId}, which is not settled`)
    else if (
      attempt.acceptedAt.getTime() < parent.litAt.getTime() - clocks ||
      attempt.acceptedAt.getTime() >= parent.litUntil.getTime() + clocks
    )
      found.violate(
        checks.light,
        `${what} was accepted at ${attempt.acceptedAt.toISOString()}, but ${parentId} burns from ${parent.litAt.toISOString()} to ${parent.litUntil.toISOString()}`,
      )
  }
}

const newestFirst = (one: CandleRow, other: CandleRow) =>
  other.litAt.getTime() - one.litAt.getTime() || (other.id > one.id ? 1 : -1)

/** All candles that a server says to burn. */
const auditWall = async (server: string, { candles }: Ledger, found: Findings): Promise<ReadonlyArray<ShownCandle>> => {
  const { last, rows: shown, wrong } = await pagesOf(server, "/api/candles", "candles")
  if (wrong !== undefined) {
    found.violate(checks.wall, wrong)
    return shown
  }
  const lit = Number(last["lit"])
  const now = Date.now()
  const isSure = ({ litUntil }: CandleRow) => Math.abs(litUntil.getTime() - now) > clocks
  const burns = ({ litUntil }: CandleRow) => litUntil.getTime() > now
  const lights = Map.groupBy(
    candles.filter(({ parent }) => parent !== null),
    ({ parent }) => parent ?? "",
  )
  const byId = new Map(shown.map((one) => [String(one["id"]), one]))
  found.hold(
    checks.wall,
    lit === shown.length && byId.size === lit,
    () => `${server} counts ${lit} and shows ${byId.size}`,
  )
  for (const candle of candles.filter(({ parent }) => parent === null)) {
    const { id } = candle
    const one = byId.get(id)
    byId.delete(id)
    if (!isSure(candle)) continue
    found.hold(checks.wall, (one !== undefined) === burns(candle), () =>
      one === undefined ? `${server} does not show ${id}, which burns` : `${server} shows ${id}, which is burnt down`,
    )
    const own = (lights.get(id) ?? []).toSorted(newestFirst)
    if (one === undefined || !own.every(isSure)) continue
    const burning = own.filter(burns).map((light) => light.id)
    const said = Array.isArray(one["lights"]) ? one["lights"].map((light) => textAt(light, "id")) : []
    found.hold(
      checks.wall,
      one["lightCount"] === burning.length && said.join() === burning.slice(0, 10).join(),
      () =>
        `${server} shows ${String(one["lightCount"])} lights on ${id}: ${said.join()}; there burn ${burning.join()}`,
    )
  }
  for (const id of byId.keys()) found.violate(checks.wall, `${server} shows ${id}, which is no candle`)
  return shown
}

const lightPath = /^\/api\/candles\/(?:day|week|month)\/([a-z-]+)$/u

/** The answers to buyers of lights. */
const auditAnswers = async (file: string, { candles }: Ledger, found: Findings) => {
  const byId = new Map(candles.map((one) => [one.id, one]))
  /** When it was first answered that a candle is settled. */
  const known = new Map<string, number>()
  for await (const answer of answersOf(file)) {
    const { isGood, json: body, where } = answer
    const id = isGood ? textAt(body, "record", "id") : undefined
    if (id !== undefined && !known.has(id)) known.set(id, answer.at)
    const parentId = textAt(answer.sent, "parentId")
    const [path, spirit] = lightPath.exec(answer.path) ?? []
    if (path === undefined || parentId === undefined) continue
    if (isGood) {
      const said = textAt(body, "record", "parentId")
      found.hold(checks.asked, said === parentId, () => `${where} with a light on ${said}; asked for was ${parentId}`)
    }
    if (textAt(body, "code") !== "parent_not_lit") continue
    const parent = byId.get(parentId)
    const since = known.get(parentId)
    const burned =
      parent?.parent === null &&
      parent.spirit === spirit &&
      since !== undefined &&
      since < (answer.askedAt ?? 0) &&
      answer.at < parent.litUntil.getTime() - clocks
    found.hold(checks.refused, !burned, () => `${where}, but ${parentId} burned there, as had been answered before`)
  }
}

/** Answers what is shown on the walls, by server. */
export const auditCandles = async (
  servers: ReadonlyArray<string>,
  file: string | null,
  ledger: Ledger,
  found: Findings,
): Promise<ReadonlyMap<string, ReadonlyArray<ShownCandle>>> => {
  auditRows(ledger, found)
  const walls = new Map<string, ReadonlyArray<ShownCandle>>()
  for (const server of servers) walls.set(server, await auditWall(server, ledger, found))
  if (file !== null) await auditAnswers(file, ledger, found)
  return walls
}
