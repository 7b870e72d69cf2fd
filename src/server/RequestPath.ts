/** The path of a request as the router reads it. A guard that read it differently could be bypassed. */
import { Option } from "effect"
import { isRoom } from "./ErrorFormats.ts"

const decode = Option.liftThrowable(decodeURI)

/** The router also ends a path at these characters. */
const end = /[;#]/u

const spelled = (url: string) => url.split("?", 1)[0] ?? "/"

/** Cut and decoded once, like the router does. A path that cannot be decoded matches no route. */
export const pathOf = (url: string): string => {
  const path = spelled(url)
  if (!end.test(path) && !path.includes("%")) return path
  const cut = path.split(end, 1)[0] ?? "/"
  return Option.getOrElse(decode(cut), () => cut)
}

/** Whether a path has a spelling that no route needs: a suffix that is no query, or an escape in a room's path. */
export const isMisspelt = (url: string): boolean => {
  const path = spelled(url)
  return end.test(path) || (path.includes("%") && isRoom(pathOf(url)))
}
