/** Stories of paid acts: buyers with few keys and few wallets, a network that misbehaves, time that passes. */
import { Arbitrary, Effect, Layer, Logger, Schedule } from "effect"
import { patience } from "../support/Patience.ts"
import { type Answer, ask, post } from "../support/World.ts"
import { type Command, commandOf, type Key, pauses, says } from "./AltarCommands.ts"
import * as Model from "./AltarModel.ts"
import { keyOf, salt, wordsOf } from "./AltarOrders.ts"
import * as AltarReads from "./AltarReads.ts"
import * as AltarWorld from "./AltarWorld.ts"
import * as Differences from "./Difference.ts"
import { differ, Difference } from "./Difference.ts"
import type { Play, Tally } from "./Story.ts"

const { saidBy } = AltarWorld

/** Every command takes so long, so that what is believed for a moment is believed no longer. */
const stepMillis = 3_000

/** A request with a payment. */
interface Paid {
  readonly key: number
  readonly order: Model.Order
  readonly authorization: number
}

/** The rows as they have to be: each attempt, what it holds and what it brought. */
const rowsOf = (one: Model.Altar) =>
  one.attempts
    .map(({ key, order, state }) => ({
      key: keyOf(key),
      state,
      claims: state === "failed" ? 0 : order.act === "prayer" || order.act === "keeper" ? 2 : 1,
      acts: state === "settled" ? 1 : 0,
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))

const play = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>, tally: Tally) {
  const world = yield* AltarWorld.make
  const { calm, chain, hands, pass, sent, url } = world
  const bytes = new Map<number, string>()
  let altar = Model.empty

  const among = (what: string, said: string, allowed: ReadonlyArray<string>) => {
    tally(`${what.replace(/ ?key \d+/u, "").trim()}: ${said}`)
    return Differences.among(what, said, allowed)
  }

  /** The first answer's bytes for ever. */
  const remembers = Effect.fnUntraced(function* (key: number, answer: Answer) {
    if (answer.status !== 200 && answer.status !== 201) return
    const said = answer.text.replace('"replayed":false', '"replayed":true')
    const before = bytes.get(key)
    bytes.set(key, said)
    if (before !== undefined) yield* differ(`the answer of key ${key}`, said, before)
  })

  /** Signs a payment of its own for an order. */
  const signed = Effect.fnUntraced(function* (order: Model.Order, wallet: Model.Wallet) {
    const { authorization, validBefore } = yield* world.signed(order, wallet)
    altar = { ...altar, authorizations: [...altar.authorizations, { order, wallet, validBefore }] }
    return authorization
  })

  /** One paid request; what it is told has to be what the model says. */
  const buy = Effect.fnUntraced(function* (one: Paid) {
    const { authorization, key, order } = one
    const truth = yield* world.truth
    const answer = yield* sent(key, order, authorization)
    const said = saidBy(answer)
    const now = hands.now()
    yield* among(`key ${key} paid`, said, Model.paid(altar, truth, key, order, authorization, now))
    altar = Model.afterPaid(altar, key, order, authorization, said, now)
    yield* remembers(key, answer)
  })

  /** Two at once are answered as if one had come after the other; how the first one stands by then, nobody knows. */
  const buyBoth = Effect.fnUntraced(function* (one: Paid, two: Paid) {
    const truth = yield* world.truth
    const answers = yield* Effect.all(
      [sent(one.key, one.order, one.authorization), sent(two.key, two.order, two.authorization)],
      { concurrency: "unbounded" },
    )
    const now = hands.now()
    const told = answers.map(saidBy)
    const inTurn = (first: Paid, firstSaid: string, second: Paid, secondSaid: string) => {
      if (!Model.paid(altar, truth, first.key, first.order, first.authorization, now).includes(firstSaid))
        return undefined
      const between = Model.afterPaid(altar, first.key, first.order, first.authorization, firstSaid, now)
      const open = {
        ...between,
        attempts: between.attempts.map((attempt) =>
          attempt.key === first.key && attempt.state === "settled" && Model.attemptOf(altar, first.key) === undefined
            ? { ...attempt, state: "pending" as const }
            : attempt,
        ),
      }
      const allowed = [between, open].flatMap((state) =>
        Model.paid(state, truth, second.key, second.order, second.authorization, now),
      )
      return allowed.includes(secondSaid)
        ? Model.afterPaid(between, second.key, second.order, second.authorization, secondSaid, now)
        : undefined
    }
    const [first = "", second = ""] = told
    const after = inTurn(one, first, two, second) ?? inTurn(two, second, one, first)
    if (after === undefined)
      return yield* new Difference({
        message: `keys ${one.key} and ${two.key}, at once, were answered ${told.join(" and ")}`,
      })
    altar = after
    tally(`two at once ${told.toSorted().join(" and ")}`)
    for (const [index, answer] of answers.entries()) yield* remembers(index === 0 ? one.key : two.key, answer)
  })

  const reconcile = Effect.fnUntraced(function* (key: number) {
    const attempt = Model.attemptOf(altar, key)
    const before = yield* world.truth
    const answer = yield* ask(`${url}/api/reconcile/${keyOf(key)}`, { method: "POST" })
    const said = saidBy(answer)
    if (attempt === undefined) return yield* among(`reconciling key ${key}`, said, ["404 attempt_not_found"])
    if (attempt.state !== "pending") {
      yield* among(`reconciling key ${key}`, said, [attempt.state === "settled" ? "200" : Model.failed])
      return yield* remembers(key, answer)
    }
    const allowed = Model.looked(altar, attempt, before, yield* world.truth, hands.now())
    yield* among(
      `reconciling key ${key}`,
      said,
      allowed.map(([told]) => told),
    )
    const found = allowed.find(([told]) => told === said)
    if (found !== undefined) altar = Model.replaced(altar, found[1])
    yield* remembers(key, answer)
  })

  /** At its start a server looks once at every open attempt by itself, and at every settled one whose block is final. */
  const restart = Effect.fnUntraced(function* (isFinal = false) {
    const before = yield* world.truth
    const open = altar.attempts.filter(({ state }) => state === "pending")
    const rowsBefore = yield* world.rows
    const isDue = ({ finality, state }: AltarWorld.Row) =>
      state === "pending" || (isFinal && state === "settled" && finality === "pending")
    const due = rowsBefore.filter(isDue)
    yield* world.restart
    const after = yield* world.rows.pipe(
      Effect.repeat({
        until: (rows) =>
          due.every(({ checks, key }) => rows.some((row) => row.key === key && (!isDue(row) || row.checks > checks))),
        schedule: Schedule.spaced("20 millis"),
      }),
      Effect.timeoutOrElse({
        duration: patience(60),
        orElse: () => new Difference({ message: "a server that was started did not look at all that was open" }),
      }),
    )
    const truth = yield* world.truth
    for (const attempt of open) {
      const state = after.find(({ key }) => key === keyOf(attempt.key))?.state ?? ""
      const allowed = Model.looked(altar, attempt, before, truth, hands.now())
      const states = allowed.map(([, one]) => one.state)
      yield* among(`the look at key ${attempt.key}`, state, states)
      const found = allowed.find(([, one]) => one.state === state)
      if (found !== undefined) altar = Model.replaced(altar, found[1])
    }
  })

  const read = Effect.gen(function* () {
    yield* differ("what is read", yield* AltarReads.read(url), Model.shown(altar, hands.now()))
  })

  const open = Effect.fnUntraced(function* (attempt: Model.Attempt | undefined, isRight: boolean) {
    const id = yield* world.idOf(attempt?.key ?? -1)
    const isCandle = attempt?.order.act === "candle"
    const words = isRight && attempt !== undefined ? wordsOf(attempt.order) : "Something else."
    const path = isCandle ? `/api/candles/${id}/unseal` : `/api/witness/${id}/reveal`
    const said = saidBy(yield* ask(`${url}${path}`, post({ salt, [isCandle ? "words" : "text"]: words })))
    yield* among("showing words", said, [Model.opened(attempt, isRight)])
    if (attempt !== undefined && said === "201") altar = Model.replaced(altar, { ...attempt, isOpened: true })
  })

  /** Keys that nobody has used yet. */
  let newest = 0
  const keyFor = (key: typeof Key.Type) => {
    const known = key === "new" ? undefined : altar.attempts.at(-1 - key)?.key
    return known ?? (newest += 1)
  }

  const run = Effect.fnUntraced(function* (command: Command) {
    const attempt = "of" in command ? altar.attempts.at(-1 - command.of) : undefined
    switch (command._tag) {
      case "Buy": {
        const one = { key: keyFor(command.key), order: command, authorization: yield* signed(command, command.wallet) }
        return command.isTwice ? yield* buyBoth(one, one) : yield* buy(one)
      }
      case "Ask": {
        const key = keyFor(command.key)
        const answer = yield* sent(key, command)
        yield* among(`key ${key} asked`, saidBy(answer), Model.asked(altar, key, command, hands.now()))
        return yield* remembers(key, answer)
      }
      case "Repeat":
      case "Move": {
        if (attempt === undefined) return undefined
        return yield* buy({ ...attempt, key: command._tag === "Move" ? keyFor(command.to) : attempt.key })
      }
      case "Rivals": {
        const one = { key: keyFor(command.key), order: command, authorization: yield* signed(command, "rich") }
        const two = { key: keyFor("new"), order: command, authorization: yield* signed(command, "poor") }
        return yield* buyBoth(one, two)
      }
      case "Reconcile":
        return yield* reconcile(attempt?.key ?? keyFor("new"))
      case "Open":
        return yield* open(attempt, command.isRight)
      case "Pass":
        return yield* pass(pauses[command.pause])
      case "Fault":
        altar = { ...altar, fault: command.fault }
        return yield* world.misbehave(command.fault)
      case "TakeBack": {
        const isGone = yield* Effect.promise(() => chain.takeBack(command.blocks, command.comesBack))
        return tally(isGone ? "blocks taken back" : "blocks that are final")
      }
      case "Outsider": {
        const payment = attempt === undefined ? undefined : world.payments[attempt.authorization]
        const wallet = attempt === undefined ? undefined : altar.authorizations[attempt.authorization]?.wallet
        if (payment === undefined || wallet === undefined || !chain.isMining()) return undefined
        return yield* Effect.promise(() =>
          command.does === "brings" ? chain.bring(payment) : chain.cancel(payment, chain.payers[wallet]),
        )
      }
      case "Restart":
        return yield* restart()
      case "Read":
        return yield* read
    }
  })

  for (const command of commands) {
    tally("command")
    yield* hands.pass(stepMillis)
    yield* run(command)
    const rows = (yield* world.rows).map(({ acts, claims, key, state }) => ({ key, state, claims, acts }))
    yield* differ("the attempts", rows, rowsOf(altar))
  }

  // In the end everything ends.
  yield* calm
  altar = { ...altar, fault: "no" }
  const openNow = () => altar.attempts.filter(({ state }) => state === "pending").map(({ key }) => key)
  for (const pause of [pauses["seven minutes"], Model.apartMillis, Model.apartMillis]) {
    yield* pass(pause)
    for (const key of openNow()) yield* reconcile(key)
  }
  yield* differ("what is still open", openNow(), [])
  yield* read

  // What is settled is final where it was paid, and lost where its block never was: found by two looks of a server.
  for (let look = 0; look < 2; look += 1) {
    yield* pass(2 * Model.apartMillis)
    yield* restart(true)
  }
  const truth = yield* world.truth
  const isPaid = ({ authorization }: Model.Attempt) => truth.ends.get(authorization)?.how === "paid"
  const expected = altar.attempts
    .filter(({ state }) => state === "settled")
    .map((one) => ({ key: keyOf(one.key), finality: isPaid(one) ? "final" : "lost" }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const finalities = (yield* world.rows)
    .filter(({ state }) => state === "settled")
    .map(({ finality, key }) => ({ key, finality }))
  yield* differ("the finality of what is settled", finalities, expected)
  const charged = altar.attempts.filter((one) => one.state === "failed" && isPaid(one))
  const delivered = new Set(altar.attempts.filter(({ state }) => state === "settled").map((one) => one.authorization))
  yield* differ(
    "what failed and was charged",
    charged.filter((one) => !delivered.has(one.authorization)),
    [],
  )
})

export const stories = (settledBy: Model.SettledBy): Play<Command> => ({
  name: settledBy,
  command: Arbitrary.schema(commandOf(settledBy)),
  longest: 30,
  runs: 3,
  says,
  play: (commands, tally) =>
    play(commands, tally).pipe(
      Effect.catchTag("SqlError", Effect.die),
      Effect.scoped,
      Effect.provide(Layer.provideMerge(AltarWorld.layer(settledBy), Logger.layer([]))),
    ),
})
