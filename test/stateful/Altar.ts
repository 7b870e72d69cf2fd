/** Stories of paid acts: buyers with few keys and few wallets, a network that misbehaves, time that passes. */
import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import {
  Arbitrary,
  Clock,
  Duration,
  Effect,
  Exit,
  Layer,
  Logger,
  Option,
  Redacted,
  Schedule,
  Schema,
  Scope,
} from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../src/Config.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as Server from "../../src/Server.ts"
import { slowness } from "../support/Patience.ts"
import { Proxies, stage } from "../support/Proxies.ts"
import {
  type Answer,
  ask,
  challengeOf,
  configOf,
  encode,
  type Payment,
  paymentsOf,
  post,
  sign,
} from "../support/World.ts"
import * as Model from "./AltarModel.ts"
import { ChainHands } from "./ChainHands.ts"
import { Hands } from "./Hands.ts"
import { Difference, type Play, type Tally } from "./Story.ts"

/** Every command takes so long, so that what is believed for a moment is believed no longer. */
const stepMillis = 3_000

/** Seconds for which a payment is signed. */
const life = 300

const pauses = {
  "two minutes": 120_000,
  "seven minutes": 420_000,
  "an hour": Model.apartMillis,
  "a day": 86_400_000,
} as const

/** A purchase, from the newest back. */
const Of = Schema.Literals([0, 0, 1, 2, 3])
/** A new key, or that of a purchase. */
const Key = Schema.Literals(["new", "new", "new", "new", "new", 0, 1])
const order = {
  act: Schema.Literals(["prayer", "keeper", "pixel", "pixel", "candle", "stone", "stone"]),
  target: Schema.Literals([0, 0, 1]),
  name: Schema.Literals(["Wren", "Wren", "Finch"]),
}
const Wallet = Schema.Literals(["rich", "rich", "poor"])

const Buy = Schema.TaggedStruct("Buy", {
  key: Key,
  ...order,
  wallet: Wallet,
  isTwice: Schema.Literals([false, false, true]),
})
const Reconcile = Schema.TaggedStruct("Reconcile", { of: Of })
const Pass = Schema.TaggedStruct("Pass", {
  pause: Schema.Literals(Object.keys(pauses) as ReadonlyArray<keyof typeof pauses>),
})

const commandOf = (settledBy: Model.SettledBy) =>
  Schema.Union([
    Buy,
    Buy,
    Buy,
    Buy,
    Schema.TaggedStruct("Ask", { key: Key, ...order }),
    Schema.TaggedStruct("Repeat", { of: Of }),
    Schema.TaggedStruct("Move", { of: Of, to: Key }),
    Schema.TaggedStruct("Rivals", { key: Key, ...order }),
    Reconcile,
    Reconcile,
    Schema.TaggedStruct("Open", { of: Of, isRight: Schema.Literals([true, true, false]) }),
    Pass,
    Pass,
    Schema.TaggedStruct("Fault", { fault: Schema.Literals(Model.faults[settledBy]) }),
    Schema.TaggedStruct("Fault", { fault: Schema.Literals(["no", "no", ...Model.faults[settledBy]]) }),
    Schema.TaggedStruct("TakeBack", { blocks: Schema.Literals([1, 2]), comesBack: Schema.Boolean }),
    Schema.TaggedStruct("Outsider", { of: Of, does: Schema.Literals(["brings", "cancels"]) }),
    Schema.TaggedStruct("Restart", {}),
    Schema.TaggedStruct("Read", {}),
  ])
type Command = ReturnType<typeof commandOf>["Type"]

const orderSays = ({ act, name, target }: Model.Order) => `${act} ${target} for ${name}`
const ofSays = (of: number) => (of === 0 ? "the newest purchase" : `the purchase ${of} before the newest`)
const keySays = (key: typeof Key.Type) => (key === "new" ? "a new key" : `the key of ${ofSays(key)}`)

const says = (command: Command): string => {
  switch (command._tag) {
    case "Buy":
      return `the ${command.wallet} wallet buys ${orderSays(command)} under ${keySays(command.key)}${command.isTwice ? ", sent twice at once" : ""}`
    case "Ask":
      return `somebody asks for ${orderSays(command)} under ${keySays(command.key)} without paying`
    case "Repeat":
      return `the request of ${ofSays(command.of)} is sent again`
    case "Move":
      return `the payment of ${ofSays(command.of)} is sent under ${keySays(command.to)}`
    case "Rivals":
      return `both wallets buy ${orderSays(command)} at once, the rich one under ${keySays(command.key)}`
    case "Reconcile":
      return `${ofSays(command.of)} is reconciled`
    case "Open":
      return `the words of ${ofSays(command.of)} are shown, ${command.isRight ? "as sealed" : "other ones"}`
    case "Pass":
      return `${command.pause} ${command.pause.startsWith("a") ? "passes" : "pass"}`
    case "Fault":
      return command.fault === "no" ? "the network behaves" : `from here on ${command.fault}`
    case "TakeBack":
      return `the newest ${command.blocks} blocks never were; what was in them ${command.comesBack ? "comes again" : "is gone"}`
    case "Outsider":
      return command.does === "brings"
        ? `an outsider brings the payment of ${ofSays(command.of)} to the chain`
        : `the payer cancels the payment of ${ofSays(command.of)}`
    case "Restart":
      return "the server is started anew"
    case "Read":
      return "everything is read"
  }
}

const spirits = ["moss-hare", "rain-crow"] as const
const pixels = ["pixel-bit-frog", "pixel-cache-crab"] as const
/** Editions of each pixel that somebody else holds. */
const soldBefore = 128 - Model.editions
const salt = "a salt of sixteen characters"
const wordsOf = ({ name, target }: Model.Order) => `The heron will return by ${["May", "June"][target]}, says ${name}.`
const sealed = (words: string) => createHash("sha256").update(`${salt}\0${words}`).digest("hex")
const keyOf = (key: number) => `story-key-000${key}`

const requestOf = (order: Model.Order) => {
  const { act, name: agentName, target } = order
  const commitment = sealed(wordsOf(order))
  switch (act) {
    case "prayer":
      return { path: `/api/prayers/${spirits[target]}`, body: { agentName, intentionCommitment: commitment } }
    case "keeper":
      return { path: `/api/acquire/${spirits[target]}`, body: { agentName } }
    case "pixel":
      return { path: `/api/elements/${pixels[target]}/collect`, body: { agentName } }
    case "candle":
      return {
        path: `/api/candles/day/${spirits[target]}`,
        body: { agentName, dedication: "For the bees", intentionCommitment: commitment },
      }
    case "stone":
      return { path: "/api/witness", body: { commitment, agentName } }
  }
}

const differ = (what: string, found: unknown, expected: unknown) =>
  isDeepStrictEqual(found, expected)
    ? Effect.void
    : Effect.fail(
        new Difference({
          message: `${what}\n  is         ${JSON.stringify(found)}\n  instead of ${JSON.stringify(expected)}`,
        }),
      )

const saidBy = ({ json, status }: Answer) => {
  const code = status < 300 && json["code"] !== "settlement_pending" ? undefined : json["code"]
  return code === undefined ? String(status) : `${status} ${String(code)}`
}

const isAmong = (what: string, said: string, allowed: ReadonlyArray<string>) =>
  allowed.includes(said)
    ? Effect.void
    : Effect.fail(new Difference({ message: `${what} was answered ${said} instead of ${allowed.join(" or ")}` }))

const config = (settledBy: Model.SettledBy) =>
  Layer.effect(
    AppConfig,
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const { database, facilitator, rpc } = yield* Proxies
      const { settlement } = paymentsOf(chain)
      return yield* configOf(
        {
          rpcUrl: Redacted.make(rpc.url),
          patience: Duration.millis(800 * slowness),
          sweepEvery: Duration.millis(Model.apartMillis),
          settlement:
            settledBy === "relayer" ? settlement : { _tag: "Facilitator", url: facilitator.url, key: Option.none() },
        },
        { databaseUrl: Redacted.make(database.url) },
      )
    }),
  )

const world = (settledBy: Model.SettledBy) =>
  ChainHands.layer.pipe(
    Layer.provideMerge(config(settledBy)),
    Layer.provideMerge(Hands.layer),
    Layer.provideMerge(stage),
    Layer.orDie,
  )

/** A request with a payment. */
interface Paid {
  readonly key: number
  readonly order: Model.Order
  readonly authorization: number
}

const play = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>, tally: Tally) {
  const hands = yield* Hands
  const chain = yield* ChainHands
  const sql = yield* SqlClient.SqlClient
  const { facilitator, rpc } = yield* Proxies
  const config = yield* AppConfig
  const url = config.publicUrl

  for (const pixel of pixels)
    yield* sql`INSERT INTO payment_pools (name, drawn, highest)
      VALUES (${`edition:${pixel}`}, ${soldBefore}, ${soldBefore})`

  const among = (what: string, said: string, allowed: ReadonlyArray<string>) => {
    tally(`${what.replace(/ ?key \d+/u, "").trim()}: ${said}`)
    return isAmong(what, said, allowed)
  }

  let altar = Model.empty
  const payments: Array<Payment> = []
  const bytes = new Map<number, string>()
  let running = yield* Scope.make()

  const start = Effect.gen(function* () {
    running = yield* Scope.make()
    yield* Layer.buildWithScope(
      Layer.fresh(
        Server.layer(Layer.empty).pipe(
          Layer.provide(Layer.succeed(AppConfig, config)),
          Layer.provide(Layer.succeed(Clock.Clock, hands.clock)),
        ),
      ),
      running,
    )
    yield* Effect.tryPromise(() => fetch(`${url}/livez`)).pipe(Effect.retry(Schedule.spaced("20 millis")))
  }).pipe(Effect.orDie)
  yield* Effect.addFinalizer(() => Scope.close(running, Exit.void))
  yield* start

  const truthNow = Effect.promise(() => chain.truth(payments))
  const nowSeconds = () => Math.floor(hands.now() / 1000)

  const pass = Effect.fnUntraced(function* (millis: number) {
    yield* hands.pass(millis)
    if (chain.isMining()) yield* Effect.promise(() => chain.mine(3))
  })

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
  const rows = sql`
    SELECT idempotency_key AS key, state,
      (SELECT count(*)::int FROM payment_claims c WHERE c.attempt_id = a.id) AS claims,
      (SELECT count(*)::int FROM acts WHERE acts.id = a.id) AS acts
    FROM payment_attempts a ORDER BY idempotency_key COLLATE "C"`.pipe(
    Effect.orDie,
    Effect.map((found) => found.map((row) => ({ ...row }))),
  )

  /** The first answer's bytes for ever. */
  const remembers = Effect.fnUntraced(function* (key: number, answer: Answer) {
    if (answer.status !== 200 && answer.status !== 201) return
    const said = answer.text.replace('"replayed":false', '"replayed":true')
    const before = bytes.get(key)
    bytes.set(key, said)
    if (before !== undefined) yield* differ(`the answer of key ${key}`, said, before)
  })

  const offerOf = Effect.fnUntraced(function* (path: string) {
    return challengeOf(yield* ask(`${url}${path}`, { method: "POST" }))
  })
  const offers = new Map<string, Effect.Success<ReturnType<typeof offerOf>>>()

  /** Signs a payment of its own for an order. */
  const signed = Effect.fnUntraced(function* (order: Model.Order, wallet: Model.Wallet) {
    const { path } = requestOf(order)
    const offer = offers.get(path) ?? (yield* offerOf(path))
    offers.set(path, offer)
    const validBefore = nowSeconds() + life
    const payment = yield* sign(chain.payers[wallet], offer.accepts[0], offer.resource, {
      validBefore: String(validBefore),
    })
    payments.push(payment)
    altar = { ...altar, authorizations: [...altar.authorizations, { order, wallet, validBefore }] }
    return payments.length - 1
  })

  const sent = (key: number, order: Model.Order, authorization?: number) => {
    const { body, path } = requestOf(order)
    const payment = authorization === undefined ? undefined : payments[authorization]
    const headers = { "idempotency-key": keyOf(key) }
    const paying = payment === undefined ? headers : { ...headers, "payment-signature": encode(payment) }
    return ask(`${url}${path}`, post(body, paying))
  }

  /** One paid request; what it is told has to be what the model says. */
  const buy = Effect.fnUntraced(function* (one: Paid) {
    const { authorization, key, order } = one
    const truth = yield* truthNow
    const answer = yield* sent(key, order, authorization)
    const said = saidBy(answer)
    const now = hands.now()
    yield* among(`key ${key} paid`, said, Model.paid(altar, truth, key, order, authorization, now))
    altar = Model.afterPaid(altar, key, order, authorization, said, now)
    yield* remembers(key, answer)
  })

  /** Two at once are answered as if one had come after the other; how the first one stands by then, nobody knows. */
  const buyBoth = Effect.fnUntraced(function* (one: Paid, two: Paid) {
    const truth = yield* truthNow
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
    const before = yield* truthNow
    const answer = yield* ask(`${url}/api/reconcile/${keyOf(key)}`, { method: "POST" })
    const said = saidBy(answer)
    if (attempt === undefined) return yield* among(`reconciling key ${key}`, said, ["404 attempt_not_found"])
    if (attempt.state !== "pending") {
      yield* among(`reconciling key ${key}`, said, [attempt.state === "settled" ? "200" : Model.failed])
      return yield* remembers(key, answer)
    }
    const allowed = Model.looked(altar, attempt, before, yield* truthNow, hands.now())
    yield* among(
      `reconciling key ${key}`,
      said,
      allowed.map(([told]) => told),
    )
    const found = allowed.find(([told]) => told === said)
    if (found !== undefined) altar = Model.replaced(altar, found[1])
    yield* remembers(key, answer)
  })

  const calm = Effect.gen(function* () {
    yield* rpc.calm
    yield* facilitator.calm
    if (!chain.isMining()) yield* Effect.promise(() => chain.mining(true))
    altar = { ...altar, fault: "no" }
  })

  const misbehave = Effect.fnUntraced(function* (fault: Model.Fault) {
    yield* calm
    altar = { ...altar, fault }
    switch (fault) {
      case "no":
        return
      case "no block comes":
        return yield* Effect.promise(() => chain.mining(false))
      case "the node is silent":
        return void rpc.arm("*", "dropBefore")
      case "receipts are withheld":
        return void rpc.arm("eth_getTransactionReceipt", "nothing")
      case "broadcasts are swallowed":
        return void rpc.arm("eth_sendRawTransaction", "swallow")
      case "broadcasts are refused":
        return void rpc.arm("eth_sendRawTransaction", "refusal")
      case "answers to broadcasts are lost":
        return void rpc.arm("eth_sendRawTransaction", "dropAfter")
      case "broadcasts are taken and denied":
        return void rpc.arm("eth_sendRawTransaction", "deny")
      case "the facilitator refuses":
        return void facilitator.arm("refuseBefore")
      case "the facilitator imagines a transaction":
        return void facilitator.arm("imagineBefore")
      case "the facilitator's answers are lost":
        return void facilitator.arm("dropAfter", "mined")
      case "the facilitator calls it used":
        return void facilitator.arm("alreadyUsedAfter", "mined")
      case "the facilitator names another transaction":
        return void facilitator.arm("wrongHashAfter", "mined")
      case "the facilitator refuses what it has sent":
        return void facilitator.arm("refuseAfter", "mined")
    }
  })

  /** At its start a server looks once at every open attempt, by itself. */
  const restart = Effect.gen(function* () {
    const before = yield* truthNow
    const looks = sql<{
      readonly key: string
      readonly state: string
      readonly checks: number
      readonly doubted: boolean
    }>`
      SELECT idempotency_key AS key, state, checks, doubted_at IS NOT NULL AS doubted
      FROM payment_attempts WHERE finality IS DISTINCT FROM 'none'`.pipe(Effect.orDie)
    const open = altar.attempts.filter(({ state }) => state === "pending")
    const checksBefore = new Map((yield* looks).map(({ checks, key }) => [key, checks]))
    yield* Scope.close(running, Exit.void)
    yield* start
    const after = yield* looks.pipe(
      Effect.repeat({
        until: (found) =>
          open.every(({ key }) => {
            const row = found.find((one) => one.key === keyOf(key))
            return row !== undefined && (row.state !== "pending" || row.checks > (checksBefore.get(row.key) ?? 0))
          }),
        schedule: Schedule.spaced("20 millis"),
      }),
      Effect.timeoutOrElse({
        duration: Duration.seconds(20 * slowness),
        orElse: () => Effect.fail(new Difference({ message: "the start looked at no open attempt" })),
      }),
    )
    const truth = yield* truthNow
    for (const attempt of open) {
      const state = after.find(({ key }) => key === keyOf(attempt.key))?.state ?? ""
      const allowed = Model.looked(altar, attempt, before, truth, hands.now())
      yield* among(
        `the look at key ${attempt.key}`,
        state,
        allowed.map(([, one]) => one.state),
      )
      const found = allowed.find(([, one]) => one.state === state)
      if (found !== undefined) altar = Model.replaced(altar, found[1])
    }
  })

  const read = Effect.gen(function* () {
    const json = Effect.fnUntraced(function* (path: string) {
      return JSON.parse((yield* ask(`${url}${path}`)).text)
    })
    const [acts, witness, segment, candles, altars, field, catalog, spiritList] = yield* Effect.all(
      [
        "/api/acts?limit=50",
        "/api/witness?limit=50",
        "/api/witness/chain?limit=100",
        "/api/candles",
        "/api/altars",
        "/api/field",
        "/api/pixels",
        "/api/spirits",
      ].map(json),
      { concurrency: "unbounded" },
    )
    const altarOf = (target: number) =>
      altars.altars.find(({ spirit }: { spirit: string }) => spirit === spirits[target])
    const found = {
      acts: acts.acts.length,
      cents: field.centsSettled,
      stones: witness.stones.length,
      keepers: field.keepers,
      keptTargets: [0, 1].filter(
        (target) => spiritList.spirits.find(({ id }: { id: string }) => id === spirits[target]).keeper !== null,
      ),
      prayersToday: field.prayersToday,
      slots: [0, 1].map((target) => altarOf(target).today.state),
      lit: candles.lit,
      pixels: [0, 1].map((target) => {
        const { remaining, reserved } = catalog.pixels.find(({ id }: { id: string }) => id === pixels[target])
        return { reserved: reserved - soldBefore, remaining }
      }),
      revealed: witness.stones.filter(({ reveal }: { reveal: unknown }) => reveal !== null).length,
    }
    yield* differ("what is read", found, Model.shown(altar, hands.now()))
    yield* differ("the field", [field.acts, field.stones, field.litCandles], [found.acts, found.stones, found.lit])
    let previous = "0".repeat(64)
    for (const [index, one] of segment.entries.entries()) {
      const parts = [previous, index + 1, one.commitment, one.witnessedAt, one.transaction]
      const hash = createHash("sha256").update(parts.join("\0")).digest("hex")
      yield* differ(`link ${index + 1}`, [one.sequence, one.previousHash, one.chainHash], [index + 1, previous, hash])
      previous = hash
    }
    yield* differ("the head", segment.head, { sequence: found.stones, chainHash: previous })
  })

  const open = Effect.fnUntraced(function* (attempt: Model.Attempt | undefined, isRight: boolean) {
    const key = keyOf(attempt?.key ?? -1)
    const found = yield* sql<{ readonly id: string }>`SELECT id FROM payment_attempts WHERE idempotency_key = ${key}`
    const id = found[0]?.id ?? "00000000-0000-4000-8000-000000000000"
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
        return yield* misbehave(command.fault)
      case "TakeBack": {
        const isGone = yield* Effect.promise(() => chain.takeBack(command.blocks, command.comesBack))
        return tally(isGone ? "blocks taken back" : "blocks that are final")
      }
      case "Outsider": {
        const payment = attempt === undefined ? undefined : payments[attempt.authorization]
        const wallet = attempt === undefined ? undefined : altar.authorizations[attempt.authorization]?.wallet
        if (payment === undefined || wallet === undefined || !chain.isMining()) return undefined
        return yield* Effect.promise(() =>
          command.does === "brings" ? chain.bring(payment) : chain.cancel(payment, chain.payers[wallet]),
        )
      }
      case "Restart":
        return yield* restart
      case "Read":
        return yield* read
    }
  })

  for (const command of commands) {
    tally("command")
    yield* hands.pass(stepMillis)
    yield* run(command)
    yield* differ("the attempts", yield* rows, rowsOf(altar))
  }

  // In the end everything ends, and what is final was paid.
  yield* calm
  const openNow = () => altar.attempts.filter(({ state }) => state === "pending")
  for (const pause of [420_000, Model.apartMillis, Model.apartMillis]) {
    yield* pass(pause)
    for (const { key } of openNow()) yield* reconcile(key)
  }
  yield* differ(
    "what is still open",
    openNow().map(({ key }) => key),
    [],
  )
  yield* read
  const finalities = sql<{ readonly key: string; readonly finality: string }>`
    SELECT idempotency_key AS key, finality FROM payment_attempts WHERE state = 'settled' ORDER BY 1`
  for (let sweep = 0; sweep < 2; sweep += 1) {
    yield* pass(2 * Model.apartMillis)
    yield* restart
    yield* Effect.sleep("50 millis")
  }
  const truth = yield* truthNow
  const expected = altar.attempts
    .filter(({ state }) => state === "settled")
    .map(({ authorization, key }) => ({
      key: keyOf(key),
      finality: truth.ends.get(authorization)?.how === "paid" ? "final" : "lost",
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  yield* finalities.pipe(
    Effect.map((found) => found.map((row) => ({ ...row }))),
    Effect.repeat({ until: (found) => isDeepStrictEqual(found, expected), schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutOrElse({
      duration: Duration.seconds(3 * slowness),
      orElse: () => Effect.flatMap(finalities, (found) => differ("the finality of what is settled", found, expected)),
    }),
  )
  const sold = altar.attempts.filter(
    ({ authorization, state }) => state === "settled" && truth.ends.get(authorization)?.how === "paid",
  )
  const strays = [...truth.ends].filter(
    ([place, { how }]) => how === "paid" && !sold.some(({ authorization }) => authorization === place),
  )
  for (const [place] of strays) {
    // Only an outsider can have brought what nobody was told is bought.
    yield* differ(
      `what holds payment ${place}`,
      altar.attempts.filter(({ authorization, state }) => authorization === place && state !== "failed"),
      [],
    )
  }
})

export const stories = (settledBy: Model.SettledBy): Play<Command> => ({
  name: settledBy,
  command: Arbitrary.schema(commandOf(settledBy)),
  longest: 30,
  runs: 10,
  says,
  play: (commands, tally) =>
    play(commands, tally).pipe(
      Effect.catchTag("SqlError", Effect.die),
      Effect.scoped,
      Effect.provide(world(settledBy)),
      Effect.provide(Logger.layer([])),
    ),
})
