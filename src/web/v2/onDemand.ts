/** What checks and what lists the box, fetched when it is asked for. */
import { arrived } from "./page/load.ts"

export const onDemand = () => arrived(import("./parts.ts"))
