/** Stories of paid acts: buyers with few keys and few wallets, a network that misbehaves, time that passes. */
import { isDeepStrictEqual } from "node:util"
import { Data, Effect, Layer, Logger, Schedule } from "effect"
import { patience } from "../../lab/Patience.ts"
import { type Answer, ask } from "../../lab/Fixture.ts"
import { stage } from "../../lab/server/ProxiedServer.ts"
import { type Command, type Key, keyOf, pauses } from "./AltarCommands.ts"
import * as Model from "./AltarModel.ts"
import * as AltarHarness from "./AltarHarness.ts"

const { saidBy } = AltarHarness

/** Where a world and its model differ. */
export class Difference extends Data.TaggedError("Difference")<{ readonly message: string }> {}

/** `what` of the world is what the model expects. */
const differ = (what: string, found: unknown, expected: unknown) =>
  isDeepStrictEqual(found, expected)
    ? Effect.void
    : Effect.fail(
        new Difference({
          message: `${what}\n  is         ${JSON.stringify(found)}\n  instead of ${JSON.stringify(expected)}`,
        }),
      )

/** `what` was told one of these. */
const among = (what: string, said: string, allowed: ReadonlyArray<string>) =>
  allowed.includes(said)
    ? Effect.void
    : Effect.fail(new Difference({ message: `${what} was told ${said} instead of ${allowed.join(" or ")}` }))

/** Every command takes so long, so that what is believed for a moment is believed no longer. */
const stepMillis = 3_000

/** A request with a payment, and the server it is sent to. */
interface Paid extends Model.Paid {
  readonly at: AltarHarness.At
}

const otherThan = (at: AltarHarness.At): AltarHarness.At => (at === 0 ? 1 : 0)

const byKey = <Row extends { readonly key: string }>(rows: ReadonlyArray<Row>) =>
  rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))

const told = Effect.fnUntraced(function* (settledBy: Model.SettledBy, commands: ReadonlyArray<Command>) {
  const world = yield* AltarHarness.make(settledBy)
  const { chain, hands, pass, sent, urlOf } = world
  const bytes = new Map<number, string>()
  let altar = Model.empty

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
    altar = { ...altar, authorizations: [...altar.authorizations, { wallet, validBefore }] }
    return authorization
  })

  /** One paid request; its answer must match the model. */
  const buy = Effect.fnUntraced(function* (one: Paid) {
    const { at, authorization, key, order } = one
    const truth = yield* world.truth
    const answer = yield* sent(at, key, order, authorization)
    const said = saidBy(answer)
    const now = hands.now()
    yield* among(`key ${key} paid`, said, Model.paid(altar, truth, one, now))
    altar = Model.afterPaid(altar, one, said, now)
    yield* remembers(key, answer)
  })

  /** Two at once are answered as if one had come after the other; the state of the first one is unknown then. */
  const buyBoth = Effect.fnUntraced(function* (one: Paid, two: Paid) {
    const truth = yield* world.truth
    const answers = yield* Effect.forEach(
      [one, two],
      ({ at, authorization, key, order }) => sent(at, key, order, authorization),
      { concurrency: "unbounded" },
    )
    const now = hands.now()
    const both = answers.map(saidBy)
    const [first = "", second = ""] = both
    const turn = { altar, truth, now }
    const after = Model.inTurn(turn, one, first, two, second) ?? Model.inTurn(turn, two, second, one, first)
    if (after === undefined)
      return yield* new Difference({
        message: `keys ${one.key} and ${two.key}, at once, were answered ${both.join(" and ")}`,
      })
    altar = after
    for (const [index, answer] of answers.entries()) yield* remembers(index === 0 ? one.key : two.key, answer)
  })

  const reconcile = Effect.fnUntraced(function* (at: AltarHarness.At, key: number) {
    const attempt = Model.attemptOf(altar, key)
    const before = yield* world.truth
    const answer = yield* ask(`${urlOf(at)}/api/reconcile/${keyOf(key)}`, { method: "POST" })
    const said = saidBy(answer)
    if (attempt === undefined) return yield* among(`reconciling key ${key}`, said, ["404 attempt_not_found"])
    if (attempt.state !== "pending") {
      yield* among(`reconciling key ${key}`, said, [attempt.state === "settled" ? "200" : Model.failed])
      return yield* remembers(key, answer)
    }
    const allowed = Model.inquired(altar, attempt, before, yield* world.truth, hands.now())
    yield* among(
      `reconciling key ${key}`,
      said,
      allowed.map(([told]) => told),
    )
    const found = allowed.find(([told]) => told === said)
    if (found !== undefined) altar = Model.replaced(altar, found[1])
    yield* remembers(key, answer)
  })

  /**
   * A starting server inquires once about every pending attempt, and about every settled one whose block is final. It ignores
   * purchases `meanwhile` at the other server.
   */
  const restart = Effect.fnUntraced(function* (at: AltarHarness.At, meanwhile?: Paid, isFinal = false) {
    const before = yield* world.truth
    const open = altar.attempts.filter(({ state }) => state === "pending")
    const rowsBefore = yield* world.rows
    const isDue = ({ finality, state }: AltarHarness.Row) =>
      state === "pending" || (isFinal && state === "settled" && finality === "pending")
    // The server before may have looked at a settled one a moment ago.
    const due = rowsBefore.filter((row) => isDue(row) && (row.state === "pending" || row.isTime))
    yield* Effect.all([world.restart(at), meanwhile === undefined ? Effect.void : buy(meanwhile)], {
      concurrency: "unbounded",
    })
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
      const allowed = Model.inquired(altar, attempt, before, truth, hands.now())
      const states = allowed.map(([, one]) => one.state)
      yield* among(`the look at key ${attempt.key}`, state, states)
      const found = allowed.find(([, one]) => one.state === state)
      if (found !== undefined) altar = Model.replaced(altar, found[1])
    }
  })

  /** Unused keys. */
  let newest = 0
  const keyFor = (key: typeof Key.Type) => {
    const known = key === "new" ? undefined : altar.attempts.at(-1 - key)?.key
    return known ?? (newest += 1)
  }

  const orderOf = ({ act, name, target }: Model.Order): Model.Order => ({ act, name, target })

  const run = Effect.fnUntraced(function* (command: Command) {
    const attempt = "of" in command ? (altar.attempts.at(-1 - command.of) ?? altar.attempts[0]) : undefined
    switch (command._tag) {
      case "Buy": {
        const { at, wallet } = command
        const order = orderOf(command)
        const one = { at, key: keyFor(command.key), order, authorization: yield* signed(order, wallet) }
        return command.isTwice ? yield* buyBoth(one, { ...one, at: otherThan(at) }) : yield* buy(one)
      }
      case "Ask": {
        const key = keyFor(command.key)
        const order = orderOf(command)
        const answer = yield* sent(command.at, key, order)
        yield* among(`key ${key} asked`, saidBy(answer), Model.asked(altar, key, order, hands.now()))
        return yield* remembers(key, answer)
      }
      case "Alter": {
        if (attempt === undefined) return undefined
        const order: Model.Order = { ...attempt.order, name: attempt.order.name === "Wren" ? "Finch" : "Wren" }
        const answer = yield* sent(command.at, attempt.key, order, attempt.authorization)
        return yield* among("another order", saidBy(answer), Model.asked(altar, attempt.key, order, hands.now()))
      }
      case "Repeat":
      case "Move": {
        if (attempt === undefined) return undefined
        const key = command._tag === "Move" ? keyFor(command.to) : attempt.key
        return yield* buy({ ...attempt, at: command.at, key })
      }
      case "Rivals": {
        const { at } = command
        const order = orderOf(command)
        const one = { at, key: keyFor(command.key), order, authorization: yield* signed(order, "rich") }
        const two = { at: otherThan(at), key: keyFor("new"), order, authorization: yield* signed(order, "poor") }
        return yield* buyBoth(one, two)
      }
      case "Reconcile":
        return yield* reconcile(command.at, attempt?.key ?? keyFor("new"))
      case "Pass":
        return yield* pass(pauses[command.pause])
      case "Fault":
        altar = { ...altar, fault: command.fault }
        return yield* world.misbehave(command.fault)
      case "TakeBack": {
        return yield* Effect.promise(() => chain.takeBack(command.blocks, command.comesBack))
      }
      case "Outsider": {
        const payment = attempt === undefined ? undefined : world.paymentOf(attempt.authorization)
        const by = attempt === undefined ? undefined : altar.authorizations[attempt.authorization]
        if (payment === undefined || by === undefined || !chain.isMining()) return undefined
        return yield* Effect.promise(() =>
          command.does === "brings" ? chain.bring(payment) : chain.cancel(payment, chain.payers[by.wallet]),
        )
      }
      case "Restart": {
        if (!command.isMeanwhile || Model.leavesOpen.has(altar.fault)) return yield* restart(command.at)
        const order: Model.Order = { act: "stone", target: 0, name: "Wren" }
        const authorization = yield* signed(order, "rich")
        return yield* restart(command.at, { at: otherThan(command.at), key: keyFor("new"), order, authorization })
      }
    }
  })

  for (const command of commands) {
    yield* hands.pass(stepMillis)
    yield* run(command)
    const rows = (yield* world.rows).map(({ acts, claims, key, state }) => ({ key, state, claims, acts }))
    const expected = altar.attempts.map(({ key, order, state }) => ({
      key: keyOf(key),
      state,
      claims: state === "failed" ? 0 : order.act === "prayer" || order.act === "keeper" ? 2 : 1,
      acts: state === "settled" ? 1 : 0,
    }))
    yield* differ("the attempts", rows, byKey(expected))
  }

  // Faults are over and time passes: every attempt and payment has its end.
  yield* world.calm
  altar = { ...altar, fault: "no" }
  const pendingKeys = () => altar.attempts.flatMap(({ key, state }) => (state === "pending" ? [key] : []))
  for (const pause of [pauses["a day"], Model.apartMillis, Model.apartMillis]) {
    yield* pass(pause)
    for (const key of pendingKeys()) yield* reconcile(key % 2 === 0 ? 0 : 1, key)
  }
  yield* differ("what is still open", pendingKeys(), [])

  // A settled attempt is final if it was paid, and lost if its block never existed: found by two looks of a server.
  for (const at of [0, 1] as const) {
    yield* pass(2 * Model.apartMillis)
    yield* restart(at, undefined, true)
  }
  const truth = yield* world.truth
  const isPaid = ({ authorization }: Model.Attempt) => truth.ends.get(authorization)?.how === "paid"
  const settled = altar.attempts.filter(({ state }) => state === "settled")
  const expected = settled.map((one) => ({ key: keyOf(one.key), finality: isPaid(one) ? "final" : "lost" }))
  const finalities = (yield* world.rows)
    .filter(({ state }) => state === "settled")
    .map(({ finality, key }) => ({ key, finality }))
  yield* differ("the finality of what is settled", finalities, byKey(expected))
  const delivered = new Set(settled.map((one) => one.authorization))
  const charged = altar.attempts.filter(
    (one) => one.state === "failed" && isPaid(one) && !delivered.has(one.authorization),
  )
  yield* differ("what failed and was charged", charged, [])
})

/** Plays a story in a world of its own; fails where the world and the model differ. */
export const play = (settledBy: Model.SettledBy, commands: ReadonlyArray<Command>) =>
  told(settledBy, commands).pipe(
    Effect.catchTag("SqlError", Effect.die),
    Effect.scoped,
    Effect.provide(Layer.provideMerge(stage, Logger.layer([]))),
  )
