/** `log join` in this process, and its report as the state and the message of each check. */
import { Effect } from "effect"
import { commandRun } from "../CommandRun.ts"
import { golden } from "./Vectors.ts"

/** Runs the command on a log with the key in the environment, and reads its report: the state of each check. */
export const joined = Effect.fnUntraced(function* (url: string, ...more: ReadonlyArray<string>) {
  const env = { LOG_KEY: golden.signerKey, PUBLIC_URL: url, OPERATOR_CONTACT: "ops@altar.example" }
  const ended = yield* commandRun(["log", "join", ...more], { ...env, LOG_PUBLISH_SECONDS: "1" })
  const lines = [...ended.stdout.matchAll(/^(\S+) +(ok|failed|skipped|warning) +(.*)$/gmu)]
  return {
    ...ended,
    states: Object.fromEntries(lines.map(([, check = "", state = ""]) => [check, state])),
    says: Object.fromEntries(lines.map(([, check = "", , message = ""]) => [check, message])),
  }
})
