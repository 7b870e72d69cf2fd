/** The machine-readable manifests, generated from the offers; none has a price or a route of its own. */
import { interfaceVersion } from "../../schema/Version.ts"
import { version } from "../platform/Software.ts"
import { spendPolicy } from "../altar/SpendPolicy.ts"
import type { LogIdentity } from "../log/PublishedLog.ts"
import type { PaymentTerms } from "../payments/PaymentTerms.ts"
import { handshake, versions } from "./McpMessage.ts"
import { tools as paths } from "./Routes.ts"
import type { Offer } from "./Offers.ts"
import * as Words from "./Words.ts"

/** The icon of the server and its tools. It has to be read by HTTPS, so a server of this machine shows none. */
export const icons = (publicUrl: string) =>
  publicUrl.startsWith("https:")
    ? { icons: [{ src: `${publicUrl}/art/icons/icon-192.png`, mimeType: "image/png", sizes: ["192x192"] }] }
    : {}

/** MCP server card (SEP-2127): the address of the tools, which clients list there. */
export const serverCard = (publicUrl: string) => ({
  $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
  name: `${new URL(publicUrl).hostname.split(".").toReversed().join(".")}/spirit-altar`,
  title: Words.name,
  description: Words.description,
  version,
  websiteUrl: `${publicUrl}/for-agents`,
  ...icons(publicUrl),
  remotes: paths.map((path) => ({
    type: "streamable-http",
    url: `${publicUrl}${path}`,
    supportedProtocolVersions: versions,
  })),
})

const paymentOf = (setting: PaymentTerms["Service"]) => {
  const x402 = { protocol: "x402", version: 2, scheme: "exact" }
  if (setting._tag === "NotConfigured") {
    return { ...x402, enabled: false, state: "not_configured", missing: setting.missing }
  }
  const { asset, assetName, assetVersion, network, payTo } = setting.terms
  return { ...x402, enabled: true, state: "ready", network, asset, assetName, assetVersion, decimals: 6, payTo }
}

/** The agent manifest, in a plain shape of our own. */
export const agentManifest = (
  publicUrl: string,
  offers: ReadonlyArray<Offer>,
  setting: PaymentTerms["Service"],
  log?: LogIdentity,
) => ({
  name: Words.name,
  description: Words.about,
  interfaceVersion,
  softwareVersion: version,
  url: publicUrl,
  documentation: `${publicUrl}/for-agents`,
  mcp: {
    url: `${publicUrl}${paths[0]}`,
    transport: "streamable-http",
    protocolVersion: handshake,
    protocolVersions: versions,
  },
  openapi: `${publicUrl}/openapi.json`,
  llms: `${publicUrl}/llms.txt`,
  payment: paymentOf(setting),
  actions: offers.map(({ act, amountAtomic, priceUsd, urls }) => ({
    name: act.name,
    description: act.description,
    route: act.route,
    example: urls[0],
    priceUsd,
    amountAtomic,
    ...(act.days === undefined ? {} : { days: act.days }),
  })),
  buyerSpendPolicy: spendPolicy(offers.map(({ act }) => act)),
  ...(log && { log: { ...log, status: `${publicUrl}/api/witness/log` } }),
  retry: Words.retry,
  reconcile: Words.reconcileUrl(publicUrl),
})

/** x402 discovery: a bare pointer for each URL that answers 402, which states the price. */
export const x402 = (publicUrl: string, offers: ReadonlyArray<Offer>) => ({
  x402Version: 2,
  kind: "resource-server",
  name: Words.name,
  description: Words.description,
  resources: offers.flatMap(({ act, urls }) =>
    urls.map((url) => ({ url, method: "POST", description: `${act.description}: ${act.name}` })),
  ),
  docs: `${publicUrl}/for-agents`,
  terms: `${publicUrl}/terms`,
})
