/** The wire before a PostgreSQL, which passes everything on and remembers every statement that was sent. */
import { connect } from "node:net"
import { passage } from "../support/Passage.ts"
import { messagesOf, preparedIn, queryIn, typeOf } from "../support/PgMessages.ts"

export interface StatementTap {
  readonly port: number
  /** Each text once. */
  readonly statements: ReadonlySet<string>
  readonly close: () => void
}

export const statementTap = async (databasePort: number): Promise<StatementTap> => {
  const statements = new Set<string>()
  const { close, port } = await passage(
    () => connect(databasePort, "127.0.0.1"),
    (client, database) => {
      const split = messagesOf("front end")
      client.on("data", (chunk) => {
        for (const message of split(chunk)) {
          const type = typeOf(message)
          if (type === "P") statements.add(preparedIn(message).statement)
          if (type === "Q") statements.add(queryIn(message))
        }
        database.write(chunk)
      })
      database.on("data", (chunk) => client.write(chunk))
    },
  )
  return { port, statements, close }
}
