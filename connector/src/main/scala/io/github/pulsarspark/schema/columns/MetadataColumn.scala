package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types.DataType

import io.github.pulsarspark.format.DecodeDepth

/** A column that carries something about a message other than its value: one row of [[MetadataColumns]].
  *
  * @param dataType
  *   type of the column in reads, or in the rows to write where reads do not have it
  * @param nullWhen
  *   when a read returns null, as the end of "null when ..."; None = never
  * @param depth
  *   how deep an entry must be opened to fill the column
  * @param reader
  *   how the value gets from a message into a row; None when only rows to write have the column
  * @param writer
  *   how the value gets from a row into a message; None for what Pulsar or the producer decides: a write accepts the
  *   column and ignores it, so that rows can be written as they were read
  */
final case class MetadataColumn private[columns] (
    name: String,
    dataType: DataType,
    doc: String,
    nullWhen: Option[String],
    depth: DecodeDepth,
    private[schema] val reader: Option[MetadataReader.Factory],
    private[schema] val writer: Option[MetadataWriter.Column]
) {

  /** The comment of the column in Spark's catalog. */
  def comment: String = nullWhen.fold(doc)(reason => s"$doc Null when $reason.")
}
