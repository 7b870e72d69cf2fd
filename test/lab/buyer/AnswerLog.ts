/** All answers of a server, one line of JSON each, for the auditor. */
import { createWriteStream } from "node:fs"

interface HttpRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export type HttpAnswer = Awaited<ReturnType<typeof answerOf>>

export type Answers = ReturnType<typeof answers>

const answerOf = async (response: Response) => ({
  status: response.status,
  headers: response.headers,
  text: await response.text(),
})

export const answers = (file: string, server: string) => {
  const out = createWriteStream(file)

  /** Asks and waits for a whole answer; none where there was none, or it was not a server of ours that gave it. */
  const ask = async (url: string, { body, headers, method }: HttpRequest, patienceMs: number) => {
    const type = body === undefined ? undefined : { "content-type": "application/json" }
    const signal = AbortSignal.timeout(patienceMs)
    const init = { method, headers: { ...type, ...headers }, body: body ?? null, redirect: "manual", signal } as const
    const heard = await fetch(url, init)
      .then(answerOf)
      .catch(() => undefined)
    // A proxy answers where no server does. Every answer of ours has this header.
    if (heard?.headers.has("x-content-type-options") !== true) return undefined
    const line = {
      at: Date.now(),
      server,
      method,
      url,
      key: headers["idempotency-key"] ?? null,
      requestBody: body,
      payment: headers["payment-signature"],
      status: heard.status,
      headers: Object.fromEntries(heard.headers),
      body: heard.text,
    }
    out.write(`${JSON.stringify(line)}\n`)
    return heard
  }

  return { file, ask, close: () => new Promise<void>((resolve) => out.end(resolve)) }
}
