package io.github.pulsarspark.schema

import java.math.BigDecimal

import scala.collection.mutable

import com.fasterxml.jackson.core.SerializableString
import com.fasterxml.jackson.core.io.SerializedString
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.UnitSuite

/** Tables of what each [[ValueWriter]] hands to its output, in which order, and what it refuses. */
class ValueWriterSuite extends UnitSuite {
  import ValueWriter._
  import ValueWriterSuite._

  private val number = ValueWriter.of((from, i, out) => out.int(from.getInt(i)))
  private val word   = ValueWriter.of((from, i, out) => out.text(from.getUTF8String(i)))
  private def failure(why: Any): IllegalStateException   = new IllegalStateException(s"refused $why")
  private def text(value: String): UTF8String            = UTF8String.fromString(value)
  private def optional(writer: ValueWriter): ValueWriter = new Nullable(0, new Branch(1, writer))

  /** A value of a row: what it becomes, or why it is refused and what was written before. */
  private def written(writer: ValueWriter, row: InternalRow, ordinal: Int = 0): String = {
    val out = new Told
    try {
      writer.write(row, ordinal, out)
      out.shown
    } catch { case e: IllegalStateException => (out.calls :+ e.getMessage).mkString(" ") }
  }

  test("a value that may not be null: the value, or a refusal before anything is written") {
    val writer = new Required(number, () => failure("null"))
    assertEquals(Seq[Any](7, null).map(v => written(writer, InternalRow(v))), Seq("7", "refused null"))
  }

  test("a value that may be null: the branch of nulls and nothing, or what the other writer writes") {
    val writer = new Nullable(2, new Branch(1, number))
    assertEquals(Seq[Any](7, null).map(v => written(writer, InternalRow(v))), Seq("|1 7", "|2 null"))
  }

  private val members: ValueWriter =
    new Members(Array(new Branch(3, number), new Branch(1, word), new Branch(0, number)), n => failure(s"$n members"))

  private val unions = Seq(
    Seq[Any](5, null, null)         -> "|3 5",
    Seq[Any](null, text("b"), null) -> "|1 b",
    Seq[Any](null, null, 9)         -> "|0 9",
    Seq[Any](null, null, null)      -> "refused 0 members",
    Seq[Any](5, null, 9)            -> "refused 2 members",
    Seq[Any](5, text("b"), 9)       -> "refused 3 members"
  )

  for ((values, expected) <- unions) test(s"a union of members, ${values.mkString(", ")}: $expected") {
    assertEquals(written(members, InternalRow("before", InternalRow.fromSeq(values)), ordinal = 1), expected)
  }

  test("a field without a column: the same value for every row, also for a null") {
    val writer = new Constant(InternalRow(42), number)
    assertEquals(Seq[Any](7, null).map(v => written(writer, InternalRow(v, 8))), Seq("42", "42"))
  }

  test("a symbol: its place in the schema and its name; another name is refused before anything is written") {
    val writer = new Enum(Seq("B", "A", "Ä"), name => failure(name))
    assertEquals(Seq("B", "A", "Ä", "a", "").map(s => written(writer, InternalRow(text(s)))),
      Seq("symbol 0 B", "symbol 1 A", "symbol 2 Ä", "refused a", "refused "))
  }

  test("an array: its size, then each item in order, also those that are null") {
    val writer                  = new Sequence(optional(number))
    def array(items: Any*)      = InternalRow(null, new GenericArrayData(items.toArray[Any]))
    def shown(row: InternalRow) = written(writer, row, ordinal = 1)
    assertEquals(shown(array(4, null, 6)), "[3 - |1 4 - |0 null - |1 6 ]")
    assertEquals(shown(array()), "[0 ]")
  }

  test("an array with an item that is refused: an error, whatever was written before") {
    val writer = new Sequence(new Required(number, () => failure("null")))
    assertEquals(written(writer, InternalRow(new GenericArrayData(Array[Any](1, null, 3)))), "[3 - 1 - refused null")
  }

  private def map(entries: (String, Any)*): InternalRow = InternalRow(new ArrayBasedMapData(
    new GenericArrayData(entries.map(e => text(e._1)).toArray[Any]),
    new GenericArrayData(entries.map(_._2).toArray[Any])
  ))

  test("a map: its size, then each key as it was checked, with its own value") {
    val writer = new Mapping(key => text(s"<$key>"), optional(number))
    assertEquals(written(writer, map("a" -> 1, "b" -> null, "c" -> 3)),
      "{3 <a>: |1 1 <b>: |0 null <c>: |1 3 }")
    assertEquals(written(writer, map()), "{0 }")
    val strict = new Mapping(key => throw failure(key), number)
    assertEquals(written(strict, map("a" -> 1)), "{1 refused a")
  }

  private def names(all: String*) = all.map(new SerializedString(_)).toArray

  test("a record: fields in the order of the schema, each from the ordinal of its own column") {
    val record = new Record(names("x", "y", "z"), Array(number, new Constant(InternalRow(0), number), word),
      Array(2, 0, 1))
    val out = new Told
    record.writeAll(InternalRow(7, text("w"), 9), out)
    assertEquals(out.shown, "( x= 9 y= 0 z= w )")
  }

  test("a record within a record: its columns count from its own first one") {
    val inner = new Record(names("a", "b"), Array(number, number), Array(1, 0)).nested(2)
    val outer = new Record(names("in", "n"), Array(inner, number), Array(1, 0))
    val out   = new Told
    outer.writeAll(InternalRow(5, InternalRow(1, 2)), out)
    assertEquals(out.shown, "( in= ( a= 2 b= 1 ) n= 5 )")
  }
}

private object ValueWriterSuite {

  /** Writes down the calls, as words. */
  final class Told extends ValueOutput {
    val calls: mutable.Buffer[String] = mutable.Buffer.empty

    def shown: String = calls.mkString(" ")

    private def add(call: Any): Unit = { calls += call.toString; () }

    override def empty(): Unit                               = add("null")
    override def boolean(value: Boolean): Unit               = add(value)
    override def int(value: Int): Unit                       = add(value)
    override def long(value: Long): Unit                     = add(value)
    override def float(value: Float): Unit                   = add(value)
    override def double(value: Double): Unit                 = add(value)
    override def text(value: UTF8String): Unit               = add(value)
    override def bytes(value: Array[Byte]): Unit             = add(value.toSeq)
    override def fixed(value: Array[Byte]): Unit             = add(value.toSeq)
    override def decimal(value: BigDecimal, size: Int): Unit = add(value)
    override def symbol(index: Int, name: UTF8String): Unit  = add(s"symbol $index $name")
    override def branch(index: Int): Unit                    = add(s"|$index")
    override def startRecord(): Unit                         = add("(")
    override def field(name: SerializableString): Unit       = add(s"${name.getValue}=")
    override def endRecord(): Unit                           = add(")")
    override def startArray(size: Int): Unit                 = add(s"[$size")
    override def item(): Unit                                = add("-")
    override def endArray(): Unit                            = add("]")
    override def startMap(size: Int): Unit                   = add(s"{$size")
    override def key(name: UTF8String): Unit                 = add(s"$name:")
    override def endMap(): Unit                              = add("}")
  }
}
