/** A signal room from two terminals: the invite passes between them once, and shows only where it was asked for. */
import { Effect } from "effect"
import { terminal, type Terminal } from "../lab/Terminal.ts"
import { layer as world } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const token = /[A-Za-z0-9_-]{43}/u

const ok = Effect.fnUntraced(function* (at: Terminal, args: ReadonlyArray<string>, stdin?: string) {
  const { code, stderr, stdout } = yield* at.run(["room", ...args], {}, stdin)
  assert.strictEqual(code, 0, stderr)
  return stdout
})

suite("spirit-altar room", world(), (it) => {
  it("creates, invites, sends, reads, polls and deletes, and never shows a token unasked", function* () {
    const host = yield* terminal
    const guest = yield* terminal
    const { room } = JSON.parse(yield* ok(host, ["create", "--name", "Night shift", "--json"]))
    assert.strictEqual(room.name, "Night shift")
    assert.notMatch(JSON.stringify(room), token)
    const { link } = JSON.parse(yield* ok(host, ["invite", "Night shift", "--json"]))
    assert.match(link, /\/signals\/#room=[0-9a-f-]{36}&token=[A-Za-z0-9_-]{43}$/u)

    yield* ok(host, ["send", "Night shift", "The build is green.", "--sender", "Wren", "--mode", "celebrate"])
    const first = yield* ok(guest, ["read", "-"], `${link}\n`)
    assert.match(first, /^1 {2}\S+ {2}Wren \(agent\) celebrate: The build is green\.$/mu)
    assert.notMatch(first, token)

    const poll = guest.start(["room", "poll", room.id.slice(0, 8), "--every", "1", "--json"])
    const send = ["send", room.id, "Thank you.", "--sender", "Ann", "--kind", "person", "--client-id", "thanks-1"]
    yield* ok(host, send)
    assert.match(yield* ok(host, send), /^already sent {2}2/u)
    yield* Effect.promise(() => poll.says("Thank you."))
    poll.child.kill("SIGINT")
    const { stdout } = yield* Effect.promise(() => poll.ended)
    const [message] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepStrictEqual([message.seq, message.sender, message.text], [2, "Ann", "Thank you."])

    const listed = yield* ok(guest, ["list"])
    assert.include(listed, "Night shift")
    assert.notMatch(listed, token)
    assert.include(yield* ok(host, ["delete", room.id]), "gone, for everyone")
    const gone = yield* guest.run(["room", "read", room.id, "--json"])
    assert.deepStrictEqual([gone.code, JSON.parse(gone.stdout).ok], [1, false])
  })

  it("shows the link at creation on request, and finds no room without an invite", function* () {
    const at = yield* terminal
    const { link } = JSON.parse(yield* ok(at, ["create", "--show-link", "--json"]))
    assert.match(link, token)
    const unknown = yield* at.run(["room", "read", "Day shift"])
    assert.strictEqual(unknown.code, 1)
    assert.include(unknown.stderr, "This journal has no room Day shift: give its invite link once.")
  })
})
