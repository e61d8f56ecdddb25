package io.github.pulsarspark.schema.avro

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.convert.{DecimalConversion, MapBuilder, UnresolvableSchema}

/** Reads one value from Avro's encoding, by the writer's schema, and returns it as the reader's schema has it. A tree
  * of these is compiled once for each schema version.
  */
private[schema] abstract class AvroReader {

  /** The value as Spark holds it; for items of arrays and maps. */
  def value(in: AvroInput): Any

  /** Puts the value into a field of a row; overridden where that saves an object. */
  def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.update(ordinal, value(in))
}

private[schema] object AvroReader {

  object Null extends AvroReader {
    override def value(in: AvroInput): Any                                = null
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setNullAt(ordinal)
  }

  object Bool extends AvroReader {
    override def value(in: AvroInput): Any                                = in.boolean()
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setBoolean(ordinal, in.boolean())
  }

  object IntAsInt extends AvroReader {
    override def value(in: AvroInput): Any                                = in.int()
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setInt(ordinal, in.int())
  }

  object IntAsLong extends AvroReader {
    override def value(in: AvroInput): Any                                = in.int().toLong
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setLong(ordinal, in.int().toLong)
  }

  object IntAsFloat extends AvroReader {
    override def value(in: AvroInput): Any                                = in.int().toFloat
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setFloat(ordinal, in.int().toFloat)
  }

  object IntAsDouble extends AvroReader {
    override def value(in: AvroInput): Any                                = in.int().toDouble
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setDouble(ordinal, in.int().toDouble)
  }

  object LongAsLong extends AvroReader {
    override def value(in: AvroInput): Any                                = in.long()
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setLong(ordinal, in.long())
  }

  object LongAsFloat extends AvroReader {
    override def value(in: AvroInput): Any                                = in.long().toFloat
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setFloat(ordinal, in.long().toFloat)
  }

  object LongAsDouble extends AvroReader {
    override def value(in: AvroInput): Any                                = in.long().toDouble
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setDouble(ordinal, in.long().toDouble)
  }

  object FloatAsFloat extends AvroReader {
    override def value(in: AvroInput): Any                                = in.float()
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setFloat(ordinal, in.float())
  }

  object FloatAsDouble extends AvroReader {
    override def value(in: AvroInput): Any                                = in.float().toDouble
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setDouble(ordinal, in.float().toDouble)
  }

  object DoubleAsDouble extends AvroReader {
    override def value(in: AvroInput): Any                                = in.double()
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setDouble(ordinal, in.double())
  }

  object Text extends AvroReader {
    override def value(in: AvroInput): Any = in.string()
  }

  object Binary extends AvroReader {
    override def value(in: AvroInput): Any = in.binary()
  }

  final class Fixed(size: Int) extends AvroReader {
    override def value(in: AvroInput): Any = in.fixed(size)
  }

  final class Time(scaling: AvroTimeUnit.Scaling) extends AvroReader {
    override def value(in: AvroInput): Any                                = scaling(in.long())
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit = row.setLong(ordinal, scaling(in.long()))
  }

  /** @param size
    *   of the fixed that holds the number, -1 for bytes of any length
    */
  final class Decimal(size: Int, decimals: DecimalConversion) extends AvroReader {
    override def value(in: AvroInput): Any = {
      val length = if (size < 0) in.length() else size
      if (length <= 8) decimals.of(in.unscaled(length)) else decimals.of(in.fixed(length))
    }
  }

  /** @param symbols
    *   by the writer's index; null = a symbol that the reader's schema does not have
    */
  final class Enum(symbols: Array[UTF8String], names: Seq[String]) extends AvroReader {
    override def value(in: AvroInput): Any = {
      val i = in.index(symbols.length)
      if (symbols(i) == null)
        throw new UnresolvableSchema(s"enum symbol ${names(i)} is not in the schema it is read with")
      symbols(i)
    }
  }

  final class Sequence(item: AvroReader) extends AvroReader {
    override def value(in: AvroInput): Any = {
      var count = in.blockCount()
      var items = new Array[Object](count)
      var size  = 0
      while (count > 0) {
        if (size + count > items.length) items = Arrays.copyOf(items, math.max(size + count, 2 * size))
        val until = size + count
        while (size < until) {
          items(size) = item.value(in).asInstanceOf[Object]
          size += 1
        }
        count = in.blockCount()
      }
      new GenericArrayData((if (size == items.length) items else Arrays.copyOf(items, size)).asInstanceOf[Array[Any]])
    }
  }

  final class Mapping(item: AvroReader) extends AvroReader {
    override def value(in: AvroInput): Any = {
      var count = in.blockCount()
      val map   = new MapBuilder(count)
      while (count > 0) {
        while (count > 0) {
          val key = in.string()
          map.put(key, item.value(in))
          count -= 1
        }
        count = in.blockCount()
      }
      map.result()
    }
  }

  final class Union(branches: Array[AvroReader]) extends AvroReader {
    override def value(in: AvroInput): Any = branches(in.index(branches.length)).value(in)
    override def set(in: AvroInput, row: InternalRow, ordinal: Int): Unit =
      branches(in.index(branches.length)).set(in, row, ordinal)
  }

  /** One branch of a union that is read as a struct: the other members are null. */
  final class Member(branch: AvroReader, ordinal: Int, size: Int) extends AvroReader {
    override def value(in: AvroInput): Any = {
      val row = new GenericInternalRow(size)
      branch.set(in, row, ordinal)
      row
    }
  }

  /** Reads a record: every field of the writer in its order, read or skipped, then the defaults of fields that only the
    * reader has.
    */
  final class Record(steps: Array[AvroReader], ordinals: Array[Int], defaults: Array[(Int, Any)], size: Int)
      extends AvroReader {

    def setAll(in: AvroInput, row: InternalRow): Unit = {
      var i = 0
      while (i < steps.length) {
        steps(i).set(in, row, ordinals(i))
        i += 1
      }
      i = 0
      while (i < defaults.length) {
        row.update(defaults(i)._1, defaults(i)._2)
        i += 1
      }
    }

    override def value(in: AvroInput): Any = {
      val row = new GenericInternalRow(size)
      setAll(in, row)
      row
    }

    /** Like this reader, but for a record that is a whole value: fields go to these ordinals of a wider row, and
      * nothing is read after the last requested field.
      */
    def atTop(places: Array[Int]): Record = {
      val needed = steps.lastIndexWhere(!_.isInstanceOf[AvroSkipper]) + 1
      val moved  = ordinals.take(needed).map(i => if (i < 0) i else places(i))
      new Record(steps.take(needed), moved, defaults.map { case (i, value) => (places(i), value) }, size)
    }
  }

  /** A branch or field that cannot be read; as in Avro that matters only for messages that have it. */
  final class Unresolvable(reason: String) extends AvroReader {
    override def value(in: AvroInput): Any = throw new UnresolvableSchema(reason)
  }
}
