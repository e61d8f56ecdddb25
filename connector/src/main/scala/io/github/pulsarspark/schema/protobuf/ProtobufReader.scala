package io.github.pulsarspark.schema.protobuf

import java.util.{ArrayList => JArrayList, Arrays}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.GenericArrayData

import io.github.pulsarspark.format.entry.ProtobufCursor
import io.github.pulsarspark.schema.convert.{MalformedValue, MapBuilder}

/** One field on its way into a row. A field may be there any number of times and in any order, so it is started, takes
  * what arrives, and is finished. Such trees are compiled once for each schema and the requested columns; they keep
  * state while a message is read.
  *
  * Written by hand because protobuf's `DynamicMessage` takes more than seven times the CPU
  * (benchmarks/results/micro.md): it makes an object of every field, requested or not.
  */
private[schema] abstract class ProtobufField {

  /** The other members of the oneof it belongs to, of which only the last one read is there. */
  var rivals: Array[ProtobufField] = ProtobufField.NoRivals

  /** The field is not there. */
  def start(row: InternalRow): Unit
  protected def take(tag: Int, in: ProtobufCursor, row: InternalRow): Unit
  def finish(row: InternalRow): Unit = ()

  final def meet(tag: Int, in: ProtobufCursor, row: InternalRow): Unit = {
    var i = 0
    while (i < rivals.length) {
      rivals(i).start(row)
      i += 1
    }
    take(tag, in, row)
  }
}

private[schema] object ProtobufField {
  val NoRivals: Array[ProtobufField] = Array.empty

  /** A field that is not requested but replaces the other fields of its `oneof`. */
  final class Rival extends ProtobufField {
    override def start(row: InternalRow): Unit                              = ()
    override def take(tag: Int, in: ProtobufCursor, row: InternalRow): Unit = pass(tag, in)
  }

  /** @param absent
    *   null for a field with presence
    */
  final class Single(scalar: ProtobufScalar, absent: Any, ordinal: Int) extends ProtobufField {
    override def start(row: InternalRow): Unit = row.update(ordinal, absent)

    override def take(tag: Int, in: ProtobufCursor, row: InternalRow): Unit =
      if ((tag & 7) == scalar.wireType) scalar.set(in, row, ordinal) else pass(tag, in)
  }

  /** A message; when it is there more than once its fields are merged. */
  final class Embedded(message: ProtobufMessage, ordinal: Int) extends ProtobufField {
    private var struct: InternalRow = _

    override def start(row: InternalRow): Unit = {
      struct = null
      row.setNullAt(ordinal)
    }

    override def take(tag: Int, in: ProtobufCursor, row: InternalRow): Unit =
      if ((tag & 7) != 2) pass(tag, in)
      else {
        if (struct == null) struct = message.start()
        message.embedded(in, struct)
      }

    override def finish(row: InternalRow): Unit = if (struct != null) row.update(ordinal, message.finish(struct))
  }

  final class Repeated(item: Item, ordinal: Int) extends ProtobufField {
    private val items = new JArrayList[Any]

    override def start(row: InternalRow): Unit = items.clear()

    override def take(tag: Int, in: ProtobufCursor, row: InternalRow): Unit =
      if ((tag & 7) == item.wireType) add(in)
      else if ((tag & 7) == 2) { // packed
        in.range()
        val outer = in.enter()
        while (!in.isAtEnd) add(in)
        in.leave(outer)
      } else pass(tag, in)

    private def add(in: ProtobufCursor): Unit = {
      val value = item.value(in)
      if (value != null) { items.add(value); () }
    }

    override def finish(row: InternalRow): Unit =
      row.update(ordinal, new GenericArrayData(items.toArray.asInstanceOf[Array[Any]]))
  }

  /** Entries are messages of a key (1) and a value (2). */
  final class Mapping(key: ProtobufScalar, item: Item, ordinal: Int) extends ProtobufField {
    private var map: MapBuilder = _

    override def start(row: InternalRow): Unit = map = null

    override def take(tag: Int, in: ProtobufCursor, row: InternalRow): Unit =
      if ((tag & 7) != 2) pass(tag, in)
      else {
        in.range()
        val outer      = in.enter()
        var k: Any     = key.default
        var v: Any     = item.default
        var entry: Int = in.nextTag()
        while (entry != 0) {
          if (entry == (1 << 3 | key.wireType)) k = key.value(in)
          else if (entry == (2 << 3 | item.wireType)) v = item.value(in)
          else pass(entry, in)
          entry = in.nextTag()
        }
        in.leave(outer)
        if (v != null) {
          if (map == null) map = new MapBuilder(0)
          map.put(k, v)
        }
      }

    override def finish(row: InternalRow): Unit =
      row.update(ordinal, if (map == null) MapBuilder.Empty else map.result())
  }

  /** Reader of the elements of arrays and maps. */
  abstract class Item(val wireType: Int) {
    def value(in: ProtobufCursor): Any
    def default: Any
  }

  def item(scalar: ProtobufScalar): Item = new Item(scalar.wireType) {
    override def value(in: ProtobufCursor): Any = scalar.value(in)
    override def default: Any                   = scalar.default
  }

  def item(message: ProtobufMessage): Item = new Item(2) {
    override def value(in: ProtobufCursor): Any = {
      val struct = message.start()
      message.embedded(in, struct)
      message.finish(struct)
    }
    override def default: Any = message.finish(message.start())
  }

  /** Steps over a field, groups with all that is in them. */
  def pass(tag: Int, in: ProtobufCursor): Unit =
    if ((tag & 7) != 3) in.skip(tag)
    else {
      var open = 1
      while (open > 0) {
        val inner = in.nextTag()
        inner & 7 match {
          case 3               => open += 1
          case 4               => open -= 1
          case _ if inner == 0 => throw new MalformedValue("a group is not ended")
          case _               => in.skip(inner)
        }
      }
    }
}

/** The requested fields of one message, in a row.
  *
  * @param numbers
  *   in rising order, `fields` are theirs
  * @param show
  *   turns the row into the value of the column
  */
private[schema] final class ProtobufMessage(
    numbers: Array[Int],
    fields: Array[ProtobufField],
    size: Int,
    show: InternalRow => Any
) {

  def start(): InternalRow = {
    val row = new GenericInternalRow(size)
    startAll(row)
    row
  }

  def finish(row: InternalRow): Any = {
    finishAll(row)
    show(row)
  }

  /** Adds what a message holds that is a field of the one the cursor is in. */
  def embedded(in: ProtobufCursor, row: InternalRow): Unit = {
    in.range()
    val outer = in.enter()
    readAll(in, row)
    in.leave(outer)
  }

  def startAll(row: InternalRow): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).start(row)
      i += 1
    }
  }

  def readAll(in: ProtobufCursor, row: InternalRow): Unit = {
    // Writers keep to the order of the numbers, so the same field or the one after it is the first guess.
    var guess = 0
    var tag   = in.nextTag()
    while (tag != 0) {
      val number = tag >>> 3
      val found  =
        if (guess < numbers.length && numbers(guess) == number) guess
        else if (guess + 1 < numbers.length && numbers(guess + 1) == number) guess + 1
        else Arrays.binarySearch(numbers, number)
      if (found < 0) ProtobufField.pass(tag, in)
      else {
        fields(found).meet(tag, in, row)
        guess = found
      }
      tag = in.nextTag()
    }
  }

  def finishAll(row: InternalRow): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).finish(row)
      i += 1
    }
  }
}
