package io.github.pulsarspark.schema

import java.nio.ByteBuffer
import java.util.{Arrays, HashMap => JHashMap}

import scala.util.control.NonFatal

import com.fasterxml.jackson.core.JsonProcessingException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.errors.{PulsarError, PulsarErrors}
import io.github.pulsarspark.log.{DecodeLevel, MessageView}
import io.github.pulsarspark.offsets.Position

/** Turns messages of one topic partition into rows. Made once per task for the columns that the query wants; each message is decoded with
  * the schema version it was written with, compiled when that version is first met. Not thread-safe.
  *
  * @param valueOrdinals
  *   where in the row the value columns are; empty when the payload is not looked at
  * @param errorOrdinal
  *   where [[ErrorColumns]] are, -1 for one that is not there
  */
private[pulsarspark] final class RowDecoder private (
    topic: String,
    reader: TopicSchema,
    row: SpecificInternalRow,
    metadata: Array[MetadataReader],
    metadataOrdinals: Array[Int],
    valueOrdinals: Array[Int],
    errorOrdinal: Int,
    corruptOrdinal: Int,
    schemaAt: Array[Byte] => TopicSchema,
    compile: TopicSchema => ValueDecoder,
    /** How deep entries must be opened for these columns. */
    val level: DecodeLevel,
    /** True when values point into the bytes of an entry, so that these must stay as they are. */
    val refersToBytes: Boolean
) {
  private val readerVersion               = reader.version.toArray
  private val takesTombstones             = ValueDecoder.takesTombstones(reader)
  private val isReadAsBytes               = ValueDecoder.isReadAsBytes(reader)
  private val decoders                    = new JHashMap[ByteBuffer, ValueDecoder]
  private var currentVersion: Array[Byte] = MessageView.NoBytes
  private var current: ValueDecoder       = if (valueOrdinals.isEmpty) null else compile(reader.unversioned.getOrElse(reader))

  if (current != null) {
    decoders.put(ByteBuffer.wrap(MessageView.NoBytes), current)
    decoders.put(ByteBuffer.wrap(readerVersion), current)
  }

  /** The same row each time, overwritten by the next call; its values are not, and stay valid. */
  def decode(m: MessageView): InternalRow = {
    val isDecoded = current != null && (!m.valueIsNull || takesTombstones)
    // Before anything else: a schema that cannot be had is no matter of this message.
    if (isDecoded && !isReadAsBytes && (m.schemaVersion ne currentVersion) && !Arrays.equals(m.schemaVersion, currentVersion))
      switchTo(m.schemaVersion)
    try {
      var i = 0
      while (i < metadata.length) {
        metadata(i).set(m, row, metadataOrdinals(i))
        i += 1
      }
      if (errorOrdinal >= 0) row.setNullAt(errorOrdinal)
      if (corruptOrdinal >= 0) row.setNullAt(corruptOrdinal)
      if (isDecoded) current.decode(m, row) else clearValues()
      row
    } catch { case NonFatal(e) => clearValues(); throw named(m, e) }
  }

  /** The row of a message that [[decode]] has just refused, without its value. */
  def withoutValue(m: MessageView, error: Throwable with PulsarError): InternalRow = {
    if (errorOrdinal >= 0) row.update(errorOrdinal, UTF8String.fromString(error.getMessage))
    if (corruptOrdinal >= 0 && !m.valueIsNull)
      row.update(corruptOrdinal, Arrays.copyOfRange(m.bytes, m.valueOffset, m.valueOffset + m.valueLength))
    row
  }

  private def clearValues(): Unit = {
    var i = 0
    while (i < valueOrdinals.length) {
      row.setNullAt(valueOrdinals(i))
      i += 1
    }
  }

  private def switchTo(version: Array[Byte]): Unit = {
    val known = decoders.get(ByteBuffer.wrap(version))
    current =
      if (known != null) known
      else {
        val written = schemaAt(version)
        val decoder =
          try compile(written)
          catch {
            case known: PulsarError => throw known
            case NonFatal(e)        => new RowDecoder.Failing(e)
          }
        decoders.put(ByteBuffer.wrap(version), decoder)
        decoder
      }
    currentVersion = version
  }

  private def named(m: MessageView, cause: Throwable): Throwable = cause match {
    case known: PulsarError               => known
    case unresolvable: UnresolvableSchema =>
      PulsarErrors.caused(
        "PULSAR_SCHEMA_NOT_RESOLVABLE",
        unresolvable,
        "topic"         -> topic,
        "position"      -> positionOf(m),
        "version"       -> SchemaVersions.text(m.schemaVersion),
        "readerVersion" -> readerText,
        "reason"        -> unresolvable.getMessage
      )
    case time: TimeOutOfRange =>
      PulsarErrors.caused("PULSAR_TIME_OUT_OF_RANGE", time, "topic" -> topic, "position" -> positionOf(m), "millis" -> time.millis.toString)
    case other =>
      PulsarErrors.caused(
        "PULSAR_VALUE_NOT_DECODABLE",
        other,
        "topic"      -> topic,
        "position"   -> positionOf(m),
        "schemaType" -> reader.schemaType,
        "version"    -> SchemaVersions.text(m.schemaVersion),
        "reason"     -> reasonOf(other)
      )
  }

  private def readerText =
    if (reader.isPinned) "the option readerSchema says"
    else if (reader.unversioned.isDefined) "the newest version with the fields of those before"
    else if (readerVersion.isEmpty) "the newest version"
    else s"version ${SchemaVersions.text(readerVersion)}"

  private def reasonOf(cause: Throwable) = cause match {
    // Without the place in the source, which Jackson adds on a line of its own.
    case json: JsonProcessingException => json.getOriginalMessage
    case other                         => Option(other.getMessage).getOrElse(other.toString)
  }

  /** Of a value alone, as functions get them, it is not known. */
  private def positionOf(m: MessageView) =
    if (m.ledgerId < 0) "with unknown position" else Position(m.ledgerId, m.entryId, m.batchIndex).toString
}

private[pulsarspark] object RowDecoder {

  /** For values of a schema version that cannot be read at all. */
  private final class Failing(cause: Throwable) extends ValueDecoder {
    override def decode(m: MessageView, row: InternalRow): Unit = throw cause
  }

  /** @param partition
    *   index of the partition, -1 for a topic without
    * @param output
    *   columns of the rows in their order: metadata columns by their name, [[ErrorColumns]] where they are asked for, all others are value
    *   columns of `reader` or parts of them
    * @param reader
    *   the schema all values are read as
    * @param schemaAt
    *   the schema of a version as it stands in a message; called once per version, on the thread that decodes
    * @param withErrors
    *   whether the names of [[ErrorColumns]] mean these
    */
  def apply(
      topic: String,
      partition: Int,
      output: StructType,
      reader: TopicSchema,
      schemaAt: Array[Byte] => TopicSchema,
      withErrors: Boolean = false
  ): RowDecoder = {
    def placeOf(column: StructField) = if (withErrors) output.fieldNames.indexOf(column.name) else -1
    val errors                       = Seq(placeOf(ErrorColumns.Error), placeOf(ErrorColumns.Corrupt))
    val columns                      = output.fields.toSeq.zipWithIndex.map { case (f, i) => (f, i, MetadataColumns.byName(f.name)) }
    val metadata                     = columns.collect { case (_, i, Some(column)) => (column, i) }
    val (values, ordinals)           = columns.collect { case (f, i, None) if !errors.contains(i) => (f, i) }.unzip
    val level                        =
      if (values.nonEmpty) DecodeLevel.Message
      else metadata.map(_._1.level).foldLeft[DecodeLevel](DecodeLevel.Entry)((a, b) => if (a < b) b else a)
    new RowDecoder(
      topic,
      reader,
      new SpecificInternalRow(output),
      metadata.map { case (column, _) => MetadataReader(column, topic, partition) }.toArray,
      metadata.map(_._2).toArray,
      ordinals.toArray,
      errors.head,
      errors.last,
      schemaAt,
      ValueDecoder.compiler(topic, reader, StructType(values), ordinals.toArray),
      level,
      refersToBytes = values.nonEmpty && ValueDecoder.refersToBytes(reader)
    )
  }
}
