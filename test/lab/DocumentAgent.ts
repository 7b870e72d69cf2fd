/** An agent that knows nothing but a document: its program is what the document's blocks say, and no path stands here. */
import { createHash, randomBytes } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { createContext, runInContext } from "node:vm"
import type { PrivateKeyAccount } from "viem/accounts"

export interface Block {
  readonly language: "http" | "values"
  readonly text: string
}

export interface Request {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Step {
  readonly request: Request
  readonly status: number
  readonly headers: Headers
}

/** The program of a Markdown document. */
export const programOf = (markdown: string): ReadonlyArray<Block> =>
  [...markdown.matchAll(/^```(http|values)\n([\s\S]*?)\n```$/gmu)].map(([, language, text = ""]) => ({
    language: language === "http" ? "http" : "values",
    text,
  }))

interface Template {
  readonly line: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string | undefined
  readonly answers: ReadonlyMap<number, string>
}

/** A request line, headers, a body after an empty line, and lines with `#` for the answers. */
export const templateOf = (text: string): Template => {
  const lines = text.split("\n")
  const answers = lines.flatMap((line) => {
    const found = /^# (\d{3}) (.+)$/u.exec(line)
    return found === null ? [] : [[Number(found[1]), found[2] ?? ""] as const]
  })
  const [head = "", body] = lines
    .filter((line) => !line.startsWith("# "))
    .join("\n")
    .split("\n\n")
  const [line = "", ...headers] = head.split("\n")
  return {
    line,
    headers: headers.flatMap((one) => {
      const [name, value] = one.split(/: (.*)/u)
      return name === undefined || value === undefined ? [] : [[name, value] as const]
    }),
    body: body?.trim() === "" ? undefined : body,
    answers: new Map(answers),
  }
}

export class Agent {
  /** The answers that it got, in order. */
  readonly steps: Array<Step> = []
  readonly #values: Record<string, unknown>

  readonly account: PrivateKeyAccount
  readonly #before: (request: Request) => Promise<void>
  readonly #secondMillis: number

  /** `before` is called before each request. A second of `Retry-After` lasts `secondMillis`. */
  constructor(
    account: PrivateKeyAccount,
    before: (request: Request) => Promise<void> = () => Promise.resolve(),
    secondMillis = 1000,
  ) {
    this.account = account
    this.#before = before
    this.#secondMillis = secondMillis
    this.#values = createContext({
      wallet: account.address,
      signTypedData: (data: Parameters<PrivateKeyAccount["signTypedData"]>[0]) => account.signTypedData(data),
      random: (length: number) => randomBytes(length),
      hex: (bytes: Uint8Array) => Buffer.from(bytes).toString("hex"),
      base64: (text: string) => Buffer.from(text).toString("base64"),
      sha256: (text: string) => createHash("sha256").update(text).digest(),
      now: () => Math.floor(Date.now() / 1000),
      URLSearchParams,
    })
  }

  /** A value it holds. */
  value(name: string): unknown {
    if (!Object.hasOwn(this.#values, name)) throw new Error(`Nothing says what ${name} is`)
    return this.#values[name]
  }

  #run(code: string): Promise<void> {
    return runInContext(`(async () => {\n${code}\n})()`, this.#values)
  }

  #filled(template: string, written: (value: string) => string = (value) => value) {
    return template.replace(/\{([A-Za-z]+)\}/gu, (_, name: string) => written(String(this.value(name))))
  }

  /** Sends a request of the document; a 429 is waited out. */
  async send({ body, headers, line }: Template): Promise<{ readonly response: Response; readonly text: string }> {
    const [method = "", url = ""] = this.#filled(line).split(" ")
    const request: Request = {
      method,
      url,
      headers: Object.fromEntries(headers.map(([name, value]) => [name, this.#filled(value)])),
      ...(body === undefined ? {} : { body: this.#filled(body, (value) => JSON.stringify(value).slice(1, -1)) }),
    }
    await this.#before(request)
    const response = await fetch(url, { ...request, redirect: "error" })
    const text = await response.text()
    this.steps.push({ request, status: response.status, headers: response.headers })
    return { response, text }
  }

  async follow(program: ReadonlyArray<Block>): Promise<void> {
    let skip = false
    for (const { language, text } of program) {
      if (language === "values") await this.#run(text)
      else if (skip) skip = false
      else skip = await this.#ask(templateOf(text))
    }
  }

  /** Whether the next request is to be left out. */
  async #ask(template: Template): Promise<boolean> {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const { response, text } = await this.send(template)
      const what = template.answers.get(response.status) ?? (response.status === 429 ? "again" : undefined)
      if (what === undefined) throw new Error(`${template.line}: ${response.status} is not foreseen: ${text}`)
      if (what.startsWith("stop")) throw new Error(`${template.line}: ${what}`)
      if (what === "again") {
        await setTimeout(this.#secondMillis * Number(response.headers.get("retry-after") ?? 1))
        continue
      }
      if (what.includes(" = ")) {
        this.#values["body"] = JSON.parse(text)
        await this.#run(what)
      }
      return what.startsWith("skip")
    }
    throw new Error(`${template.line}: never ended`)
  }
}
