/** The operator's name, contact and texts, as configured. There are no defaults. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Context, Effect, FileSystem, Layer, Option, Schema } from "effect"

/** The operator's settings. Files hold plain text. */
export interface OperatorConfig {
  readonly name: Option.Option<string>
  /** A URI, `mailto:…` or `https://…`. */
  readonly contact: Option.Option<string>
  readonly termsFile: Option.Option<string>
  readonly privacyFile: Option.Option<string>
}

/** A configured file is unreadable. The server does not start without the operator's own terms. */
export class TextUnreadable extends Schema.TaggedError<TextUnreadable>()("TextUnreadable", {
  message: Schema.String,
}) {}

export class Operator extends Context.Service<Operator>()("spirit-altar/platform/Operator", {
  make: Effect.fnUntraced(function* ({ contact, name, privacyFile, termsFile }: OperatorConfig) {
    const files = yield* FileSystem.FileSystem
    const read = (variable: string, path: Option.Option<string>) =>
      Option.match(path, {
        onNone: () => Effect.succeedNone,
        onSome: (file) =>
          files.readFileString(file).pipe(
            Effect.asSome,
            Effect.mapError(
              ({ message }) => new TextUnreadable({ message: `${variable}: ${file} cannot be read: ${message}` }),
            ),
          ),
      })
    return {
      name,
      contact,
      terms: yield* read("TERMS_FILE", termsFile),
      privacy: yield* read("PRIVACY_FILE", privacyFile),
    }
  }),
}) {
  static readonly layer = (config: OperatorConfig) =>
    Layer.effect(this, this.make(config)).pipe(Layer.provide(NodeFileSystem.layer))

  static readonly unnamed: OperatorConfig = {
    name: Option.none(),
    contact: Option.none(),
    termsFile: Option.none(),
    privacyFile: Option.none(),
  }
}
