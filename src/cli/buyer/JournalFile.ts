/** The journal of this machine: one file that only its owner can read, consistent after a crash, shared by turns. */
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import { type Journal, type Pages, turns } from "../../buyer/core/Journal.ts"
import { messageOf } from "../../buyer/PurchaseError.ts"

const patienceMs = 30_000

/** The primary code of an SQLite error: 5 is busy, 13 is full. */
const codeOf = (error: unknown) => (error instanceof Error && "errcode" in error ? Number(error.errcode) % 256 : 0)

/**
 * A turn is an SQLite lock: the system frees it when its holder dies, and a turn is written entirely or not at all.
 * While it is taken, others retry without blocking this process.
 */
export const open = (file: string): Journal => {
  mkdirSync(dirname(dirname(file)), { recursive: true })
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, "a", 0o600))
  chmodSync(file, 0o600)
  const database = new DatabaseSync(file, { timeout: 0 })
  const attempt = (run: () => void): boolean => {
    try {
      run()
      return true
    } catch (error) {
      if (codeOf(error) === 5) return false
      throw error
    }
  }
  const retryWhileBusy = async (run: () => void) => {
    for (let waited = 0; !attempt(run); waited += 20) {
      if (waited > patienceMs) throw new Error(`${file} has been in use by another program for 30 s`)
      await setTimeout(20)
    }
  }
  const pages: Pages = {
    get: async (name) => {
      const row = database.prepare("SELECT text FROM pages WHERE name = ?").get(name)
      return row === undefined ? undefined : String(row["text"])
    },
    set: async (name, text) => {
      try {
        database
          .prepare("INSERT INTO pages VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET text = excluded.text")
          .run(name, text)
      } catch (error) {
        // A full disk may end the transaction, and what a turn wrote after that would be written outside of it.
        throw codeOf(error) === 13 && database.isTransaction
          ? new DOMException(messageOf(error), "QuotaExceededError")
          : error
      }
    },
    remove: async (name) => void database.prepare("DELETE FROM pages WHERE name = ?").run(name),
    all: async (prefix) =>
      database
        .prepare("SELECT text FROM pages WHERE substr(name, 1, length(?1)) = ?1 ORDER BY rowid")
        .all(prefix)
        .map((row) => String(row["text"])),
  }
  const takeTurns = turns()
  return {
    alone: (run) =>
      takeTurns(async () => {
        await retryWhileBusy(() => database.exec("BEGIN IMMEDIATE"))
        try {
          database.exec("CREATE TABLE IF NOT EXISTS pages (name TEXT PRIMARY KEY, text TEXT NOT NULL)")
          const value = await run(pages)
          await retryWhileBusy(() => database.exec("COMMIT"))
          return value
        } finally {
          if (database.isTransaction) database.exec("ROLLBACK")
        }
      }),
  }
}
