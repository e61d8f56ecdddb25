package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types.DataType

import io.github.pulsarspark.format.DecodeDepth

/** A column that carries something about a message other than its value.
  *
  * @param level
  *   how deep an entry must be opened to fill it
  * @param inWrites
  *   what a write does with a column of this name
  */
final case class MetadataColumn(
    name: String,
    dataType: DataType,
    doc: String,
    level: DecodeDepth,
    inWrites: MetadataColumn.InWrites
)

object MetadataColumn {

  sealed trait InWrites

  /** Set on the message; the column may have one of these types. */
  final case class Written(types: DataType*) extends InWrites

  /** Decided by Pulsar or by the producer itself: accepted, so that rows can be written as they were read, and left
    * out.
    */
  case object Ignored extends InWrites
}
