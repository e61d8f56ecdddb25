package io.github.pulsarspark.options

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.CheckedOptions

/** Schema with which a read decodes values. */
sealed trait SchemaMode extends Serializable

object SchemaMode {

  /** The newest schema of the topic when the query starts. */
  case object Auto extends SchemaMode

  /** The schema that the user sets. */
  final case class Pinned(definition: String) extends SchemaMode

  /** Bytes, not decoded. */
  case object Raw extends SchemaMode

  private[options] def apply(options: CheckedOptions): SchemaMode = options("schemaMode").toLowerCase match {
    case "pinned"                                        => Pinned(options("readerSchema"))
    case _ if options.explicit("readerSchema").isDefined =>
      throw Conditions.OptionIncomplete(present = "readerSchema", missing = "schemaMode=pinned").exception
    case "raw" => Raw
    case _     => Auto
  }

  /** Location in which the schemas of a stream are kept. Only `auto` changes them between starts. */
  private[options] def trackingLocation(options: CheckedOptions): Option[String] = {
    val location = options.get("schemaTrackingLocation")
    if (location.isDefined && SchemaMode(options) != Auto)
      throw Conditions.OptionConflict(first = "schemaTrackingLocation",
        second = s"schemaMode=${options("schemaMode")}").exception
    location
  }
}
