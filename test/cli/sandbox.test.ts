/** The newcomer's way, its printed commands, a second sandbox that leaves the first alone, and the end of a killed one. */
import { spawnSync } from "node:child_process"
import { readdir, readFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { until } from "../lab/Eventually.ts"
import { isAlive } from "../lab/Processes.ts"
import { main, run, type Running } from "../lab/Process.ts"
import { takePort } from "../lab/Ports.ts"
import { newFolder } from "../lab/Folders.ts"
import { root } from "../lab/Sources.ts"

const mayMount = spawnSync("unshare", ["-m", "true"]).status === 0

describe("a sandbox", () => {
  const folder = newFolder()
  let data = join(folder, "data")
  let [port, other] = [0, 0]
  const children = new Set<Running>()
  const base = ["--network", "eip155:8453"]

  const environment = (more: Record<string, string> = {}): NodeJS.ProcessEnv => {
    const env: NodeJS.ProcessEnv = { ...process.env, npm_lifecycle_event: "start", DATA_DIR: data, ...more }
    for (const name of ["HOST", "PUBLIC_URL", "DATABASE_URL", "SPIRIT_ALTAR_URL"]) delete env[name]
    return env
  }

  const launch = (at: number, args: ReadonlyArray<string> = [], more: Record<string, string> = {}) => {
    const one = run([main, "sandbox", ...args], { env: environment({ PORT: String(at), ...more }), cwd: folder })
    children.add(one)
    void one.ended.then(() => children.delete(one))
    return one
  }

  const bannerOf = ({ says }: Running) => says("Ctrl-C")

  const stop = ({ ended, signal }: Running, name: NodeJS.Signals) => {
    signal(name)
    return ended
  }

  const parts = async () => {
    const cluster = await readFile(join(data, "postgres/cluster/postmaster.pid"), "utf8")
    return [cluster.split("\n")[0], await readFile(join(data, "chain-eip155-84532.json.pid"), "utf8")].map(Number)
  }

  const shell = (line: string) =>
    run(["-c", line], { command: "sh", env: environment({ DATA_DIR: join(folder, "buyer") }), cwd: root }).ended

  beforeAll(async () => {
    port = await takePort()
    other = await takePort()
  })
  afterAll(async () => {
    for (const child of children) void child.kill()
  })

  it("is not disturbed by a second one, prints commands that work, and is taken over once killed", async () => {
    const first = launch(port)
    const banner = await bannerOf(first)
    const url = `http://127.0.0.1:${port}`
    assert.match(banner, /money is not real/u)
    const before = await parts()
    const second = await launch(other, base).ended
    assert.deepStrictEqual([second.code, second.stdout], [1, ""])
    assert.strictEqual(
      second.stderr,
      `A sandbox runs at ${url} already (process ${first.pid}, data in ${data}); ` +
        "it was left alone. Use that one, or stop it first, or start a second one beside it with data of its own: " +
        `DATA_DIR=${data}-2 PORT=${other} npm start -- --network eip155:8453\n`,
    )
    assert.deepStrictEqual(await parts(), before)
    const room = await fetch(`${url}/api/rooms`, { method: "POST" })
    assert.include(room.headers.get("ratelimit-policy"), '"creations-day";q=10;w=86400')

    // The banner's next steps, as they stand there.
    const steps = banner.split("\n").filter((line) => line.startsWith("    npm run "))
    assert.strictEqual(steps.length, 2, banner)
    const verified = "1 stone: every link hashes, every payment is on the chain."
    for (const [step, outcome] of [
      [steps[0] ?? "", "paid        $0.01, once"],
      [steps[1] ?? "", verified],
    ] as const) {
      const ended = await shell(step.trim())
      assert.strictEqual(ended.code, 0, `${step}\n${ended.stderr}`)
      assert.include(ended.stdout + ended.stderr, outcome)
    }

    const gone = (pids: ReadonlyArray<number>) =>
      Effect.sync(() => pids.filter(isAlive)).pipe(until("database or chain stays", (left) => left.length === 0))
    await stop(first, "SIGKILL")
    await Effect.runPromise(gone(before))
    const next = launch(port)
    await bannerOf(next)
    const kept = await shell(`npm run verify -- --url ${url}`)
    assert.include(kept.stdout, verified, kept.stderr)
    const later = await parts()
    assert.strictEqual((await stop(next, "SIGTERM")).code, 0)
    assert.deepStrictEqual(later.filter(isAlive), [])
  })

  it("rehearses Base, loosens its limits on request, and is named before another one installs anything", async () => {
    const first = launch(port, base, { SANDBOX_LIMITS: "loose" })
    assert.match(await bannerOf(first), /use throw-away keys only/u)
    const url = `http://127.0.0.1:${port}`
    const { asset, chainId } = await (await fetch(`${url}/sandbox`)).json()
    assert.deepStrictEqual([asset, chainId], ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", 8453])
    const room = await fetch(`${url}/api/rooms`, { method: "POST" })
    assert.include(room.headers.get("ratelimit-policy"), '"creations-day";q=1000;w=86400')
    data = join(folder, "third")
    const { code, stderr, stdout } = await launch(port).ended
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.match(
      stderr,
      new RegExp(`^A sandbox runs at http://127.0.0.1:${port} already, with other data; it was left`, "u"),
    )
    assert.include(stderr, `DATA_DIR=${data}-2 PORT=${port + 1} npm start`)
    assert.notInclude(await readdir(data), "postgres")
    await stop(first, "SIGTERM")
  })

  it.runIf(mayMount).each(["1m", "20m", "41m"])("says in one sentence that a disk of %s is full", async (size) => {
    const script = 'mount -t tmpfs -o size="$SIZE" tmpfs "$DISK" && chmod 755 "$DISK" && exec "$@"'
    const disk = newFolder()
    const env = environment({ SIZE: size, DISK: disk, DATA_DIR: join(disk, "data"), PORT: String(other) })
    const args = ["-m", "sh", "-c", script, "sh", process.execPath, main, "sandbox"]
    const { code, stderr } = await run(args, { command: "unshare", env, cwd: folder }).ended
    assert.strictEqual(code, 1)
    assert.match(stderr, /^The disk is full\. Free some space.*\n$/u)
  })

  it("names a taken port in one line, and installs nothing", async () => {
    const holder = createServer().listen(port, "127.0.0.1")
    data = join(folder, "other")
    const { code, stderr, stdout } = await launch(port).ended
    holder.close()
    assert.notInclude(await readdir(data), "postgres")
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr.trim().split("\n").length, 1, stdout + stderr)
    assert.match(stderr, new RegExp(`127.0.0.1:${port} is taken`, "u"))
  })
})
