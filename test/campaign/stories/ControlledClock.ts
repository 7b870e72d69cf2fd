/** One clock for a server and its database, which stands where a test puts it: windows and ends are met to the millisecond. */
import { type Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { heldClock } from "../../lab/Clock.ts"
import { patience } from "../../lab/Patience.ts"

/** Waits of the server that are as long as this are for its sweeps, which a story begins by itself. */
const longWaitMillis = 30_000

/** How long the server waits for a settlement: no answer that comes misses it, and where none can come it is cut short. */
export const waitMillis = patience(20)
const cutMillis = patience(1.5)

export type ControlledClock = Effect.Success<typeof controlledClock>

/** Of a database that no server has used yet: its time functions are hidden behind ours. */
export const controlledClock = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { clock: held, put } = yield* heldClock
  /** Unix milliseconds. */
  const now = () => held.currentTimeMillisUnsafe()
  let isCut = false
  const at = () => new Date(now()).toISOString()
  const [{ name } = { name: "" }] = yield* sql<{ name: string }>`SELECT current_database() AS name`
  yield* sql`CREATE TABLE hands (at timestamptz NOT NULL)`
  yield* sql`INSERT INTO hands VALUES (${at()}::timestamptz)`
  for (const clock of ["now", "clock_timestamp"])
    yield* sql.unsafe(
      `CREATE FUNCTION public.${clock}() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM public.hands'`,
    )
  // Later connections find ours before the system's.
  yield* sql.unsafe(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`)

  const clock: Clock.Clock = {
    ...held,
    sleep: (duration) =>
      Effect.suspend(() => {
        const millis = Duration.toMillis(duration)
        if (millis === waitMillis) return held.sleep(isCut ? Duration.millis(cutMillis) : duration)
        return millis < longWaitMillis ? held.sleep(duration) : Effect.never
      }),
  }
  const pass = (millis: number) =>
    Effect.suspend(() => {
      put(now() + millis)
      return Effect.orDie(Effect.asVoid(sql`UPDATE hands SET at = ${at()}::timestamptz`))
    })
  /** Whether nothing will come of what the server waits for. */
  const cutWaits = (cut: boolean) => void (isCut = cut)
  return { now, pass, cutWaits, clock }
}).pipe(Effect.orDie)
