/** Stones of files and folders: sealed by hash, checked offline, and never paid for while they change. */
import { execFileSync } from "node:child_process"
import { appendFileSync, mkdirSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { realClock, world } from "../lab/Fixture.ts"
import { terminal } from "../lab/Terminal.ts"

/** A server that does not answer. */
const stopped = { SPIRIT_ALTAR_URL: "http://127.0.0.1:9" }

const write = (folder: string, files: Readonly<Record<string, string>>) => {
  mkdirSync(join(folder, "notes"), { recursive: true })
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
}

const draft = { "notes/b.txt": "b", "notes/a.txt": "a", "ä.txt": "ä", "-z \\ \u2028.txt": "z" }

/** A folder with a stone of it; the answer is in a file beside the folder. */
const sealed = Effect.gen(function* () {
  const at = yield* terminal
  const folder = join(at.folder, "draft")
  write(folder, draft)
  const bought = yield* at.command(["witness", "--folder", folder])
  assert.strictEqual(bought.code, 0, bought.stderr)
  const stone = join(at.folder, "stone.json")
  writeFileSync(stone, bought.stdout)
  return { at, bought, folder, stone }
})

layer(world(), realClock)("a stone of files", (it) => {
  it.effect("is of the list of a folder, which sha256sum and a fresh machine check without the server", function* () {
    const { at, bought, folder, stone } = yield* sealed
    const list = readFileSync(join(folder, "SHA256SUMS"), "utf8")
    assert.deepStrictEqual(
      list.split("\n").map((line) => line.slice(66)),
      ["-z \\ \u2028.txt", "notes/a.txt", "notes/b.txt", "ä.txt", ""],
    )
    execFileSync("sha256sum", ["-c", "--strict", "--quiet", "SHA256SUMS"], { cwd: folder })
    const { record } = JSON.parse(bought.stdout)
    const sum = execFileSync("sha256sum", [join(folder, "SHA256SUMS")], { encoding: "utf8" })
    assert.strictEqual(sum.slice(0, 64), record.commitment)
    assert.strictEqual(record.kind, "hash")
    assert.include(bought.stderr, `the commitment of stone ${record.sequence}`)
    const again = yield* at.command(["witness", "--folder", folder, "--json", "--key", JSON.parse(bought.stdout).key])
    assert.isTrue(JSON.parse(again.stdout).replayed)
    const offline = yield* at.run(["verify", "--folder", folder, "--stone", stone], stopped)
    assert.strictEqual(offline.code, 0, offline.stderr)
    assert.match(offline.stdout, /^HOLDS {8}files: 4 of 4 files/mu)
    assert.match(offline.stdout, /^HOLDS {8}file: .* records the hash of SHA256SUMS\.$/mu)
    assert.strictEqual(yield* at.spent, 1)
  })

  it.effect("names each changed, missing and added file, and a list or a stone that is another", function* () {
    const { folder, stone } = yield* sealed
    const at = yield* terminal
    const verify = (...args: ReadonlyArray<string>) => at.run(["verify", ...args], stopped)
    renameSync(join(folder, "notes/a.txt"), join(folder, "notes/c.txt"))
    writeFileSync(join(folder, "notes/b.txt"), "B")
    const changed = yield* verify("--folder", folder, "--stone", stone)
    assert.strictEqual(changed.code, 1)
    assert.match(changed.stdout, /^BROKEN {7}notes\/a\.txt: It is missing/mu)
    assert.match(changed.stdout, /^BROKEN {7}notes\/b\.txt: It changed/mu)
    assert.match(changed.stdout, /^NOT CHECKED {2}notes\/c\.txt: It is not in SHA256SUMS/mu)
    assert.match(changed.stdout, /^HOLDS {8}file: /mu)
    appendFileSync(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  d.txt\n`)
    assert.match((yield* verify("--folder", folder, "--stone", stone)).stdout, /^BROKEN {7}file: .*SHA256SUMS has/mu)
    const bare = yield* verify("--folder", join(folder, "notes"), "--stone", stone)
    assert.match(bare.stderr, /notes\/SHA256SUMS cannot be read/u)
    writeFileSync(join(folder, "SHA256SUMS"), "a list")
    assert.match((yield* verify("--folder", folder, "--stone", stone)).stderr, /SHA256SUMS is no list of hashes/u)
    const forged = JSON.parse(readFileSync(stone, "utf8"))
    writeFileSync(stone, JSON.stringify({ ...forged, record: { ...forged.record, sequence: 9 } }))
    const file = join(folder, "ä.txt")
    assert.match((yield* verify("--file", file, "--stone", stone)).stdout, /does not hash to its chainHash/u)
    assert.match((yield* verify("--stone", stone)).stderr, /Name what --stone is of/u)
  })

  it.effect("is found in the altar's chain by the file alone", function* () {
    const at = yield* terminal
    const file = join(at.folder, "plan.txt")
    writeFileSync(file, "The plan of the bridge.")
    const unknown = yield* at.run(["verify", "--file", file, "--json"])
    assert.strictEqual(JSON.parse(unknown.stdout).code, "broken")
    const { record } = JSON.parse((yield* at.command(["witness", "--file", file, "--kind", "promise"])).stdout)
    assert.strictEqual(record.kind, "promise")
    const known = yield* at.run(["verify", "--file", file])
    assert.strictEqual(known.code, 0, known.stderr)
    assert.include(known.stdout, `Stone ${record.sequence}, set ${record.witnessedAt}`)
  })

  it.effect("is refused for anything that cannot be listed or read, and nothing is paid", function* () {
    const at = yield* terminal
    const make = (name: string, files: Readonly<Record<string, string>> = { "a.txt": "a" }) => {
      write(join(at.folder, name), files)
      return join(at.folder, name)
    }
    const linked = make("linked")
    symlinkSync("a.txt", join(linked, "b.txt"))
    const old = make("old", { "a.txt": "a", SHA256SUMS: "kept" })
    const pipe = join(at.folder, "pipe")
    execFileSync("mkfifo", [pipe])
    const refusals: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [["--folder", linked], /b\.txt is a link/u],
      [["--folder", make("named", { "a\nb": "a" })], /"a\\nb" in .* rename it/u],
      [["--folder", make("empty", {})], /holds no files/u],
      [["--folder", old], /SHA256SUMS lists other files than the folder has\. It was not changed/u],
      [["--folder", join(at.folder, "nowhere")], /nowhere cannot be read/u],
      [["--file", pipe], /no regular file/u],
      [["--file", linked], /no regular file/u],
      [["--file", pipe, "--text", "words"], /by one of --text, --file and --folder/u],
      [["--file", pipe, "--reveal"], /no words to reveal/u],
      [["--file", pipe, "--salt", "sixteen-chars-ok"], /no words to reveal, and no salt/u],
    ]
    for (const [args, says] of refusals) {
      const { code, stdout } = yield* at.command(["witness", ...args, "--json"])
      assert.strictEqual(code, 1, `${args.join(" ")}\n${stdout}`)
      assert.match(JSON.parse(stdout).message, says)
      assert.match(JSON.parse(stdout).message, /Nothing was sent or charged\.$/u)
    }
    assert.strictEqual(readFileSync(join(old, "SHA256SUMS"), "utf8"), "kept")
    assert.strictEqual(yield* at.spent, 0)
  })

  it.effect.each<readonly [name: string, flag: string, change: (folder: string) => void]>([
    ["a file that grows", "--file", (folder) => appendFileSync(join(folder, "film.bin"), "x")],
    ["a file that is replaced", "--file", (folder) => renameSync(join(folder, "a.txt"), join(folder, "film.bin"))],
    ["a folder that gains a file", "--folder", (folder) => writeFileSync(join(folder, "b.txt"), "b")],
    ["a folder whose first file changes", "--folder", (folder) => writeFileSync(join(folder, "a.txt"), "b")],
  ])("is refused for %s while it is read, after it told its progress, and nothing paid", function* ([, flag, change]) {
    const at = yield* terminal
    const folder = join(at.folder, "draft")
    write(folder, { "a.txt": "a", "film.bin": "" })
    truncateSync(join(folder, "film.bin"), 700_000_000)
    const path = flag === "--file" ? join(folder, "film.bin") : folder
    const reading = at.start(["witness", flag, path])
    yield* Effect.promise(() => reading.says("film.bin: 134 MB so far"))
    change(folder)
    const { code, stderr } = yield* Effect.promise(() => reading.ended)
    assert.strictEqual(code, 1)
    assert.match(stderr, /changed while it was read: .* Nothing was sent or charged\.$/mu)
    assert.strictEqual(yield* at.spent, 0)
  })
})
