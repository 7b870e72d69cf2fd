/** The checks and the list of the box, loaded on demand. */
import { arrived } from "./page/load.ts"

export const onDemand = () => arrived(import("./parts.ts"))
