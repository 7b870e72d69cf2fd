/** Two people in a room see each other's signals; nothing sent becomes markup; a hidden page is silent; keys suffice. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page, Request } from "playwright-core"
import { browser, steps, visit } from "../support/Browser.ts"
import { type Guest, newRoom, send } from "../support/Rooms.ts"
import { World } from "../support/World.ts"

const inviteOf = ({ id, token }: Guest) => `/signals/#room=${id}&token=${token}`

const makeRoom = async (page: Page, name: string) => {
  await page.getByLabel("Name of the room").fill(name)
  await page.getByRole("button", { name: "Make the room" }).click()
  await page.getByRole("heading", { name, level: 1 }).waitFor()
}

const write = async (page: Page, sender: string, text: string, mode = "Calm") => {
  await page.getByLabel("Your name").fill(sender)
  await page.getByRole("radio", { name: mode }).check()
  await page.locator("#text").fill(text)
  await page.getByRole("button", { name: "Send" }).click()
}

/** What the browser asked the room for while `run` ran. */
const asked = async (page: Page, run: () => Promise<void>) => {
  const requests: Array<Request> = []
  const note = (request: Request) => void (request.url().includes("/api/rooms/") && requests.push(request))
  page.on("request", note)
  await run()
  page.off("request", note)
  return requests
}

const hide = (page: Page, hidden: boolean) =>
  page.evaluate(
    (state) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, value: state })
      document.dispatchEvent(new Event("visibilitychange"))
    },
    hidden ? "hidden" : "visible",
  )

/** Every animation and every AudioContext the page starts, in the order of their coming. */
const sensations = (page: Page) =>
  page.addInitScript(() => {
    const played: Array<string> = []
    Reflect.set(window, "played", played)
    const animate = Element.prototype.animate
    Element.prototype.animate = function (...parts) {
      played.push("light")
      return animate.apply(this, parts)
    }
    const Audio = window.AudioContext
    window.AudioContext = class extends Audio {
      constructor() {
        super()
        played.push("audio")
      }
    }
    const start = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (when) {
      played.push("tone")
      start.call(this, when)
    }
  })

const played = (page: Page): Promise<ReadonlyArray<string>> => page.evaluate(() => Reflect.get(window, "played"))

browser("the signal room", (it) => {
  it.effect("is shared by its link: two people see each other's signals, and one deletes it for both", () =>
    Effect.gen(function* () {
      const host = yield* visit("/signals/")
      const guest = yield* visit("/v2/")
      yield* steps(async () => {
        await makeRoom(host.page, "Night shift")
        const link = await host.page.locator("#invite-link").inputValue()
        assert.strictEqual(link, host.page.url())
        assert.match(link, /\/signals\/#room=[0-9a-f-]{36}&token=[A-Za-z0-9_-]{43}$/u)
        await host.page.getByRole("img", { name: "QR code of the invite link" }).waitFor()

        await guest.page.goto(`${guest.url}/signals/`)
        await guest.page.locator("#join-link").fill(`  ${link} `)
        await guest.page.getByRole("button", { name: "Join the room" }).click()
        await guest.page.getByRole("heading", { name: "Night shift" }).waitFor()

        await write(host.page, "Wren", "The build is green.", "Celebrate")
        await guest.page.getByRole("log").getByText("The build is green.").waitFor()
        await guest.page.getByText("Celebrate, three rising pulses").waitFor()
        await write(guest.page, "Mara", "On my way.", "Ping")
        await host.page.getByRole("log").getByText("On my way.").waitFor()
        assert.match(
          await host.page.getByRole("listitem").last().innerText(),
          /Mara person Ping \d\d:\d\d\s+On my way\./u,
        )

        await host.page.getByRole("button", { name: "Delete this room" }).click()
        await host.page.getByRole("button", { name: "Delete the room" }).click()
        await host.page.getByRole("heading", { name: "The room is deleted" }).waitFor()
        assert.strictEqual(host.page.url(), `${host.url}/signals/`)
        await guest.page.getByRole("heading", { name: "There is no such room" }).waitFor()
        assert.strictEqual(await guest.page.getByText("The build is green.").count(), 0)
        assert.strictEqual(
          await guest.page.evaluate(() => document.documentElement.outerHTML.includes("token=")),
          false,
        )
      })
      assert.deepStrictEqual([...host.complaints, ...guest.complaints], [])
    }).pipe(Effect.scoped),
  )

  it.effect("shows names and words as text, whatever they contain", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const evil = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>"'&lt;`
      const guest = yield* newRoom(url)
      yield* send(guest, { sender: `<b onclick=alert(1)>Wren</b>`, text: evil })
      yield* send(guest, { sender: "javascript:alert(1)", text: "https://example.org/ <svg/onload=alert(1)>" })
      const joined = yield* visit(inviteOf(guest))
      const host = yield* visit("/signals/")
      yield* steps(async () => {
        await joined.page.getByText(evil).waitFor()
        await joined.page.getByText("<b onclick=alert(1)>Wren</b>").waitFor()
        await makeRoom(host.page, `<img src=x onerror=alert(1)>`)
        await write(host.page, `"><script>1</script>`, evil)
        await host.page.getByRole("log").getByText(evil).waitFor()
        await host.page.locator("#lamp-from", { hasText: `"><script>1</script>` }).waitFor()
        for (const { page } of [joined, host]) {
          assert.strictEqual(await page.locator("main img, main a:visible, main script, main b").count(), 0)
          assert.strictEqual(await page.evaluate(() => "hurt" in window), false)
        }
      })
      assert.deepStrictEqual([...joined.complaints, ...host.complaints], [])
    }).pipe(Effect.scoped),
  )

  it.effect("asks every three seconds while it is seen, rests while hidden, and goes on where it stopped", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const guest = yield* newRoom(url)
      yield* send(guest)
      const { page } = yield* visit("/v2/")
      yield* steps(async () => {
        await page.clock.install()
        await page.goto(`${url}${inviteOf(guest)}`)
        await page.getByRole("log").getByText("The build is green.").waitFor()
        // Time stands still but for what the test lets pass.
        await page.clock.pauseAt(Date.now() + 60_000)
        const settled = async (seconds: number) => {
          const answer = page.waitForResponse(/\/api\/rooms\//u)
          await page.clock.runFor(seconds * 1000)
          await (await answer).finished()
          await page.evaluate(() => fetch("/style/icon.svg").then((response) => response.text()))
        }
        await settled(3)
        for (let round = 0; round < 3; round++) {
          assert.deepStrictEqual(await asked(page, () => page.clock.runFor(2999)), [])
          const seen = await asked(page, () => settled(0.001))
          assert.strictEqual(seen.length, 1)
          assert.strictEqual(new URL(seen[0]?.url() ?? "").search, "?after=1")
          assert.strictEqual(seen[0]?.url().includes(guest.token), false)
          assert.strictEqual(await seen[0]?.headerValue("referer"), null)
        }
        await hide(page, true)
        const hidden = await asked(page, () => page.clock.runFor(60_000))
        assert.deepStrictEqual(hidden, [])
        await page.getByText("Resting while this page is hidden.").waitFor()
      })
      yield* send(guest, { text: "While you were away." })
      yield* steps(async () => {
        const back = await asked(page, async () => {
          await hide(page, false)
          await page.getByRole("log").getByText("While you were away.").waitFor()
        })
        assert.deepStrictEqual(
          back.map((request) => new URL(request.url()).search),
          ["?after=1"],
        )
      })
    }).pipe(Effect.scoped),
  )

  it.effect("plays no history, no sound before a click, no pulse for who wants none", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const guest = yield* newRoom(url)
      yield* send(guest, { text: "Long ago." })
      const { page } = yield* visit("/v2/")
      const calm = yield* visit("/v2/", { reducedMotion: "reduce" })
      yield* steps(async () => {
        for (const one of [page, calm.page]) {
          await sensations(one)
          await one.goto(`${url}${inviteOf(guest)}`)
          await one.getByText("Long ago.").waitFor()
          assert.deepStrictEqual(await played(one), [])
          await one.getByText("The lamp rests").waitFor()
        }
      })
      yield* send(guest, { text: "First news.", mode: "ping" })
      yield* steps(async () => {
        for (const one of [page, calm.page]) await one.getByText("Ping, two even pulses").waitFor()
        assert.deepStrictEqual(await played(page), ["light"])
        assert.deepStrictEqual(await played(calm.page), [])
        assert.strictEqual(await calm.page.getByLabel("Keep the light steady").isDisabled(), true)
        await page.getByLabel("Play sound").check()
      })
      yield* send(guest, { text: "Second news.", mode: "spark" })
      yield* steps(async () => {
        await page.getByText("Spark, a flash and a glimmer").waitFor()
        assert.deepStrictEqual(await played(page), ["light", "audio", "light", "tone", "tone"])
        await page.getByLabel("Play sound").uncheck()
        await page.getByLabel("Keep the light steady").check()
      })
      yield* send(guest, { text: "Third news.", mode: "calm" })
      yield* steps(async () => {
        await page.getByText("Calm, one slow swell").waitFor()
        assert.strictEqual((await played(page)).length, 5)
        const kept = await page.evaluate(() => [...Object.entries(localStorage), ...Object.entries(sessionStorage)])
        assert.deepStrictEqual(kept, [["signals", '{"name":"","kind":"person","sound":false,"steady":true}']])
        await page.getByLabel("Play sound").check()
        await page.reload()
        await page.getByText("Third news.").waitFor()
        assert.strictEqual(await page.getByLabel("Keep the light steady").isChecked(), true)
        assert.strictEqual(await page.getByLabel("Play sound").isChecked(), true)
        assert.deepStrictEqual(await played(page), [])
        await page.getByRole("heading", { level: 1 }).click()
        assert.deepStrictEqual(await played(page), ["audio"])
      })
    }).pipe(Effect.scoped),
  )

  it.effect("sends once though the answer is lost, and says so", () =>
    Effect.gen(function* () {
      const host = yield* visit("/signals/")
      yield* steps(async () => {
        const { page } = host
        await makeRoom(page, "Lost answers")
        // The request arrives; its answer does not.
        await page.route(
          "**/messages",
          async (route) => {
            await route.fetch()
            await route.abort()
          },
          { times: 1 },
        )
        await write(page, "Wren", "Only once.")
        await page.getByText("press Send again, it will not arrive twice").waitFor()
        assert.strictEqual(await page.locator("#text").inputValue(), "Only once.")
        const [again] = await asked(page, async () => {
          await page.getByRole("button", { name: "Send" }).click()
          await page.getByText("The room has it.").waitFor()
        })
        assert.strictEqual((await again?.response())?.status(), 200)
        await page.getByRole("log").getByText("Only once.").waitFor()
        assert.strictEqual(await page.getByRole("listitem").count(), 1)
        await write(page, "Wren", "Only once.")
        await page.getByRole("listitem").nth(1).waitFor()
      })
    }).pipe(Effect.scoped),
  )

  it.effect("says when a limit is reached and how long it lasts", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/signals/")
      yield* steps(async () => {
        await makeRoom(page, "Hurry")
        for (let count = 1; count <= 20; count++) {
          await write(page, "Wren", `${count}`)
          await page.getByRole("log").getByText(`${count}`, { exact: true }).waitFor()
        }
        await write(page, "Wren", "21")
        await page
          .getByText(
            /Not sent\. The limit of 20 sends per minute from one address is reached\. You can send again in \d+ seconds\./u,
          )
          .waitFor()
        assert.strictEqual(await page.locator("#text").inputValue(), "21")
      })
    }).pipe(Effect.scoped),
  )

  it.effect("says so when it was opened at an address that is not the server's own", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const guest = yield* newRoom(url)
      const { page } = yield* visit("/v2/")
      // Browsers know every name below localhost as this machine.
      const elsewhere = url.replace("127.0.0.1", "elsewhere.localhost")
      yield* steps(async () => {
        await page.goto(`${elsewhere}/signals/`)
        await page.getByRole("button", { name: "Make the room" }).click()
        await page.getByText("No room was made. This page was opened at another address").waitFor()
        await page.goto(`${elsewhere}${inviteOf(guest)}`)
        await page.getByText("No signals yet.").waitFor()
        await write(page, "Wren", "Hello?")
        await page.getByText("Not sent. This page was opened at another address").waitFor()
        assert.strictEqual(await page.locator("#text").inputValue(), "Hello?")
      })
    }).pipe(Effect.scoped),
  )

  it.effect("works with the keyboard alone: make, send, delete", () =>
    Effect.gen(function* () {
      const { complaints, page } = yield* visit("/signals/")
      const focused = () =>
        page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute("value"))
      /** Presses Tab until the element has the focus; a trap or a gap fails. */
      const tabTo = async (id: string) => {
        for (let presses = 0; presses < 40; presses++) {
          if ((await focused()) === id) return
          await page.keyboard.press("Tab")
        }
        assert.fail(`Tab does not reach ${id}`)
      }
      yield* steps(async () => {
        await page.keyboard.press("Tab")
        assert.strictEqual(await focused(), "skip")
        await page.keyboard.press("Enter")
        assert.strictEqual(await focused(), "main")
        await tabTo("create-name")
        await page.keyboard.type("Keys only")
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { name: "Keys only" }).waitFor()
        assert.strictEqual(await focused(), "room-name")
        await tabTo("calm")
        await page.keyboard.press("ArrowRight")
        await page.keyboard.press("ArrowRight")
        await tabTo("sender")
        await page.keyboard.press("Enter")
        await page.getByText("Write your name first").waitFor()
        assert.strictEqual(await focused(), "sender")
        await page.keyboard.type("Wren")
        await tabTo("text")
        await page.keyboard.type("No mouse was moved.")
        await page.keyboard.press("Enter")
        await page.getByText("Ping, two even pulses").waitFor()
        assert.strictEqual(await focused(), "text")
        await tabTo("delete")
        await page.keyboard.press("Enter")
        assert.strictEqual(await focused(), "confirm-no")
        await page.keyboard.press("Escape")
        assert.strictEqual(await focused(), "delete")
        await page.keyboard.press("Enter")
        await tabTo("confirm-yes")
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { name: "The room is deleted" }).waitFor()
        assert.strictEqual(await focused(), "ended-title")
      })
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  )

  it.effect("comes back by itself after the network was away", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const guest = yield* newRoom(url)
      const { page } = yield* visit(inviteOf(guest))
      yield* steps(async () => {
        await page.getByText("No signals yet.").waitFor()
        await page.context().setOffline(true)
        await page.locator("#state", { hasText: "No connection to the room. Trying again in" }).waitFor()
      })
      yield* send(guest, { text: "Still here?" })
      yield* steps(async () => {
        await page.context().setOffline(false)
        await page.getByRole("log").getByText("Still here?").waitFor()
        await page.getByText("Listening, every 3 seconds.").waitFor()
      })
    }).pipe(Effect.scoped),
  )

  it.effect("and the pages beside it break none of their own rules", () =>
    Effect.gen(function* () {
      for (const path of ["/v2/", "/signals/", "/docs"]) {
        const { complaints, page } = yield* visit(path)
        yield* steps(async () => {
          await page.getByRole("heading", { level: 1 }).first().waitFor()
          await page.waitForLoadState("networkidle")
        })
        assert.deepStrictEqual(complaints, [], path)
      }
    }).pipe(Effect.scoped),
  )
})
