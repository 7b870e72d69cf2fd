/** The operator's name, contact and texts, as configured. There are no defaults. */
import { Context, Layer, Option } from "effect"

export interface OperatorConfig {
  readonly name: Option.Option<string>
  /** A URI, `mailto:…` or `https://…`. */
  readonly contact: Option.Option<string>
  /** Plain text, instead of the built-in one. */
  readonly terms: Option.Option<string>
  readonly privacy: Option.Option<string>
}

export class Operator extends Context.Service<Operator, OperatorConfig>()("spirit-altar/platform/Operator") {
  static readonly layer = (config: OperatorConfig) => Layer.succeed(this, config)

  static readonly unnamed: OperatorConfig = {
    name: Option.none(),
    contact: Option.none(),
    terms: Option.none(),
    privacy: Option.none(),
  }
}
