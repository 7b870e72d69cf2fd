/** Reveals of stones and unseals of candles: opened words hash to their commitment, and are shown unchanged. */
import { hash } from "node:crypto"
import type { ShownCandle } from "./Candles.ts"
import { each, request, isObject, type Json, pagesOf, parsed, textAt } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import { answersOf, type RecordedAnswer, type ReadAnswer } from "./RecordedAnswers.ts"
import type { Ledger, OpeningRow } from "./Ledger.ts"

const checks = {
  hash: "what was opened hashes to its commitment",
  told: "an answer of a reveal or an unseal is still true",
  once: "words are opened once",
  shown: "words are shown where they were opened, as they were, and nowhere else",
  refused: "what was not opened was refused for its reason",
}

/** Unseals that no list shows are asked for again, the newest: openings are limited. */
const asked = 20

const space = /^\p{White_Space}$/u

/** The hashed form of words: composed (NFC), one LF for each end of a line, no white space at either end. */
const hashed = (words: string) => {
  const points = [...words.normalize("NFC").replaceAll("\r\n", "\n").replaceAll("\r", "\n")]
  const first = points.findIndex((point) => !space.test(point))
  return points.slice(first, points.findLastIndex((point) => !space.test(point)) + 1).join("")
}

const fits = (commitment: string | null, salt: string, words: string) =>
  commitment === hash("sha256", Buffer.concat([Buffer.from(salt), Buffer.from([0]), Buffer.from(hashed(words))]))

/** Words that are clearly a link. */
const isLink = /https?:\/\//iu

const auditRows = ({ openings, seals }: Ledger, found: Findings) => {
  for (const { hidden, id, salt, words } of openings.values()) {
    found.hold(
      checks.hash,
      fits(seals.get(id) ?? null, salt, words),
      () => `the words of ${id} do not hash to ${seals.get(id) ?? "anything: nothing was sealed"}`,
    )
    found.hold(checks.shown, hidden || !isLink.test(words), () => `the words of ${id} are a link, and are not hidden`)
  }
}

/** The faults of opened words as shown: a `reveal`, or what is `unsealed`; nothing is `null`. */
const wrongIn = (shown: unknown, row: OpeningRow | undefined, isNameHidden: boolean): string | undefined => {
  if (row === undefined) return shown === null ? undefined : "shows words, but nothing was opened"
  if (!isObject(shown)) return "shows no words, but they were opened"
  // The list of acts shows what was unsealed in the form of a reveal.
  const isReveal = "text" in shown
  const [words, at] = isReveal ? [shown["text"], shown["revealedAt"]] : [shown["words"], shown["unsealedAt"]]
  if (shown["hidden"] !== row.hidden) return `says hidden ${String(shown["hidden"])}`
  if (words !== (row.hidden ? null : row.words)) return `shows ${JSON.stringify(words)}`
  if (shown["salt"] !== (row.hidden ? null : row.salt)) return `shows the salt ${JSON.stringify(shown["salt"])}`
  if (at !== row.at.toISOString()) return `says that they were opened at ${String(at)}, not ${row.at.toISOString()}`
  if (isReveal && !isNameHidden && shown["agentName"] !== row.agentName)
    return `shows the name ${String(shown["agentName"])}`
  return undefined
}

/** All that a server shows of the stones' words. */
const auditStones = async (server: string, { hidden, openings }: Ledger, found: Findings) => {
  const { rows, wrong: unread } = await pagesOf(server, "/api/witness", "stones")
  if (unread !== undefined) found.violate(checks.shown, unread)
  for (const stone of rows) {
    const id = String(stone["id"])
    const wrong = wrongIn(stone["reveal"], openings.get(id), hidden.has(id))
    found.hold(checks.shown, wrong === undefined, () => `${server} ${wrong} of stone ${id}`)
  }
}

/** All that a server shows of the candles' words: on its wall, and of the others when they are unsealed again. */
const auditCandles = async (server: string, wall: ReadonlyArray<ShownCandle>, ledger: Ledger, found: Findings) => {
  const { hidden, openings } = ledger
  for (const candle of wall) {
    const id = String(candle["id"])
    const wrong = wrongIn(candle["unsealed"], openings.get(id), hidden.has(id))
    found.hold(checks.shown, wrong === undefined, () => `${server} ${wrong} of candle ${id}`)
  }
  const onWall = new Set(wall.map(({ id }) => id))
  const others = [...openings.values()]
    .filter(({ id, way }) => way === "unseal" && !onWall.has(id))
    .toSorted((one, other) => other.at.getTime() - one.at.getTime())
    .slice(0, asked)
  await each(others, async (row) => {
    const { status, text } = await request(`${server}/api/candles/${row.id}/unseal`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ salt: row.salt, words: row.words }),
    })
    const body = parsed(text)
    const candle = isObject(body) ? body["candle"] : undefined
    const wrong =
      status === 200 && isObject(candle)
        ? wrongIn(candle["unsealed"], row, hidden.has(row.id))
        : `answers ${status} ${textAt(body, "code") ?? ""} to the words`
    found.hold(checks.shown, wrong === undefined, () => `${server} ${wrong} of candle ${row.id}`)
  })
}

const openingPath = /^\/api\/(?:witness\/([0-9a-f-]{36})\/reveal|candles\/([0-9a-f-]{36})\/unseal)$/u

/** Every object in an answer that says what became of sealed words. */
const sealedIn = (value: unknown): ReadonlyArray<Json> => {
  if (Array.isArray(value)) return value.flatMap(sealedIn)
  if (!isObject(value)) return []
  const inner = Object.values(value).flatMap(sealedIn)
  return "id" in value && ("reveal" in value || "unsealed" in value) ? [value, ...inner] : inner
}

/** The answers to owners and readers, in order. */
const auditAnswers = async (file: string, ledger: Ledger, found: Findings) => {
  const { attempts, hidden, openings, seals } = ledger
  const byId = new Map(attempts.map((one) => [one.id, one]))
  /** When it was first answered that an act is settled, and that its words are opened. */
  const settled = new Map<string, number>()
  const opened = new Map<string, number>()
  /** The time of the first answer that they were opened before. */
  const said = new Map<string, number>()
  const made = new Set<string>()
  const isBefore = (known: ReadonlyMap<string, number>, id: string, { askedAt = 0 }: RecordedAnswer) =>
    (known.get(id) ?? Infinity) < askedAt

  const heardOfOpening = (answer: ReadAnswer, id: string, salt: string, words: string) => {
    const { json: body, where } = answer
    const row = openings.get(id)
    found.hold(
      checks.told,
      row !== undefined && row.salt === salt && hashed(row.words) === hashed(words),
      () => `${where}, but ${row === undefined ? "nothing is opened there" : "other words are opened there"}`,
    )
    if (answer.status === 201) {
      const name = textAt(answer.sent, "agentName") ?? null
      const isSame = row?.words === words && (hidden.has(id) || row.way === "unseal" || row.agentName === name)
      found.hold(checks.told, isSame, () => `${where}, but was sent with other words or another name than are kept`)
      found.hold(checks.once, !made.has(id), () => `${where}, for the second time`)
      made.add(id)
      const tooEarly = isBefore(said, id, answer)
      found.hold(checks.refused, !tooEarly, () => `${where}, but was said before to have been opened already`)
    }
    const isAgain = isObject(body) && body["replayed"] === true
    found.hold(checks.once, isAgain === (answer.status === 200), () => `${where}, with replayed ${String(isAgain)}`)
    const late = answer.status === 201 && isBefore(opened, id, answer)
    found.hold(checks.once, !late, () => `${where}, but it had been opened before`)
    if (!opened.has(id)) opened.set(id, answer.at)
  }

  /** Whether a refusal was right; nothing where it says nothing of the words. */
  const wasRight = (
    code: string,
    answer: RecordedAnswer,
    id: string,
    salt: string,
    words: string,
    isStone: boolean,
  ) => {
    const [row, commitment] = [openings.get(id), seals.get(id)]
    const isOwn = isStone === (byId.get(id)?.act === "setWitnessStone")
    switch (code) {
      case "commitment_mismatch":
        return commitment != null && !fits(commitment, salt, words) && !isBefore(opened, id, answer)
      case "already_revealed":
      case "already_unsealed":
        return row !== undefined && !(row.salt === salt && hashed(row.words) === hashed(words))
      case "not_sealed":
        return seals.has(id) && commitment === null
      case "witness_not_settled":
      case "candle_not_settled":
        return byId.has(id) && isOwn && !isBefore(settled, id, answer)
      case "witness_not_found":
      case "candle_not_found":
        return !(isOwn && seals.has(id) && isBefore(settled, id, answer))
      default:
        return undefined
    }
  }

  const heardOfWords = (shown: Json, answer: ReadAnswer) => {
    const { where } = answer
    const id = String(shown["id"])
    const row = openings.get(id)
    const words = "reveal" in shown ? shown["reveal"] : shown["unsealed"]
    if (words === null) {
      const isLate = isBefore(opened, id, answer)
      return found.hold(checks.told, !isLate, () => `${where} with no words of ${id}, which had been opened before`)
    }
    // Words that an operator hid later were shown before.
    const isHiddenLater = row?.hiddenBy === "operator" && isObject(words) && words["hidden"] === false
    const wrong = wrongIn(words, isHiddenLater ? { ...row, hidden: false } : row, hidden.has(id))
    return found.hold(checks.shown, wrong === undefined, () => `${where}: it ${wrong} of ${id}`)
  }

  for await (const answer of answersOf(file)) {
    const { isGood, json: body, sent, where } = answer
    const sold = isGood ? textAt(body, "record", "id") : undefined
    if (sold !== undefined && !settled.has(sold)) settled.set(sold, answer.at)
    if (isGood && /"(?:reveal|unsealed)":/u.test(answer.body)) {
      for (const one of sealedIn(body)) heardOfWords(one, answer)
    }
    const [path, stone, candle] = openingPath.exec(answer.path) ?? []
    const id = stone ?? candle
    if (path === undefined || id === undefined || answer.method !== "POST") continue
    const [salt, words] = [textAt(sent, "salt"), textAt(sent, stone === undefined ? "words" : "text")]
    if (salt === undefined || words === undefined) continue
    if (isGood) heardOfOpening(answer, id, salt, words)
    const code = textAt(body, "code") ?? ""
    if (code.startsWith("already_") && !said.has(id)) said.set(id, answer.at)
    const right = wasRight(code, answer, id, salt, words, stone !== undefined)
    if (right !== undefined) found.hold(checks.refused, right, () => `${where}, which is not so`)
  }
}

export const auditOpenings = async (
  walls: ReadonlyMap<string, ReadonlyArray<ShownCandle>>,
  file: string | null,
  ledger: Ledger,
  found: Findings,
) => {
  auditRows(ledger, found)
  for (const [server, wall] of walls) {
    await auditStones(server, ledger, found)
    await auditCandles(server, wall, ledger, found)
  }
  if (file !== null) await auditAnswers(file, ledger, found)
}
