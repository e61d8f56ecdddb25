package io.github.pulsarspark.schema.rows

import java.nio.ByteBuffer
import java.util.{Arrays, HashMap => JHashMap}

import scala.util.control.NonFatal

import com.fasterxml.jackson.core.JsonProcessingException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.format.DecodeDepth
import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.schema.columns.MetadataReader
import io.github.pulsarspark.schema.convert.{TimeOutOfRange, UnresolvableSchema}
import io.github.pulsarspark.schema.{SchemaVersions, TopicSchema, ValueDecoder}

/** Turns messages of one topic partition into rows of the columns that the query selects. Each message is decoded with
  * the schema version it was written with. Created by [[RowDecoders]]. Not thread-safe.
  *
  * @param valueOrdinals
  *   places of the value columns in the row; empty when the payload is not read
  * @param errorOrdinal
  *   places of [[ErrorColumns]], -1 for a missing one
  * @param level
  *   how deep entries must be opened for these columns
  * @param refersToBytes
  *   true when values point into the bytes of an entry, which must not change then
  */
private[pulsarspark] final class RowDecoder private[schema] (
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
    val level: DecodeDepth,
    val refersToBytes: Boolean
) {
  private val takesTombstones             = SchemaTranslation.formatOf(topic, reader).takesTombstones
  private val isReadAsBytes               = reader.isReadAsBytes
  private val decoders                    = new JHashMap[ByteBuffer, ValueDecoder]
  private var currentVersion: Array[Byte] = MessageView.NoBytes
  private val newest                      = reader.unversioned.getOrElse(reader)
  private var current: ValueDecoder       = if (valueOrdinals.isEmpty) null else compile(newest)

  if (current != null) {
    decoders.put(ByteBuffer.wrap(MessageView.NoBytes), current)
    decoders.put(ByteBuffer.wrap(newest.version.toArray), current)
  }

  /** Returns the same row each time. The next call overwrites the row, but not its values. */
  def decode(m: MessageView): InternalRow = {
    val isDecoded = current != null && (!m.valueIsNull || takesTombstones)
    // Outside the try: a schema that cannot be fetched is not this message's fault, unless it was deleted.
    if (
      isDecoded && !isReadAsBytes && (m.schemaVersion ne currentVersion) &&
      !Arrays.equals(m.schemaVersion, currentVersion)
    )
      switchTo(m.schemaVersion)
    val wrongTime = setMetadata(m)
    try if (isDecoded) current.decode(m, row) else clearValues()
    catch { case NonFatal(e) => clearValues(); throw named(m, e) }
    if (wrongTime != null) throw named(m, wrongTime)
    row
  }

  /** Fills every metadata column; a time that no timestamp holds is null.
    *
    * @return
    *   the first such time; null without one, because this is the hot path
    */
  private def setMetadata(m: MessageView): TimeOutOfRange = {
    var wrong: TimeOutOfRange = null
    var i                     = 0
    while (i < metadata.length) {
      try metadata(i).set(m, row, metadataOrdinals(i))
      catch {
        case time: TimeOutOfRange =>
          row.setNullAt(metadataOrdinals(i))
          if (wrong == null) wrong = time
      }
      i += 1
    }
    if (errorOrdinal >= 0) row.setNullAt(errorOrdinal)
    if (corruptOrdinal >= 0) row.setNullAt(corruptOrdinal)
    wrong
  }

  /** The row of a message that [[decode]] failed for: without its value, or with the value but without its times that
    * no timestamp holds.
    */
  def withError(m: MessageView, error: Throwable with PulsarError): InternalRow = {
    if (errorOrdinal >= 0) row.update(errorOrdinal, UTF8String.fromString(error.getMessage))
    if (corruptOrdinal >= 0 && !m.valueIsNull && !Conditions.TimeOutOfRange.is(error))
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
        val decoder = newDecoder(version)
        decoders.put(ByteBuffer.wrap(version), decoder)
        decoder
      }
    currentVersion = version
  }

  private def newDecoder(version: Array[Byte]): ValueDecoder = {
    val written =
      try Right(schemaAt(version))
      catch { case deleted: PulsarError if Conditions.SchemaVersionMissing.is(deleted) => Left(deleted) }
    try written.fold(new RowDecoder.Failing(_), compile)
    catch {
      case known: PulsarError => throw known
      case NonFatal(e)        => new RowDecoder.Failing(e)
    }
  }

  private def named(m: MessageView, cause: Throwable): Throwable = cause match {
    case known: PulsarError               => known
    case unresolvable: UnresolvableSchema =>
      Conditions.SchemaNotResolvable(topic = topic, position = positionOf(m),
        version = SchemaVersions.text(m.schemaVersion), readerVersion = readerText,
        reason = unresolvable.getMessage).causedBy(unresolvable)
    case time: TimeOutOfRange =>
      Conditions.TimeOutOfRange(topic = topic, position = positionOf(m), millis = time.millis.toString).causedBy(time)
    case other =>
      Conditions.ValueNotDecodable(topic = topic, position = positionOf(m), schemaType = reader.schemaType,
        version = SchemaVersions.text(m.schemaVersion), reason = reasonOf(other)).causedBy(other)
  }

  private def readerText =
    if (reader.isPinned) "the option readerSchema says"
    else if (reader.unversioned.isDefined) "the newest version with the fields of those before"
    else if (reader.version.isEmpty) "the newest version"
    else s"the newest version (${SchemaVersions.text(reader.version.toArray)})"

  private def reasonOf(cause: Throwable) = cause match {
    // Without the location, which Jackson appends on a line of its own.
    case json: JsonProcessingException => json.getOriginalMessage
    case other                         => Option(other.getMessage).getOrElse(other.toString)
  }

  /** Unknown for a value alone, as functions decode it. */
  private def positionOf(m: MessageView) =
    if (m.ledgerId < 0) "with unknown position" else Position(m.ledgerId, m.entryId, m.batchIndex).toString
}

private[pulsarspark] object RowDecoder {

  /** Decoder for a schema version that cannot be read: it fails for each value. */
  private final class Failing(cause: Throwable) extends ValueDecoder {
    override def decode(m: MessageView, row: InternalRow): Unit = throw cause
  }

  /** A decoder that shares nothing; parameters as in [[RowDecoders]]. */
  def apply(
      topic: String,
      partition: Int,
      output: StructType,
      reader: TopicSchema,
      schemaAt: Array[Byte] => TopicSchema,
      withErrors: Boolean = false
  ): RowDecoder = new RowDecoders(output, withErrors).decoder(topic, partition, reader, schemaAt)
}
