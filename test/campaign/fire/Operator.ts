/** The operator, who refunds by the command: it may be killed at any moment, and says what it refused. */
import { setTimeout } from "node:timers/promises"
import { payToKey } from "../../lab/Chain.ts"
import { main, run } from "../../lab/Process.ts"
import type { Random } from "../../lab/Random.ts"
import type { Harness } from "../Harness.ts"

/** `admin refund` with these flags. */
export const refund = ({ environment }: Harness, ...flags: ReadonlyArray<string>) =>
  run([main, "admin", "refund", "--json", "--why", "the campaign ends", ...flags], {
    env: { PATH: process.env["PATH"] ?? "", ...environment, REFUND_KEY: payToKey },
  })

/** Half of the commands are killed on their way. */
export const refundAndMayDie = async (world: Harness, random: Random, ...flags: ReadonlyArray<string>) => {
  const command = refund(world, ...flags)
  if (random.chance(0.5)) {
    await Promise.race([setTimeout(random.between(500, 5_000)), command.exited])
    await command.kill()
  }
  await command.ended
}
