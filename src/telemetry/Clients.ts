/** The coarse kind of a client by its user agent, for the log only. It never identifies a client. */
export type Client = "browser" | "agent" | "monitor" | "crawler" | "other"

const kinds: ReadonlyArray<readonly [sign: RegExp, kind: Client]> = [
  [
    /kube-probe|healthcheck|uptime|pingdom|statuscake|blackbox|prometheus|nagios|zabbix|elb-health|googlehc/iu,
    "monitor",
  ],
  [/bot\b|crawl|spider|slurp|archiver/iu, "crawler"],
  [/^mozilla\//iu, "browser"],
  [
    /node|undici|axios|fetch|python|aiohttp|httpx|requests|go-http|curl|wget|java|okhttp|ruby|rust|reqwest|x402|mcp|claude|openai|gpt|agent|bun|deno/iu,
    "agent",
  ],
]

export const clientOf = (userAgent: string | undefined): Client =>
  userAgent === undefined ? "other" : (kinds.find(([sign]) => sign.test(userAgent))?.[1] ?? "other")
