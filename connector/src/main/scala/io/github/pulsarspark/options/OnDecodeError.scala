package io.github.pulsarspark.options

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{CheckedOptions, RawOptions}

/** Action of a read at a message whose value does not decode. */
sealed trait OnDecodeError extends Serializable

object OnDecodeError {

  case object Fail extends OnDecodeError

  /** Returns a row with null in all value columns. */
  case object AsNull extends OnDecodeError

  /** Skips the message. */
  case object Drop extends OnDecodeError

  /** Skips the message and copies it to a topic. */
  final case class DeadLetter(topic: String) extends OnDecodeError

  private[options] def apply(options: CheckedOptions): OnDecodeError = options("onDecodeError").toLowerCase match {
    case "dlq"                                       => DeadLetter(options("dlqTopic"))
    case _ if options.explicit("dlqTopic").isDefined =>
      throw Conditions.OptionIncomplete(present = "dlqTopic", missing = "onDecodeError=dlq").exception
    case "null" => AsNull
    case "drop" => Drop
    case _      => Fail
  }

  /** True if a read with these options fails at the first message that does not decode. */
  private[pulsarspark] def fails(options: RawOptions): Boolean =
    options.get("onDecodeError").forall(_.trim.equalsIgnoreCase("fail"))
}
