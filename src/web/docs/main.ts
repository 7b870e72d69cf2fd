/** The copy buttons of the reference. */
import { start } from "../v2/page/copy.ts"

start()
