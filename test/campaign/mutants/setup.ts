/** One test that notices a fault is enough: the others of its file are skipped. */
import { beforeEach } from "vitest"

let isNoticed = false

beforeEach(({ onTestFailed, skip }) => {
  skip(isNoticed)
  onTestFailed(() => void (isNoticed = true))
})
