/** `sandbox`: a real database, a real chain and play money, ready in seconds. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { fileURLToPath } from "node:url"
import { ConfigProvider, Console, Effect, Layer, Option, Redacted, Schema } from "effect"
import { type Command, Flag } from "effect/cli"
import { HttpClient, HttpClientResponse } from "effect/http"
import type { AddressRefused } from "../../http/Listener.ts"
import { base, baseSepolia } from "../../../schema/payments/Usdc.ts"
import { helpOf, rehearsing, sandbox as sandboxVariables } from "../../server/config/Table.ts"
import { withUnknown } from "../../server/config/Advice.ts"
import { AppConfig, listen, rehearsable, telemetry, urlOf } from "../../server/config/Config.ts"
import { DataFolder, type FolderInUse } from "../../sandbox/DataFolder.ts"
import { LocalChain } from "../../sandbox/LocalChain.ts"
import { LocalDatabase } from "../../sandbox/LocalDatabase.ts"
import * as OwnedProcess from "../../sandbox/OwnedProcess.ts"
import { packageRoot } from "../../platform/PackageRoot.ts"
import * as Sandbox from "../../sandbox/Sandbox.ts"
import * as Server from "../../server/Server.ts"
import * as Telemetry from "../../telemetry/Telemetry.ts"
import { command } from "../Define.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { defaultUrl } from "../Flags.ts"

const network = Flag.Literals("network", [baseSepolia, base]).pipe(
  Flag.withDescription(`Network id to rehearse with; on ${base} use throw-away keys only`),
  Flag.withDefault(baseSepolia),
)

const chain = Flag.String("chain").pipe(
  Flag.withDescription("Address of a chain of another sandbox, whose data folder and DATABASE_URL this one shares"),
  Flag.optional,
)

const watch = Flag.Boolean("watch").pipe(
  Flag.withDescription("Restart the server alone when a source changes, in a checkout"),
  Flag.withDefault(false),
)

const flags = { network, chain, watch }

type Flags = Command.Command.Config.Infer<typeof flags>

/** How to call the commands: through npm in a checkout, by name where installed. */
const commands = ["start", "dev"].includes(process.env["npm_lifecycle_event"] ?? "")
  ? { sandbox: "npm start", more: " --", buy: "npm run buy --", verify: "npm run verify --" }
  : { sandbox: "spirit-altar sandbox", more: "", buy: "spirit-altar", verify: "spirit-altar verify" }

const announce = Layer.effectDiscard(
  Effect.gen(function* () {
    const { publicUrl } = yield* AppConfig
    const chain = yield* LocalChain
    const { folder } = yield* DataFolder
    // Since the command began, a build included.
    const seconds = (performance.now() / 1000).toFixed(1)
    const at = publicUrl === defaultUrl ? "" : ` --url ${publicUrl}`
    yield* Console.log(`
  Spirit Altar sandbox                        ready after ${seconds} s

    site     ${publicUrl}/v2/
    agents   ${publicUrl}/for-agents
    API      ${publicUrl}/docs
    chain    ${chain.rpcUrl}  (${chain.network})

  The money is not real: play USDC on a private chain on this machine.
${chain.network === base ? "  This rehearses Base's own network id: use throw-away keys only, never a funded one.\n" : ""}
  Try next, in another terminal:

    ${commands.buy} witness${at} --text "The heron will return by May." --reveal
    ${commands.verify} --url ${publicUrl}

  Ctrl-C stops everything; the data stays: ${folder}
`)
  }),
)

/** Runs the server in a process of its own, which restarts when a source changes; chain and database stay. */
const watched = Layer.effectDiscard(
  Effect.gen(function* () {
    const { network, rpcUrl } = yield* LocalChain
    const { url } = yield* LocalDatabase
    const { folder } = yield* DataFolder
    yield* OwnedProcess.start({
      command: process.execPath,
      args: [
        ...["src", "schema", "migrations"].map((path) => `--watch-path=${path}`),
        "--watch-preserve-output",
        "src/start.js",
        "sandbox",
        "--network",
        network,
        "--chain",
        rpcUrl,
      ],
      env: { DATABASE_URL: Redacted.value(url), DATA_DIR: folder },
      cwd: fileURLToPath(packageRoot),
      ready: /\S/u,
      stop: { signal: "SIGTERM", force: "SIGKILL", patienceMs: 20_000 },
      hear: (text) => process.stdout.write(text),
    })
  }),
)

/** Says that nothing was changed, and suggests the next command. */
const taken = Effect.fnUntraced(function* (flags: Flags, folder: string, sandbox: string, isAtPort: boolean) {
  const { port } = yield* listen
  const network = flags.network === baseSepolia ? "" : `${commands.more} --network ${flags.network}`
  const second = `DATA_DIR=${folder}-2 PORT=${isAtPort ? port + 1 : port} ${commands.sandbox}${network}`
  return yield* new CommandFailure({
    message: `${sandbox}; it was left alone. Use that one, or stop it first, or start a second one beside it with data of its own: ${second}`,
  })
})

const folderTaken = Effect.fnUntraced(function* (flags: Flags, { folder, owner }: FolderInUse) {
  const sandbox =
    owner === undefined
      ? `Another sandbox has the data in ${folder}`
      : `A sandbox runs at ${owner.url} already (process ${owner.pid}, data in ${folder})`
  return yield* taken(flags, folder, sandbox, owner?.url === (yield* listen).publicUrl)
})

/** The page of a sandbox at the address that it listens on. */
const Neighbour = Schema.Struct({ ok: Schema.Literal(true), fund: Schema.String })

/** Says whether a sandbox has the port, or another program. */
const portTaken = Effect.fnUntraced(function* (flags: Flags, refused: AddressRefused) {
  const { host, port } = yield* listen
  const folder = yield* sandboxVariables.dataDir
  const { fund } = yield* HttpClient.get(`${urlOf(host, port)}/sandbox`).pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Neighbour)),
    Effect.timeout("2 seconds"),
    Effect.mapError(() => refused),
  )
  return yield* taken(flags, folder, `A sandbox runs at ${new URL(fund).origin} already, with other data`, true)
}, Effect.provide(NodeHttpClient.layerUndici))

/** For a person at a terminal: only warnings and errors, in words, unless the environment asks for more. */
const forPeople = ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ LOG_LEVEL: "Warn" }))

export const sandbox = command("sandbox", {
  description: `Run everything on this machine with play money. Optional environment:\n${helpOf(rehearsing)}`,
  examples: {
    "npm start": "Start on http://127.0.0.1:3000",
    [`DATA_DIR=.data-2 PORT=4000 npm start -- --network ${base}`]:
      "Rehearse the production wire format, beside the first",
  },
  flags,
  run: Effect.fn("sandboxing")(function* (flags: Flags) {
    yield* withUnknown(rehearsable)
    const served = announce.pipe(
      Layer.provide(Server.layer(Sandbox.routes)),
      Layer.provide(Sandbox.limits),
      Layer.provide(Sandbox.config(flags.network)),
    )
    const running: Layer.Layer<
      never,
      Layer.Error<typeof served> | Layer.Error<typeof watched>,
      Layer.Services<typeof served>
    > = flags.watch ? watched : served
    return yield* Layer.launch(
      running.pipe(
        Layer.provide(Sandbox.parts(flags.network, flags.chain)),
        Layer.provide(Option.isSome(flags.chain) ? DataFolder.ofParent : DataFolder.layer),
        Layer.provide(Layer.unwrap(Effect.map(telemetry("pretty"), Telemetry.layer)).pipe(Layer.provide(forPeople))),
      ),
    ).pipe(
      Effect.catchTag("FolderInUse", (error) => folderTaken(flags, error)),
      Effect.catchTag("AddressRefused", (error) => portTaken(flags, error)),
    )
  }),
})
