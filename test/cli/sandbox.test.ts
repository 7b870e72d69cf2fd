/** The newcomer's way, its printed commands, and a second sandbox beside it: never a danger to the first. */
import { readdir, readFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { main, run, type Running } from "../lab/Process.ts"
import { takePort } from "../lab/Ports.ts"
import { newFolder } from "../lab/Folders.ts"
import { root } from "../lab/Sources.ts"

const takesManyRooms = async (url: string) => {
  const post = (path: string, body: object, token = "") =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token === "" ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
  const opened = await Promise.all(Array.from({ length: 30 }, () => post("/api/rooms", {})))
  assert.deepStrictEqual([...new Set(opened.map(({ status }) => status))], [201])
  const [first] = opened
  if (first === undefined) return assert.fail("no room was opened")
  assert.include(first.headers.get("ratelimit-policy"), '"creations-day";q=1000;w=86400')
  const { room, token } = await first.json()
  for (let sent = 0; sent < 40; sent += 1) {
    const message = { sender: "Wren", text: `Number ${sent}.`, mode: "calm" }
    assert.strictEqual((await post(`/api/rooms/${room.id}/messages`, message, token)).status, 201)
  }
  const manual = await fetch(`${url}/llms.txt`).then((answer) => answer.text())
  assert.include(manual, "This server, a sandbox, takes 100 times as many.")
}

describe("a sandbox", () => {
  let folder = ""
  let data = ""
  let [port, other] = [0, 0]
  const children = new Set<Running>()

  const environment = (more: Record<string, string> = {}): NodeJS.ProcessEnv => {
    const env: NodeJS.ProcessEnv = { ...process.env, npm_lifecycle_event: "start", DATA_DIR: data, ...more }
    for (const name of ["HOST", "PUBLIC_URL", "DATABASE_URL", "SPIRIT_ALTAR_URL"]) delete env[name]
    return env
  }

  const launch = (at: number, ...args: ReadonlyArray<string>) => {
    const one = run([main, "sandbox", ...args], { env: environment({ PORT: String(at) }), cwd: folder })
    children.add(one)
    void one.ended.then(() => children.delete(one))
    return one
  }

  const bannerOf = ({ says }: Running) => says("Ctrl-C")

  const stop = ({ ended, signal }: Running, name: NodeJS.Signals = "SIGINT") => {
    signal(name)
    return ended
  }

  const parts = async () => {
    const cluster = await readFile(join(data, "postgres/cluster/postmaster.pid"), "utf8")
    return [cluster.split("\n")[0], await readFile(join(data, "chain-eip155-84532.json.pid"), "utf8")].map(Number)
  }

  const shell = (line: string) =>
    run(["-c", line], { command: "sh", env: environment({ SPIRIT_ALTAR_DATA: join(folder, "buyer") }), cwd: root })
      .ended

  const works = async (at: number) => {
    const answer = await fetch(`http://127.0.0.1:${at}/api/health`)
    assert.deepInclude(await answer.json(), { ok: true, database: "ok" })
  }

  beforeAll(async () => {
    folder = newFolder()
    data = join(folder, "data")
    port = await takePort()
    other = await takePort()
  })
  afterAll(async () => {
    for (const child of children) void child.kill()
  })

  it("takes many rooms, is not disturbed by a second one, prints commands that work, and is taken over once killed", async () => {
    const first = launch(port)
    const banner = await bannerOf(first)
    assert.match(banner, /money is not real/u)
    await takesManyRooms(`http://127.0.0.1:${port}`)
    const before = await parts()

    for (const [at, args, advised] of [
      [port, [], port + 1],
      [other, ["--network", "eip155:8453"], other],
    ] as const) {
      const second = await launch(at, ...args).ended
      assert.deepStrictEqual([second.code, second.stdout], [1, ""])
      assert.strictEqual(
        second.stderr,
        `A sandbox runs at http://127.0.0.1:${port} already (process ${first.pid}, data in ${data}); ` +
          "it was left alone. Use that one, or stop it first, or start a second one beside it with data of its own: " +
          `PORT=${advised} ${["npm start -- --fresh", ...args].join(" ")}\n`,
      )
    }
    assert.deepStrictEqual(await parts(), before)
    await works(port)

    const fresh = launch(other, "--fresh", "--network", "eip155:8453")
    const own = /the data goes with it: (\S+)/u.exec(await bannerOf(fresh))?.[1] ?? ""
    assert.match(own.slice(data.length), /^\/fresh-\w+$/u)
    await Promise.all([works(port), works(other)])
    assert.include(await readdir(own), "chain-eip155-8453.json")
    await stop(fresh)
    assert.notInclude(await readdir(data), own.slice(data.length + 1))
    await works(port)
    assert.deepStrictEqual(await parts(), before)

    // The banner's next steps, as they stand there.
    const steps = banner.split("\n").filter((line) => line.startsWith("    npm run "))
    assert.strictEqual(steps.length, 2, banner)
    for (const [step, outcome] of [
      [steps[0] ?? "", "paid        $0.01, once"],
      [steps[1] ?? "", "1 stones: every link hashes, every payment is on the chain."],
      [`npm run buy -- room create --name "Night shift" --url http://127.0.0.1:${port}`, "Night shift"],
    ] as const) {
      const ended = await shell(step.trim())
      assert.strictEqual(ended.code, 0, `${step}\n${ended.stderr}`)
      assert.include(ended.stdout, outcome)
    }

    await stop(first, "SIGKILL")
    const rivals = [launch(port), launch(other)]
    const winner = await Promise.any(rivals.map((one) => bannerOf(one).then(() => one)))
    const [loser] = await Promise.all(rivals.filter((one) => one !== winner).map((one) => one.ended))
    assert.strictEqual(loser?.code, 1)
    assert.include(loser?.stderr ?? "", `(process ${winner.pid}, data in ${data}); it was left alone.`)
    const at = winner === rivals[0] ? port : other
    await works(at)
    const kept = await shell(`npm run verify -- --url http://127.0.0.1:${at}`)
    assert.include(kept.stdout, "1 stones: every link hashes, every payment is on the chain.", kept.stderr)
    await stop(winner)
  })

  it("names a taken port in one line, and writes nothing", async () => {
    const holder = createServer().listen(port, "127.0.0.1")
    data = join(folder, "other")
    const { code, stderr, stdout } = await launch(port).ended
    holder.close()
    assert.notInclude(await readdir(data), "log-key")
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr.trim().split("\n").length, 1, stdout + stderr)
    assert.match(stderr, new RegExp(`127.0.0.1:${port} is taken`, "u"))
  })
})
