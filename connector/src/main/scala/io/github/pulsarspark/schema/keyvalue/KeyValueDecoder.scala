package io.github.pulsarspark.schema.keyvalue

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{StructField, StructType}

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.convert.MalformedValue
import io.github.pulsarspark.schema.{SchemaFormats, TopicSchema, ValueDecoder}

/** KEY_VALUE values: the columns `key` and `value`, decoded like values of schemas of their own; records are structs.
  */
private[schema] final class KeyValueDecoder private (
    key: KeyValueDecoder.Part,
    value: KeyValueDecoder.Part,
    separated: Boolean
) extends ValueDecoder {

  /** Decodes a message. Called also for a message without value, which may have a key. */
  override def decode(m: MessageView, row: InternalRow): Unit =
    if (separated) {
      if (m.keyLength < 0) key.clear(row)
      else key.decode(Arrays.copyOfRange(m.keyBytes, m.keyOffset, m.keyOffset + m.keyLength), 0, m.keyLength, row)
      if (m.valueIsNull) value.clear(row) else value.decode(m.bytes, m.valueOffset, m.valueLength, row)
    } else if (m.valueIsNull) {
      key.clear(row)
      value.clear(row)
    } else {
      val end = m.valueOffset + m.valueLength
      inline(value, m.bytes, inline(key, m.bytes, m.valueOffset, end, row), end, row)
      ()
    }

  /** A part follows its length, which is -1 for null; returns where the part ends. */
  private def inline(part: KeyValueDecoder.Part, bytes: Array[Byte], at: Int, end: Int, row: InternalRow): Int = {
    if (end - at < 4) throw new MalformedValue("the value ends where the length of its key or value should be")
    val length = bytes(at) << 24 | (bytes(at + 1) & 0xff) << 16 | (bytes(at + 2) & 0xff) << 8 | (bytes(at + 3) & 0xff)
    val start  = at + 4
    if (length == -1) {
      part.clear(row)
      start
    } else {
      if (length < 0 || length > end - start)
        throw new MalformedValue(s"a part of $length bytes is longer than the ${end - start} bytes left")
      part.decode(bytes, start, length, row)
      start + length
    }
  }
}

private[schema] object KeyValueDecoder {

  /** Makes decoders for rows with some of the columns.
    *
    * @param required
    *   the columns
    * @param ordinals
    *   where in the row each of them goes
    */
  final class Maker(topic: String, formats: SchemaFormats, required: StructType, ordinals: Array[Int]) {

    /** The encoding of what was written may be another one than the reader's. */
    def decoder(writer: KeyValueSchema, reader: KeyValueSchema): KeyValueDecoder = new KeyValueDecoder(
      part(KeyValueSchema.KeyColumn, writer.key, reader.key),
      part(KeyValueSchema.ValueColumn, writer.value, reader.value),
      writer.separated
    )

    private def part(name: String, writer: TopicSchema, reader: TopicSchema): Part = {
      def decoder(columns: StructType, places: Array[Int]) = formats.decoder(topic, writer, reader, columns, places)
      required.fields.zip(ordinals).find(_._1.name == name) match {
        case None                                                                          => Skipped
        case Some((StructField(_, struct: StructType, _, _), ordinal)) if isRecord(reader) =>
          val hasEmpty = formats.formatOf(topic, writer).hasEmptyValues(topic, writer)
          new Record(decoder(struct, struct.indices.toArray), struct.size, ordinal, hasEmpty)
        case Some((field, ordinal)) => new Single(decoder(StructType(Seq(field)), Array(ordinal)), ordinal)
      }
    }

    private def isRecord(schema: TopicSchema) = formats.formatOf(topic, schema).isRecord(topic, schema)
  }

  /** A range of bytes that is decoded as the value of a message would be. */
  private sealed abstract class Part {
    def decode(bytes: Array[Byte], offset: Int, length: Int, row: InternalRow): Unit
    def clear(row: InternalRow): Unit
  }

  private object Skipped extends Part {
    override def decode(bytes: Array[Byte], offset: Int, length: Int, row: InternalRow): Unit = ()
    override def clear(row: InternalRow): Unit                                                = ()
  }

  private class Single(decoder: ValueDecoder, ordinal: Int) extends Part {
    private val view = new MessageView

    override def decode(bytes: Array[Byte], offset: Int, length: Int, row: InternalRow): Unit = {
      view.bytes = bytes
      view.valueOffset = offset
      view.valueLength = length
      decoder.decode(view, row)
    }

    override def clear(row: InternalRow): Unit = row.setNullAt(ordinal)
  }

  private final class Record(decoder: ValueDecoder, size: Int, ordinal: Int, hasEmpty: Boolean)
      extends Single(decoder, ordinal) {
    override def decode(bytes: Array[Byte], offset: Int, length: Int, row: InternalRow): Unit =
      if (length == 0 && !hasEmpty) clear(row)
      else {
        val struct = new GenericInternalRow(size)
        super.decode(bytes, offset, length, struct)
        row.update(ordinal, struct)
      }
  }
}
