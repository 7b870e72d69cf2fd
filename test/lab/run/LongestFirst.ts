/** The order of the files: no long one is left to run alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { long } from "./Projects.ts"

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    const placeOf = ({ moduleId }: TestSpecification) =>
      long.findIndex((file) => moduleId.endsWith(file)) + 1 || Infinity
    return sorted.sort((left, right) => (placeOf(left) === placeOf(right) ? 0 : placeOf(left) - placeOf(right)))
  }
}
