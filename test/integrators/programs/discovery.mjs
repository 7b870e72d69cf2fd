// Reads an altar as agents' wallets do before they pay, and prints what discovery finds wrong with it.
import {
  checkEndpointSchema,
  checkL2ForOpenAPI,
  checkL4ForOpenAPI,
  getOpenAPI,
  getWarningsForL2,
  getWarningsForL3,
  getWarningsForL4,
  getWarningsForOpenAPI,
} from "@agentcash/discovery"

const [, , altar] = process.argv
const found = await getOpenAPI(altar)
const document = found.isOk() ? found.value : null
const { routes } = checkL2ForOpenAPI(document)
const faults = [
  ...getWarningsForOpenAPI(document),
  ...getWarningsForL2({ routes }),
  ...getWarningsForL4(checkL4ForOpenAPI(document)),
]

/** Paths whose names are known without asking: the values of a buyer. */
const filled = (path) => path.replace("{familiarId}", "moss-hare").replace("{elementId}", "beeswax")

const offers = []
for (const { method, path } of routes.filter(({ authMode }) => authMode === "paid")) {
  const checked = await checkEndpointSchema({ url: altar + filled(path), probe: true })
  const advisory = checked.found ? (checked.advisories.find((one) => one.method === method) ?? null) : null
  faults.push(...getWarningsForL3(advisory).map((fault) => ({ ...fault, path: `${method} ${path}` })))
  offers.push({ path, options: advisory?.paymentOptions?.length ?? 0 })
}
const auth = Object.fromEntries(
  routes.map(({ authMode, method, path }) => [`${method} ${path}`, authMode ?? "unknown"]),
)
process.stdout.write(JSON.stringify({ faults, offers, auth }))
