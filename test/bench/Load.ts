/** Requests over keep-alive connections, a fixed number in flight, each answer read to its end and held to its expected status. */
import { Pool } from "@effect/platform-node/Undici"

export interface Shot {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export const inFlight = 50

export const connect = (url: string) =>
  new Pool(url, { connections: inFlight, pipelining: 1, headersTimeout: 30_000, bodyTimeout: 30_000 })

export type Connections = ReturnType<typeof connect>

/** One request, with all of its answer. */
export const ask = async (to: Connections, shot: Shot) => {
  const { body, headers, statusCode } = await to.request({ ...shot, headers: { ...shot.headers } })
  return { status: statusCode, headers, text: await body.text() }
}

/** Works through `count` jobs, `width` at a time; answers the seconds it took. */
export const work = async (count: number, width: number, job: (index: number) => Promise<unknown>): Promise<number> => {
  let next = 0
  const started = process.hrtime.bigint()
  const worker = async () => {
    while (next < count) await job(next++)
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker))
  return Number(process.hrtime.bigint() - started) / 1e9
}

/** Fires `count` shots; throws at the first answer that has another status than `expected`. */
export const fire = (to: Connections, count: number, expected: number, shot: (index: number) => Shot) =>
  work(count, inFlight, async (index) => {
    const { body, statusCode } = await to.request(shot(index))
    if (statusCode !== expected) throw new Error(`expected ${expected}, got ${statusCode}: ${await body.text()}`)
    await body.dump()
  })
