package io.github.pulsarspark.schema.rows

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow
import org.apache.spark.sql.types.{StructField, StructType}

import io.github.pulsarspark.format.DecodeDepth
import io.github.pulsarspark.schema.columns.MetadataReader.Origin
import io.github.pulsarspark.schema.columns.{ErrorColumns, MetadataColumns}
import io.github.pulsarspark.schema.{TopicSchema, ValueDecoder}

/** Creates the decoders of a task, one for each range it reads. They share compiled decoders, also among topics with
  * the same schema, so only one of them may decode at a time. Not thread-safe.
  *
  * @param output
  *   columns of the rows in their order: metadata columns ([[MetadataColumns.of]]), [[ErrorColumns]] where they are
  *   requested. All others are value columns of the schema to read by, or parts of them
  * @param withErrors
  *   whether the names of [[ErrorColumns]] refer to these
  */
private[pulsarspark] final class RowDecoders(output: StructType, withErrors: Boolean) {

  private val errors             = Seq(ErrorColumns.Error, ErrorColumns.Corrupt).map(placeOf)
  private val columns            = output.fields.toSeq.zipWithIndex.map { case (f, i) => (f, i, MetadataColumns.of(f)) }
  private val metadata           = columns.collect { case (_, i, Some(column)) => (column, i) }
  private val (values, ordinals) = columns.collect { case (f, i, None) if !errors.contains(i) => (f, i) }.unzip

  private val level: DecodeDepth =
    if (values.nonEmpty) DecodeDepth.Message
    else metadata.map(_._1.depth).foldLeft[DecodeDepth](DecodeDepth.Entry)((a, b) => if (a < b) b else a)

  /** Decoders by the schema to read by and the schema of the values, both without versions. */
  private val compiled = mutable.HashMap.empty[(TopicSchema, TopicSchema), ValueDecoder]

  /** Number of decoders compiled so far. */
  private[schema] def compilations: Int = compiled.size

  /** @param partition
    *   index of the partition, -1 for a topic without
    * @param reader
    *   the schema that all values are read as; values of its version need no call of `schemaAt`
    * @param schemaAt
    *   the schema of a version in the bytes of a message; called once per version, on the thread that decodes
    */
  def decoder(topic: String, partition: Int, reader: TopicSchema, schemaAt: Array[Byte] => TopicSchema): RowDecoder =
    new RowDecoder(
      topic,
      reader,
      new SpecificInternalRow(output),
      metadata.flatMap(_._1.reader).map(_(Origin(topic, partition))).toArray,
      metadata.map(_._2).toArray,
      ordinals.toArray,
      errors.head,
      errors.last,
      schemaAt,
      compile(topic, reader, _),
      level,
      refersToBytes = values.nonEmpty && SchemaTranslation.formatOf(topic, reader).refersToBytes(reader)
    )

  /** A failure is not kept, because its error names the topic. */
  private def compile(topic: String, reader: TopicSchema, writer: TopicSchema): ValueDecoder =
    compiled.getOrElseUpdate(
      (reader.withoutVersion, writer.withoutVersion),
      SchemaTranslation.decoder(topic, writer, reader, StructType(values), ordinals.toArray)
    )

  private def placeOf(column: StructField) = if (withErrors) output.fieldNames.indexOf(column.name) else -1
}
