/** A server with a log as a process of its own, and where it stands. */
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { chain } from "../Chain.ts"
import { database, sql } from "../Database.ts"
import { until } from "../Eventually.ts"
import { ask, TestServer } from "../Fixture.ts"
import { direct } from "../server/Environment.ts"
import { terminal } from "../Terminal.ts"
import { golden } from "./Vectors.ts"

/** A database and a chain, without a server. */
export const place = Layer.orDie(Layer.merge(sql.pipe(Layer.provideMerge(database)), chain))

/** A terminal that knows no server. */
export const outside = Effect.provideService(terminal, TestServer, { url: "" })

/** The environment of a server that signs once a second and keeps its checkpoint file in this folder. */
export const signingIn = (folder: string) =>
  Effect.map(direct, (env) => ({
    ...env,
    LOG_KEY: golden.signerKey,
    LOG_ORIGIN: golden.name,
    LOG_PUBLISH_SECONDS: "1",
    LOG_CHECKPOINT_FILE: join(folder, "checkpoint"),
    LOG_LEVEL: "Info",
  }))

/** The answer for a stone's proof once a checkpoint covers it. */
export const covered = (url: string, id: string) =>
  ask(`${url}/api/witness/${id}/proof`).pipe(until("it is never covered", ({ status }) => status !== 409))
