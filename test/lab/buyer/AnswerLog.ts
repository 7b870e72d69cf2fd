/** All answers of a server, one line of JSON each, for the auditor. */
import { createWriteStream } from "node:fs"

export interface HttpAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export type Answers = ReturnType<typeof answers>

export const answers = (file: string, server: string) => {
  const out = createWriteStream(file)

  /** Asks and waits for a whole answer; none where there was none, or it was not a server of ours that gave it. */
  const ask = async ({ body, headers, method, url }: HttpRequest, patienceMs: number) => {
    const heard = await fetch(url, {
      method,
      headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal: AbortSignal.timeout(patienceMs),
    })
      .then(async (response): Promise<HttpAnswer> => ({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      }))
      .catch(() => undefined)
    // A proxy answers where no server does. Every answer of ours has this header.
    if (heard?.headers["x-content-type-options"] === undefined) return undefined
    out.write(
      `${JSON.stringify({
        at: Date.now(),
        server,
        method,
        url,
        key: headers["idempotency-key"] ?? null,
        ...(body === undefined ? {} : { requestBody: body }),
        ...(headers["payment-signature"] === undefined ? {} : { payment: headers["payment-signature"] }),
        ...heard,
      })}\n`,
    )
    return heard
  }

  return { file, ask, close: () => new Promise<void>((resolve) => out.end(resolve)) }
}
