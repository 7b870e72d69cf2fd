/** What an operator is told to do when the log has stopped points to what was found, whatever other words the reason holds. */
import { assert, describe, it } from "@effect/vitest"
import { adviceOn } from "../../src/cli/log/Log.ts"
import type { StopReason } from "../../src/log/StopReason.ts"

const reasons: Readonly<Record<string, ReadonlyArray<StopReason>>> = {
  "Do not resume as it is: stones that were signed are missing here.": [
    "the published checkpoint covers 30 stones, but this database has 20 in its log: a backup was restored, or this is another database",
    "the checkpoint that the log witness watcher.example/w1 holds covers 30 stones, but this database has 20 in its log: a backup was restored, or this is another database",
    "the first 20 stones of the log are not those that the checkpoint that the log witness watcher.example/w1 holds covers",
    "the first 20 stones of the log are not those that the checkpoint this server signed last covers",
  ],
  "Compare log_checkpoints with a backup and with what readers hold:": [
    "the first 20 stones of the log are not those that the published checkpoint covers",
    "the checkpoint of 20 stones is not as signed",
    "the published checkpoint is not as this server's key would sign it",
  ],
  "Another program wrote to log_tiles:": [
    "the tiles above stone 7 are not those of the published checkpoint",
    "the tiles of the 20 stones of the log do not have the root it was built with",
    "the tiles behind stone 20 are not as the log left them",
  ],
  "Another program wrote to witness_stones:": [
    "stones from 1 to 20 are not those that the log holds",
    "stone 7 is not the one that the log holds",
    "the log holds 20 stones, but there are only 19",
    "the chain is broken: witness stone 7 does not hash to its chainHash",
  ],
}

describe("the advice for a stopped log", () => {
  it("names the table that was written to, or says that a backup was restored", () => {
    for (const [advice, found] of Object.entries(reasons)) {
      for (const reason of found) assert.isTrue(adviceOn(reason).startsWith(advice), `${reason}: ${adviceOn(reason)}`)
    }
  })

  it("guesses nothing from words that it does not know", () => {
    assert.match(adviceOn("the tiles of a checkpoint ran away"), /^Compare the log_ tables and witness_stones/u)
  })
})
