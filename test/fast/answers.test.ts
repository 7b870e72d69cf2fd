/** What a free route answers is what its schema says: no member more, and nothing of another form. */
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Schema } from "effect"
import { encoderOf, MalformedAnswer, textOf } from "../../src/altar/Answers.ts"

const Pebble = Schema.Struct({
  ok: Schema.Literal(true),
  weight: Schema.Int,
  finder: Schema.NullOr(Schema.Struct({ name: Schema.NonEmptyString })),
}).annotate({ identifier: "Pebble" })

const encode = encoderOf(Pebble)

it.effect("writes the members of the contract, in its order, and no other", () =>
  Effect.gen(function* () {
    const pebble = { secret: "salt", finder: { wallet: "0x1", name: "Wren" }, weight: 3, ok: true as const }
    assert.strictEqual(JSON.stringify(yield* encode(pebble)), '{"ok":true,"weight":3,"finder":{"name":"Wren"}}')
  }),
)

it.effect("dies of what does not fit, with the members and without their values", () =>
  Effect.gen(function* () {
    const write = textOf(Pebble, (pebble: typeof Pebble.Type) => pebble)
    const exit = yield* Effect.exit(write({ ok: true, weight: 0.5, finder: { name: "" } }))
    assert.isTrue(exit._tag === "Failure" && Cause.hasDies(exit.cause))
    const defect = exit._tag === "Failure" ? Cause.squash(exit.cause) : undefined
    assert.instanceOf(defect, MalformedAnswer)
    assert.strictEqual(defect.message, "Pebble does not have its form: weight, finder/name")
  }),
)
