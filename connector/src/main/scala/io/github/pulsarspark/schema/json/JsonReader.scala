package io.github.pulsarspark.schema.json

import java.math.{BigDecimal => JBigDecimal}
import java.util.{ArrayList => JArrayList, Base64, HashMap => JHashMap}

import com.fasterxml.jackson.core.{JsonParser, JsonProcessingException, JsonToken, StreamReadConstraints}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types.DecimalType
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.convert.{DecimalConversion, MalformedValue, MapBuilder}

/** Takes one JSON value, never null: the parser stands on its first token, and afterwards on its last. A tree of these
  * is compiled once per schema version.
  *
  * Values are taken as the writers of Pulsar's clients leave them, which for Java means Jackson's conventions: bytes in
  * base64, texts for numbers that JSON does not have. Like Jackson's own readers these accept a number as text and a
  * text as number.
  */
private[schema] abstract class JsonReader {
  def value(p: JsonParser): Any

  def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit = row.update(ordinal, value(p))

  final def valueOrNull(p: JsonParser): Any = if (p.currentToken == JsonToken.VALUE_NULL) null else value(p)

  final def setOrNull(p: JsonParser, row: InternalRow, ordinal: Int): Unit =
    if (p.currentToken == JsonToken.VALUE_NULL) row.setNullAt(ordinal) else set(p, row, ordinal)
}

private[schema] object JsonReader {

  /** Reads a field of type null: skips any value. */
  object Null extends JsonReader {
    override def value(p: JsonParser): Any = {
      p.skipChildren()
      null
    }
  }

  object Bool extends JsonReader {
    override def value(p: JsonParser): Any                                = read(p)
    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit = row.setBoolean(ordinal, read(p))

    private def read(p: JsonParser): Boolean = p.currentToken match {
      case JsonToken.VALUE_TRUE                                => true
      case JsonToken.VALUE_FALSE                               => false
      case JsonToken.VALUE_STRING if p.getText.trim == "true"  => true
      case JsonToken.VALUE_STRING if p.getText.trim == "false" => false
      case _                                                   => throw unexpected(p, "a boolean")
    }
  }

  object AsInt extends JsonReader {
    override def value(p: JsonParser): Any                                = read(p)
    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit = row.setInt(ordinal, read(p))

    private def read(p: JsonParser): Int = {
      val l = long(p)
      if (l != l.toInt) throw new MalformedValue(s"$l is not an int")
      l.toInt
    }
  }

  object AsLong extends JsonReader {
    override def value(p: JsonParser): Any                                = long(p)
    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit = row.setLong(ordinal, long(p))
  }

  object AsFloat extends JsonReader {
    override def value(p: JsonParser): Any                                = read(p)
    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit = row.setFloat(ordinal, read(p))

    private def read(p: JsonParser): Float = if (p.currentToken.isNumeric) p.getFloatValue else double(p).toFloat
  }

  object AsDouble extends JsonReader {
    override def value(p: JsonParser): Any                                = double(p)
    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit = row.setDouble(ordinal, double(p))
  }

  /** Reads texts and enums. Clients that write something other than a symbol's name (Python writes its value) keep what
    * they wrote.
    */
  object Text extends JsonReader {
    override def value(p: JsonParser): Any =
      if (p.currentToken.isScalarValue) UTF8String.fromString(p.getText) else throw unexpected(p, "a text")
  }

  /** @param size
    *   of a fixed, -1 for bytes of any length
    */
  final class Binary(size: Int) extends JsonReader {
    override def value(p: JsonParser): Any = {
      if (p.currentToken != JsonToken.VALUE_STRING) throw unexpected(p, "base64 text")
      val bytes =
        try p.getBinaryValue
        catch { case _: JsonProcessingException => throw unexpected(p, "base64 text, as Java writes bytes") }
      if (size >= 0 && bytes.length != size)
        throw new MalformedValue(s"${bytes.length} bytes are given for a fixed of $size")
      bytes
    }
  }

  final class Decimal(decimals: DecimalConversion) extends JsonReader {
    override def value(p: JsonParser): Any = decimals.of(decimal(p))
  }

  /** Texts are the base64 of the unscaled number; one with another letter, such as a point, is a number itself. */
  final class UnscaledDecimal(unscaled: DecimalConversion, to: DecimalType) extends JsonReader {
    private val plain = new Decimal(new DecimalConversion(to.scale, to))

    override def value(p: JsonParser): Any =
      if (p.currentToken != JsonToken.VALUE_STRING) plain.value(p)
      else
        try unscaled.of(Base64.getDecoder.decode(p.getText))
        catch {
          case _: IllegalArgumentException => plain.value(p)
        }
  }

  final class Sequence(item: JsonReader) extends JsonReader {
    override def value(p: JsonParser): Any = {
      if (p.currentToken != JsonToken.START_ARRAY) throw unexpected(p, "an array")
      val items = new JArrayList[Any]
      while (p.nextToken() != JsonToken.END_ARRAY) items.add(item.valueOrNull(p))
      new GenericArrayData(items.toArray.asInstanceOf[Array[Any]])
    }
  }

  final class Mapping(item: JsonReader) extends JsonReader {
    override def value(p: JsonParser): Any = {
      if (p.currentToken == JsonToken.START_OBJECT) p.nextToken()
      val map = new MapBuilder(0)
      while (p.currentToken != JsonToken.END_OBJECT) {
        if (p.currentToken != JsonToken.FIELD_NAME) throw unexpected(p, "an object")
        val key = UTF8String.fromString(p.currentName)
        p.nextToken()
        map.put(key, item.valueOrNull(p))
        p.nextToken()
      }
      map.result()
    }
  }

  /** Reads a record by its fields. The parser may be at the opening brace or after it.
    *
    * @param missing
    *   what each field is when the object does not have it
    */
  final class Record(
      val names: Array[String],
      fields: Array[JsonReader],
      ordinals: Array[Int],
      missing: Array[Any],
      size: Int
  ) extends JsonReader {
    private val index = new JHashMap[String, Integer](2 * names.length)
    names.indices.foreach(i => index.put(names(i), i))

    def setAll(p: JsonParser, row: InternalRow): Unit = {
      var i = 0
      while (i < ordinals.length) {
        row.update(ordinals(i), missing(i))
        i += 1
      }
      if (p.currentToken == JsonToken.START_OBJECT) p.nextToken()
      // Writers keep to one order, so the field after the last one found is the first guess.
      var guess = 0
      while (p.currentToken != JsonToken.END_OBJECT) {
        if (p.currentToken != JsonToken.FIELD_NAME) throw unexpected(p, "an object")
        val name  = p.currentName
        val found = if (guess < names.length && names(guess) == name) guess else lookUp(name)
        p.nextToken()
        if (found < 0) p.skipChildren()
        else {
          fields(found).setOrNull(p, row, ordinals(found))
          guess = found + 1
        }
        p.nextToken()
      }
    }

    private def lookUp(name: String): Int = {
      val i = index.get(name)
      if (i == null) -1 else i.intValue
    }

    override def value(p: JsonParser): Any = {
      val row = new GenericInternalRow(size)
      setAll(p, row)
      row
    }

    def atTop(places: Array[Int]): Record = new Record(names, fields, ordinals.map(places(_)), missing, size)
  }

  /** A branch of a union, plain or in Avro's own JSON form, an object with the name of the type as its one field.
    *
    * @param plainObject
    *   true for records and maps, which are objects without that, too
    */
  final class Branch(typeNames: Set[String], plain: JsonReader, plainObject: Boolean) extends JsonReader {
    override def value(p: JsonParser): Any =
      if (p.currentToken != JsonToken.START_OBJECT) plain.value(p)
      else if (p.nextToken() == JsonToken.FIELD_NAME && typeNames(p.currentName)) unwrap(p, plain)
      else if (plainObject) plain.value(p)
      else throw unexpected(p, typeNames.mkString(" or "))

    override def set(p: JsonParser, row: InternalRow, ordinal: Int): Unit =
      if (p.currentToken == JsonToken.START_OBJECT) row.update(ordinal, value(p)) else plain.set(p, row, ordinal)
  }

  /** The value of an object's only field; the parser stands on its name. */
  def unwrap(p: JsonParser, plain: JsonReader): Any = {
    p.nextToken()
    val wrapped = plain.valueOrNull(p)
    if (p.nextToken() != JsonToken.END_OBJECT) throw unexpected(p, "the end of an object")
    wrapped
  }

  def unexpected(p: JsonParser, expected: String): MalformedValue = {
    val path = p.getParsingContext.pathAsPointer.toString
    new MalformedValue(s"${p.currentToken} at ${if (path.isEmpty) "the top" else path} is not $expected")
  }

  /** Limit of the length of a number, as in Jackson; longer ones would take hours. */
  private val MaxNumberLength = StreamReadConstraints.DEFAULT_MAX_NUM_LEN

  private def long(p: JsonParser): Long =
    if (p.currentToken == JsonToken.VALUE_NUMBER_INT) p.getLongValue
    else
      try decimal(p).longValueExact
      catch {
        case _: ArithmeticException => throw new MalformedValue(s"${p.getText} is not a whole number of 64 bits")
      }

  private def double(p: JsonParser): Double = p.currentToken match {
    case JsonToken.VALUE_NUMBER_FLOAT | JsonToken.VALUE_NUMBER_INT => p.getDoubleValue
    case JsonToken.VALUE_STRING                                    =>
      p.getText.trim match {
        case "NaN"                                     => Double.NaN
        case "Infinity" | "+Infinity" | "INF" | "+INF" => Double.PositiveInfinity
        case "-Infinity" | "-INF"                      => Double.NegativeInfinity
        case other => other.toDoubleOption.getOrElse(throw unexpected(p, "a number"))
      }
    case _ => throw unexpected(p, "a number")
  }

  private def decimal(p: JsonParser): JBigDecimal = p.currentToken match {
    case JsonToken.VALUE_NUMBER_FLOAT | JsonToken.VALUE_NUMBER_INT    => p.getDecimalValue
    case JsonToken.VALUE_STRING if p.getTextLength <= MaxNumberLength =>
      try new JBigDecimal(p.getText.trim)
      catch { case _: NumberFormatException => throw unexpected(p, "a number") }
    case _ => throw unexpected(p, "a number")
  }
}
