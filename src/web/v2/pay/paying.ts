/** What pays, and lays the page out anew, fetched when it is asked for. */
import { arrived } from "../page/load.ts"

export const paying = () => arrived(import("./parts.ts"))
