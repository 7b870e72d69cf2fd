/** `verify --log` against an altar that would like to show one chain to whoever walks it, and another to its log. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Console, Effect, Option } from "effect"
import { verifying } from "../../src/cli/verify/Verify.ts"
import { signer } from "../lab/log/LogFixture.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"

const newFile = () => join(mkdtempSync(join(tmpdir(), "verified-log-")), "seen.json")

/** The lines a command prints. */
const printed = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const log = (line: string) => void lines.push(line)
    return Effect.as(Effect.provideService(command, Console.Console, { ...globalThis.console, log }), lines)
  })

layer(NodeServices.layer, { excludeTestServices: true })("a log that is verified", (it) => {
  it.effect("is the chain's: compared with the chain that was walked, and says what of it the log does not cover", () =>
    Effect.gen(function* () {
      const entries = StaticLog.entriesOf(320)
      const log = yield* StaticLog.serve(entries)
      log.size = 300
      const flags = { rpc: Option.none(), payTo: [], log: true, vkey: Option.some(signer.vkey), policy: Option.none() }
      const verify = Effect.suspend(() =>
        printed(verifying({ ...flags, url: log.base, seen: Option.some(newFile()), json: false })),
      )
      const whole = (yield* verify).join("\n")
      assert.include(
        whole,
        "every tile and the signed root derive from them, and the first 300 stones of the chain are the",
      )
      assert.match(whole, /^The log does not cover the last 20 stones of the chain: /mu)

      // Another chain for whoever walks it, and the log's own stone for whoever asks for one.
      const other = StaticLog.entriesOf(320, (sequence) => (sequence > 250 ? "another" : ""))
      log.chain = (limit) => (limit === 1 ? entries : other)
      const liar = yield* Effect.flip(verify)
      assert.strictEqual(
        `${liar._tag}: ${liar.message}`,
        "Broken: THE LOG IS BROKEN: stone 300 of the chain is not the one of the log.",
      )

      log.chain = () => entries.slice(0, 299)
      const short = yield* Effect.flip(verify)
      assert.match(`${short._tag}: ${short.message}`, /^Broken: BROKEN at stone 300: the chain ends before it, .* 300/u)

      log.chain = () => entries
      log.size = 0
      assert.match((yield* verify).join("\n"), /^The log does not cover the last 320 stones of the chain: /mu)
    }),
  )
})
