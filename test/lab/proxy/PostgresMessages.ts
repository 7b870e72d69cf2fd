/** Messages of PostgreSQL's protocol, as they stand in the bytes of a connection. */

const sslRequest = 80_877_103

const textAt = (bytes: Buffer, from: number) => bytes.toString("utf8", from, bytes.indexOf(0, from))

/** Asks whether the back end speaks TLS, before everything else. */
export const isSslRequest = (message: Buffer) => message.length === 8 && message.readUInt32BE(4) === sslRequest

/** Its letter; none where it is the first one of a front end. */
export const typeOf = (message: Buffer) => String.fromCharCode(message[0] ?? 0)

/** Splits bytes into messages, each with a letter and a length: of a front end the first has no letter. */
export const messagesOf = (side: "front end" | "back end") => {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = side === "back end"
  return (chunk: Buffer): ReadonlyArray<Buffer> => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const messages: Array<Buffer> = []
    for (;;) {
      const head = isStarted ? 1 : 0
      const size = rest.length < head + 4 ? Infinity : head + rest.readUInt32BE(head)
      if (rest.length < size) return messages
      const message = rest.subarray(0, size)
      rest = rest.subarray(size)
      if (!isStarted) isStarted = message.readUInt32BE(4) !== sslRequest
      messages.push(message)
    }
  }
}

/** The statement of a Parse; it names its statement first. */
export const preparedIn = (parse: Buffer) => {
  const name = textAt(parse, 5)
  return { name, statement: textAt(parse, 5 + Buffer.byteLength(name) + 1) }
}

/** The name of the statement that a Bind is for, behind that of its portal. */
export const boundIn = (bind: Buffer) => textAt(bind, 5 + Buffer.byteLength(textAt(bind, 5)) + 1)

/** The text of a Query. */
export const queryIn = (query: Buffer) => textAt(query, 5)
