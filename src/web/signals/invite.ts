/** The invite in the URL fragment, which no request carries; it is never stored beyond the page. */

export interface Invite {
  readonly room: string
  readonly token: string
}

const roomId = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u
const token = /^[A-Za-z0-9_-]{43}$/u

/** The invite of a fragment; `none` when it names none, `broken` when a part is missing or was changed. */
export const readInvite = (fragment: string): Invite | "none" | "broken" => {
  const values = new URLSearchParams(fragment.replace(/^#/u, ""))
  const invite = { room: values.get("room") ?? "", token: values.get("token") ?? "" }
  if (invite.room === "" && invite.token === "") return "none"
  return roomId.test(invite.room) && token.test(invite.token) ? invite : "broken"
}

export const fragmentOf = ({ room, token }: Invite) => `#room=${room}&token=${token}`
