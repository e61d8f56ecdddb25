package io.github.pulsarspark.schema

import java.util.{HashMap => JHashMap}

import com.fasterxml.jackson.core.io.SerializedString
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.unsafe.types.UTF8String

/** Reads one value from a row, an array or a map and writes it to an output in the form of its schema. Called only for
  * values that are not null, except for writers that accept nulls.
  */
private[schema] abstract class ValueWriter {
  def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit
}

private[schema] object ValueWriter {

  trait Step { def apply(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit }

  def of(step: Step): ValueWriter = new ValueWriter {
    override def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit = step(from, ordinal, out)
  }

  /** Accepts nulls and fails. */
  final class Required(value: ValueWriter, refused: () => Throwable) extends ValueWriter {
    override def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit =
      if (from.isNullAt(ordinal)) throw refused() else value.write(from, ordinal, out)
  }

  /** Accepts nulls. */
  final class Nullable(nullBranch: Int, value: ValueWriter) extends ValueWriter {
    override def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit =
      if (from.isNullAt(ordinal)) {
        out.branch(nullBranch)
        out.empty()
      } else value.write(from, ordinal, out)
  }

  final class Branch(branch: Int, value: ValueWriter) extends ValueWriter {
    override def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit = {
      out.branch(branch)
      value.write(from, ordinal, out)
    }
  }

  /** A union as a struct of members, of which one is not null. */
  final class Members(members: Array[ValueWriter], refused: Int => Throwable) extends ValueWriter {
    override def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit = {
      val struct = from.getStruct(ordinal, members.length)
      var found  = -1
      var count  = 0
      var i      = 0
      while (i < members.length) {
        if (!struct.isNullAt(i)) {
          found = i
          count += 1
        }
        i += 1
      }
      if (count != 1) throw refused(count)
      members(found).write(struct, found, out)
    }
  }

  /** Writes the same value for every row, for a field without a column. Accepts any input. */
  final class Constant(value: SpecializedGetters, writer: ValueWriter) extends ValueWriter {
    override def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit = writer.write(value, 0, out)
  }

  final class Enum(symbols: Seq[String], refused: UTF8String => Throwable) extends ValueWriter {
    private val indexes = new JHashMap[UTF8String, Integer]
    symbols.zipWithIndex.foreach { case (symbol, i) => indexes.put(UTF8String.fromString(symbol), i) }

    override def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit = {
      val name  = from.getUTF8String(ordinal)
      val index = indexes.get(name)
      if (index == null) throw refused(name)
      out.symbol(index, name)
    }
  }

  final class Sequence(item: ValueWriter) extends ValueWriter {
    override def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit = {
      val items = from.getArray(ordinal)
      val size  = items.numElements()
      out.startArray(size)
      var i = 0
      while (i < size) {
        out.item()
        item.write(items, i, out)
        i += 1
      }
      out.endArray()
    }
  }

  final class Mapping(checked: UTF8String => UTF8String, item: ValueWriter) extends ValueWriter {
    override def write(from: SpecializedGetters, ordinal: Int, out: ValueOutput): Unit = {
      val map    = from.getMap(ordinal)
      val keys   = map.keyArray()
      val values = map.valueArray()
      val size   = map.numElements()
      out.startMap(size)
      var i = 0
      while (i < size) {
        out.key(checked(keys.getUTF8String(i)))
        item.write(values, i, out)
        i += 1
      }
      out.endMap()
    }
  }

  /** Writes a record: field i, in the order of the schema, is read from ordinal `ordinals(i)` of the struct. */
  final class Record(names: Array[SerializedString], fields: Array[ValueWriter], ordinals: Array[Int]) {
    def writeAll(from: SpecializedGetters, out: ValueOutput): Unit = {
      out.startRecord()
      var i = 0
      while (i < fields.length) {
        out.field(names(i))
        fields(i).write(from, ordinals(i), out)
        i += 1
      }
      out.endRecord()
    }

    def nested(size: Int): ValueWriter = of((from, ordinal, out) => writeAll(from.getStruct(ordinal, size), out))
  }
}
