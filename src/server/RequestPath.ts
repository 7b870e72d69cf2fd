/** Which path a request asks for, as the router reads it: a guard that reads another would guard another door. */
import { Option } from "effect"
import { isRoom } from "./Shapes.ts"

const decode = Option.liftThrowable(decodeURI)

/** The router takes all three for the end of a path. */
const end = /[;#]/u

const spelled = (url: string) => url.split("?", 1)[0] ?? "/"

/** Cut and decoded once, as the router does it; what cannot be decoded reaches no route. */
export const pathOf = (url: string): string => {
  const path = spelled(url)
  if (!end.test(path) && !path.includes("%")) return path
  const cut = path.split(end, 1)[0] ?? "/"
  return Option.getOrElse(decode(cut), () => cut)
}

/** A second spelling that no route needs: something behind the path that is no query, or an escape in a path of the room. */
export const isMisspelt = (url: string): boolean => {
  const path = spelled(url)
  return end.test(path) || (path.includes("%") && isRoom(pathOf(url)))
}
