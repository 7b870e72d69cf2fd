/** A log under watch, with a webhook that takes its alarms or answers otherwise. */
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { checkLog } from "../../../src/cli/log/Watch.ts"
import { recall, type Watched } from "../../../src/cli/log/WatchedLog.ts"
import { newFolder } from "../Folders.ts"
import { listening } from "../proxy/HttpServer.ts"
import { signer } from "./LogFixture.ts"
import * as StaticLog from "./StaticLog.ts"

const hook = Effect.gen(function* () {
  const got: Array<{ readonly cause: string; readonly state: string; readonly message: string }> = []
  const answer = { status: 204, location: "" }
  const base = yield* listening((body, response, { url: path }) => {
    if (path !== "/hook") got.push({ cause: "redirected", state: "", message: "" })
    else if (answer.status === 204) got.push(JSON.parse(body))
    response.writeHead(answer.status, answer.location === "" ? {} : { location: answer.location }).end()
  })
  const told = () => got.map(({ cause, state }) => `${cause} ${state}`)
  return { url: `${base}/hook`, other: `${base}/other`, got, answer, told }
})

/** Each check runs as a new process, which shares only the file with the one before. */
export const watchedLog = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Uint8Array>,
  size = entries.length,
  more: Partial<Watched> = {},
) {
  const log = yield* StaticLog.serve(entries)
  log.size = size
  const watched: Watched = {
    url: log.base,
    file: join(newFolder(), "log.json"),
    vkey: Option.some(signer.vkey),
    origin: Option.none(),
    policy: Option.none(),
    staleAfter: 86_400_000,
    patience: 2,
    ...more,
  }
  const receiver = yield* hook
  const causesAt = (startedAt: number) =>
    Effect.map(checkLog(watched, startedAt, Option.some(receiver.url)), ({ alarms }) =>
      alarms.map(({ cause }) => cause),
    )
  const check = Effect.andThen(TestClock.adjust("1 minute"), Effect.flatMap(Clock.currentTimeMillis, causesAt))
  /** A check has these alarms. */
  const raises = (causes: ReadonlyArray<string>, why?: string) =>
    Effect.map(check, (raised) => assert.deepStrictEqual<ReadonlyArray<string>>(raised, causes, why))
  const checkpoint = Effect.map(recall(watched), (known) => Option.getOrThrow(known).checkpoint)
  return { ...receiver, log, watched, causesAt, check, raises, checkpoint }
})
