package io.github.pulsarspark.schema.json

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow

/** A union of several types in JSON, which does not store the type of a value. An object that names a type is of that
  * type; any other value belongs to the narrowest member that accepts it.
  */
private[schema] final class JsonMembers(members: Seq[JsonMembers.Member], size: Int) extends JsonReader {
  import JsonReader.unexpected

  private val named   = members.map(m => m.schema.getFullName -> m).toMap
  private val objects = members.filter(m => m.is(Type.RECORD) || m.is(Type.MAP))

  override def value(p: JsonParser): Any = {
    val row = new GenericInternalRow(size)
    if (p.currentToken == JsonToken.START_OBJECT) {
      p.nextToken()
      named.get(p.currentName).filter(_ => p.currentToken == JsonToken.FIELD_NAME) match {
        case Some(member) => put(row, member, JsonReader.unwrap(p, member.reader))
        case None         =>
          val member = objectMember(p)
          put(row, member, member.reader.value(p))
      }
    } else {
      val member = scalarMember(p)
      put(row, member, member.reader.value(p))
    }
    row
  }

  private def put(row: GenericInternalRow, member: JsonMembers.Member, value: Any): Unit =
    if (member.ordinal >= 0) row.update(member.ordinal, value)

  /** The record that has the first field of the object, else a map, else the first record. */
  private def objectMember(p: JsonParser): JsonMembers.Member =
    objects
      .find(m => m.is(Type.RECORD) && m.schema.getField(p.currentName) != null)
      .orElse(objects.find(_.is(Type.MAP)))
      .orElse(objects.headOption)
      .getOrElse(throw unexpected(p, named.keys.mkString(" or ")))

  private def scalarMember(p: JsonParser): JsonMembers.Member = {
    val order: Seq[JsonMembers.Member => Boolean] = p.currentToken match {
      case JsonToken.VALUE_NUMBER_INT =>
        Seq(
          m => m.is(Type.INT) && p.getNumberType == JsonParser.NumberType.INT,
          m => m.is(Type.LONG) && p.getNumberType != JsonParser.NumberType.BIG_INTEGER,
          _.isDecimal,
          _.is(Type.DOUBLE),
          _.is(Type.FLOAT)
        )
      case JsonToken.VALUE_NUMBER_FLOAT                 => Seq(_.isDecimal, _.is(Type.DOUBLE), _.is(Type.FLOAT))
      case JsonToken.VALUE_TRUE | JsonToken.VALUE_FALSE => Seq(_.is(Type.BOOLEAN))
      case JsonToken.START_ARRAY                        => Seq(_.is(Type.ARRAY))
      case JsonToken.VALUE_STRING                       =>
        Seq(
          m => m.is(Type.ENUM) && m.schema.hasEnumSymbol(p.getText),
          _.is(Type.STRING),
          m => (m.is(Type.BYTES) || m.is(Type.FIXED)) && !m.isDecimal,
          _.is(Type.ENUM),
          _.is(Type.DOUBLE),
          _.is(Type.FLOAT)
        )
      case _ => Nil
    }
    order.iterator.flatMap(members.find(_)).nextOption().getOrElse(throw unexpected(p, named.keys.mkString(" or ")))
  }
}

private[schema] object JsonMembers {

  /** @param ordinal
    *   of the member in the struct, -1 when it is not requested
    */
  final class Member(val schema: Schema, val reader: JsonReader, val ordinal: Int) {
    def is(t: Type): Boolean = schema.getType == t
    def isDecimal: Boolean   = schema.getLogicalType.isInstanceOf[LogicalTypes.Decimal]
  }
}
