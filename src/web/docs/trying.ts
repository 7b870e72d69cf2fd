/** Sends a form's request to this server and shows the answer. */
import { randomHex } from "../../buyer/core/Digest.ts"
import { all } from "../v2/page/dom.ts"

interface Filled {
  readonly url: string
  readonly init: RequestInit
}

const requestOf = (form: HTMLFormElement): Filled => {
  const headers = new Headers({ Accept: "application/json" })
  const query = new URLSearchParams()
  let path = form.dataset["path"] ?? "/"
  let body: string | undefined
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("[data-in]")) {
    const value = field.value.trim()
    if (value === "") continue
    switch (field.dataset["in"]) {
      case "path":
        path = path.replace(`{${field.name}}`, encodeURIComponent(value))
        break
      case "query":
        query.set(field.name, value)
        break
      case "header":
        headers.set(field.name, value)
        break
      case "token":
        headers.set("Authorization", `Bearer ${value}`)
        break
      case "body":
        body = value
        headers.set("Content-Type", "application/json")
    }
  }
  const method = form.dataset["method"] ?? "GET"
  return {
    url: path + (query.size === 0 ? "" : `?${query}`),
    init: { method, headers, cache: "no-store", ...(body === undefined ? {} : { body }) },
  }
}

/** Indents JSON; anything else stays as it is. */
const readable = (text: string) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const shown = ["location", "retry-after", "idempotent-replayed", "ratelimit", "etag"]

const headersOf = (response: Response) =>
  shown.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [`${name}: ${value}\n`]
  })

const send = async ({ init, url }: Filled) => {
  const began = performance.now()
  const response = await fetch(url, init)
  const text = await response.text()
  return {
    text: `${response.status} after ${Math.round(performance.now() - began)} ms`,
    shown: `${headersOf(response).join("")}\n${readable(text)}`.trim(),
  }
}

const begin = (box: HTMLElement) => {
  const form = box.querySelector("form")
  const said = box.querySelector("[data-said]")
  const answer = box.querySelector<HTMLElement>("[data-answer]")
  if (form === null || said === null || answer === null) return
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    said.textContent = "Asking…"
    void send(requestOf(form)).then(
      ({ shown, text }) => {
        said.textContent = text
        answer.hidden = false
        return (answer.textContent = shown)
      },
      () => (said.textContent = "The server could not be reached. Look at your connection, and send it again."),
    )
  })
  // Each visitor gets a new key: the one in the document may have been used already.
  for (const key of form.querySelectorAll<HTMLInputElement>('[name="Idempotency-Key"]')) {
    key.value = `docs-${randomHex(16)}`
  }
}

export const start = () => {
  for (const box of all("[data-try]", HTMLElement)) begin(box)
}
