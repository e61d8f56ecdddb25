package io.github.pulsarspark.schema

import java.util.IdentityHashMap

import scala.jdk.CollectionConverters._

import org.apache.avro.Schema
import org.apache.avro.Schema.Type
import org.apache.spark.sql.catalyst.InternalRow

/** Passes over a value that nobody asked for. */
private[schema] abstract class AvroSkipper extends AvroReader {
  def skip(in: AvroInput): Unit

  override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = skip(in)

  override def value(in: AvroInput): Any = {
    skip(in)
    null
  }
}

private[schema] object AvroSkipper {

  def apply(writer: Schema): AvroSkipper = compile(writer, new IdentityHashMap)

  private def of(step: AvroInput => Unit): AvroSkipper = new AvroSkipper {
    override def skip(in: AvroInput): Unit = step(in)
  }

  private val nothing = of(_ => ())
  private val number  = of { in => in.long(); () }
  private val bytes   = of(in => in.skip(in.length().toLong))

  private def fixed(size: Int) = of(_.skip(size.toLong))

  /** Records that are being compiled are kept, because a writer's schema may contain itself. */
  private def compile(schema: Schema, records: IdentityHashMap[Schema, RecordSkipper]): AvroSkipper = schema.getType match {
    case Type.NULL                        => nothing
    case Type.BOOLEAN                     => fixed(1)
    case Type.INT | Type.LONG | Type.ENUM => number
    case Type.FLOAT                       => fixed(4)
    case Type.DOUBLE                      => fixed(8)
    case Type.BYTES | Type.STRING         => bytes
    case Type.FIXED                       => fixed(schema.getFixedSize)
    case Type.ARRAY                       => blocks(compile(schema.getElementType, records))
    case Type.MAP                         =>
      val value = compile(schema.getValueType, records)
      blocks(of { in => bytes.skip(in); value.skip(in) })
    case Type.UNION =>
      val branches = schema.getTypes.asScala.map(compile(_, records)).toArray
      of(in => branches(in.index(branches.length)).skip(in))
    case Type.RECORD =>
      val known = records.get(schema)
      if (known != null) known
      else {
        val record = new RecordSkipper
        records.put(schema, record)
        record.fields = schema.getFields.asScala.map(f => compile(f.schema, records)).toArray
        record
      }
  }

  private def blocks(item: AvroSkipper) = of { in =>
    var count = in.skippedBlockCount()
    while (count > 0) {
      item.skip(in)
      count -= 1
      if (count == 0) count = in.skippedBlockCount()
    }
  }

  private final class RecordSkipper extends AvroSkipper {
    var fields: Array[AvroSkipper] = _

    override def skip(in: AvroInput): Unit = in.nested {
      var i = 0
      while (i < fields.length) {
        fields(i).skip(in)
        i += 1
      }
    }
  }
}
