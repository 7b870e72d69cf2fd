/**
 * Random sequences of requests, faults and time against two real servers, each answer foretold by a small model of the state
 * table; of a story that goes wrong the shortest form that does is told.
 */
import { appendFileSync } from "node:fs"
import { Arbitrary, Cause, Effect } from "effect"
import { patience } from "../../lab/Patience.ts"
import { assert, describe, live } from "../../lab/Suites.ts"
import { Difference, play } from "./Altar.ts"
import { type Command, commandOf } from "./AltarCommands.ts"
import type { SettledBy } from "./AltarModel.ts"

/** A command as a line: its name, and each of its members. */
const lineOf = ({ _tag, ...members }: Command) =>
  [_tag, ...Object.entries(members).map(([name, value]) => `${name} ${JSON.stringify(value)}`)].join(", ")

/** The options of `npm run campaign` for the tests; absent in a single test. */
const {
  STORIES_MINUTES = "Infinity",
  STORIES_REPLAY: replay,
  STORIES_RUNS,
  STORIES_SEED: seed = "1",
  STORIES_TOLD: told,
} = process.env

/** Milliseconds for a file's stories; a campaign waits. */
const timeLimit = STORIES_RUNS === undefined ? patience(300) : 86_400_000

/** Commands of one story at most. */
const longest = 50

/** Shorter stories that are tried of one that goes wrong. */
const maxShrinks = 200

const tell = (line: string) => Effect.sync(() => (told !== undefined ? process.stdout.write(`${line}\n`) : false))

/** Plays the stories of a seed; a failing story is shortened before it is printed. Answers how many commands there were. */
const check = Effect.fnUntraced(function* (name: SettledBy) {
  const runs = replay === undefined ? Number(STORIES_RUNS ?? 2) : 1
  const started = performance.now()
  let commands = 0
  let toldAt = 0

  const played = (story: ReadonlyArray<Command>) =>
    play(name, story).pipe(
      Effect.andThen(Effect.sync(() => (commands += story.length))),
      Effect.as(true),
      Effect.catchCause((cause) => {
        const found = Cause.squash(cause)
        return Effect.fail(found instanceof Difference ? found : new Difference({ message: Cause.pretty(cause) }))
      }),
      Effect.tapError(({ message }) => tell(`${name}: a story of ${story.length} commands goes wrong: ${message}`)),
    )

  // Two halves: hardly a story is empty, and each can still be made as short as one likes.
  const half = Arbitrary.array(Arbitrary.schema(commandOf(name)), { maxLength: Math.ceil(longest / 2) })
  const storyOf = Arbitrary.map(Arbitrary.all([half, half]), ([first, second]) => [...first, ...second])

  let story = 1
  for (; story <= runs && performance.now() - started < Number(STORIES_MINUTES) * 60_000; story += 1) {
    const result = yield* Arbitrary.checkEffect(storyOf, played, {
      runs: 1,
      size: longest,
      maxShrinks,
      seed: `${seed}/${story}`,
      replay,
    })
    if (result._tag === "Falsified") {
      const { failure, initialInput, replay: token, shrunkInput } = result
      return assert.fail(
        [
          `Story ${story} of seed ${seed} goes wrong; of its ${initialInput.length} commands these are enough:`,
          ...shrunkInput.map((one, index) => `${String(index + 1).padStart(4)}. ${lineOf(one)}`),
          failure._tag === "PropertyError" ? failure.error.message : "",
          `Again: npm run campaign -- stories --only ${name} --replay '${token}'`,
        ].join("\n"),
      )
    }
    if (result._tag !== "Passed") return assert.fail(Arbitrary.formatCheckFailure(result))
    const seconds = (performance.now() - started) / 1000
    if (seconds - toldAt < 5 && story < runs) continue
    toldAt = seconds
    yield* tell(`${name}: ${story} of ${runs} stories, ${commands} commands, ${seconds.toFixed(0)} s`)
  }
  if (told !== undefined) appendFileSync(told, `${JSON.stringify({ stories: story - 1, commands })}\n`)
  return commands
})

describe("the altar", () => {
  live.each(["relayer", "facilitator"] as const)(
    "answers random stories as its model says: %s",
    function* (settledBy) {
      assert.isAbove(yield* check(settledBy), 0)
    },
    timeLimit,
  )
})
