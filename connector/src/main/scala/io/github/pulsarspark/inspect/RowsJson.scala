package io.github.pulsarspark.inspect

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{ArrayNode, JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

/** Writes rows as JSON: times as ISO 8601 in UTC, lists as arrays. */
private[inspect] object RowsJson {

  private val nodes = JsonNodeFactory.instance

  /** @param all
    *   the columns of the rows
    * @param chosen
    *   names of those that are written
    */
  def apply(all: StructType, chosen: Seq[String], rows: Seq[String] => Iterator[InternalRow]): ObjectNode = {
    val places = chosen.map(all.fieldIndex)
    table(
      StructType(places.map(all(_))),
      rows(chosen).map { row =>
        val values = nodes.arrayNode()
        places.foreach(i => values.add(value(row, i, all(i).dataType)))
        values
      }
    )
  }

  /** A table with the values of its rows. */
  def table(columns: StructType, rows: IterableOnce[ArrayNode]): ObjectNode = {
    val result = nodes.objectNode()
    val head   = result.putArray("columns")
    columns.foreach(c => head.addObject().put("name", c.name).put("type", c.dataType.sql))
    result.putArray("rows").addAll(rows.iterator.toSeq.asJava)
    result
  }

  private def value(from: SpecializedGetters, i: Int, kind: DataType): JsonNode =
    if (from.isNullAt(i)) nodes.nullNode()
    else kind match {
      case StringType             => nodes.textNode(from.getUTF8String(i).toString)
      case IntegerType            => nodes.numberNode(from.getInt(i))
      case LongType               => nodes.numberNode(from.getLong(i))
      case DoubleType             => nodes.numberNode(from.getDouble(i))
      case BooleanType            => nodes.booleanNode(from.getBoolean(i))
      case TimestampType          => nodes.textNode(DateTimeUtils.microsToInstant(from.getLong(i)).toString)
      case ArrayType(elements, _) =>
        val list   = from.getArray(i)
        val result = nodes.arrayNode()
        (0 until list.numElements()).foreach(n => result.add(value(list, n, elements)))
        result
      case other => sys.error(s"no view has a column of type $other")
    }
}
