/** Tells the faulty functions which fault of theirs a test has to notice. One that notices it is enough: the others of its file are skipped. */
import { beforeEach } from "vitest"
import { faultOf } from "../FaultOf.ts"

let isNoticed = false

beforeEach(({ onTestFailed, skip, task }) => {
  Object.assign(globalThis, { fault: faultOf(task.file.filepath) })
  onTestFailed(() => void (isNoticed = true))
  skip(isNoticed)
})
