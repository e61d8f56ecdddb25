package io.github.pulsarspark.schema.keyvalue

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, NullType, StructType}

import io.github.pulsarspark.schema.avro.AvroSchemaOfColumns
import io.github.pulsarspark.schema.convert.ColumnMismatch
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema.{KeyColumn, ValueColumn}
import io.github.pulsarspark.schema.primitive.PrimitiveFormat
import io.github.pulsarspark.schema.{SchemaFormats, TopicSchema, ValueColumns, ValueEncoder, WritePlan}

/** Makes the writers of KEY_VALUE values from the columns `key` and `value`.
  *
  * @param formats
  *   those of keys and values
  */
private[keyvalue] final class KeyValueEncoder(plan: WritePlan, formats: SchemaFormats) {
  import KeyValueEncoder._

  private val schema = KeyValueSchema.of(plan.schema)

  /** Writes the payload. */
  def payload(): ValueEncoder = {
    plan.values.map(plan.input(_).name).find(name => name != KeyColumn && name != ValueColumn).foreach { name =>
      throw new ColumnMismatch(name, s"there are two columns, $KeyColumn and $ValueColumn")
    }
    val key   = part(KeyColumn, schema.key)
    val value = part(ValueColumn, schema.value)
    if (schema.separated) value else inline(key, value)
  }

  /** Writes the key of the message; None when it is in the payload. */
  def separateKey(): Option[ValueEncoder] = Option.when(schema.separated)(part(KeyColumn, schema.key))

  private def part(name: String, schema: TopicSchema): ValueEncoder = {
    val ordinal = place(plan, name)
    val column  = plan.input(ordinal)
    val format  = formats.formatOf(plan.topicName, schema)
    (column.dataType, format.isRecord(plan.topicName, schema)) match {
      case (struct: StructType, true) =>
        val record =
          within(name)(format.encoder(plan.copy(schema, struct, metadata = Map.empty, values = struct.indices)))
        new ValueEncoder {
          override def encode(row: InternalRow): Array[Byte] =
            if (row.isNullAt(ordinal)) null else record.encode(row.getStruct(ordinal, struct.size))
        }
      case (NullType, true) => new ValueEncoder { override def encode(row: InternalRow): Array[Byte] = null }
      case (other, true)    => throw new ColumnMismatch(name, s"its schema is a record, the column is ${other.sql}")
      case (_, false)       =>
        // The column is looked at as that of a topic of its own.
        val alone = StructType(plan.input.fields.updated(ordinal, column.copy(name = ValueColumns.Single)))
        try format.encoder(plan.copy(schema, alone, values = Seq(ordinal)))
        catch {
          case e: ColumnMismatch =>
            throw new ColumnMismatch(e.column.replaceFirst(ValueColumns.Single, name), e.reason)
        }
    }
  }

  private def inline(key: ValueEncoder, value: ValueEncoder): ValueEncoder = new ValueEncoder {
    override def encode(row: InternalRow): Array[Byte] = {
      val k   = key.encode(row)
      val v   = value.encode(row)
      val out = ByteBuffer.allocate(8 + length(k) + length(v))
      put(k, out)
      put(v, out)
      out.array
    }

    private def length(part: Array[Byte]) = if (part == null) 0 else part.length

    private def put(part: Array[Byte], out: ByteBuffer): Unit =
      if (part == null) out.putInt(-1) else out.putInt(part.length).put(part)
  }
}

private[schema] object KeyValueEncoder {

  /** A schema made from the columns. */
  def schemaOf(plan: WritePlan, keyValue: KeyValueChoice): TopicSchema =
    KeyValueSchema(
      schemaOf(plan, KeyColumn, keyValue.keySchemaType),
      schemaOf(plan, ValueColumn, keyValue.valueSchemaType),
      keyValue.encoding.contains("SEPARATED")
    ).toTopicSchema()

  private def schemaOf(plan: WritePlan, name: String, schemaType: String): TopicSchema =
    (schemaType, plan.input(place(plan, name)).dataType) match {
      case ("AUTO", struct: StructType)          => record(struct, "AVRO", name)
      case ("AVRO" | "JSON", struct: StructType) => record(struct, schemaType, name)
      case ("AUTO", single) => TopicSchema(PrimitiveFormat.schemaType(single).getOrElse(throw notAlone(name, single)))
      case (t, _) if PrimitiveFormat.schemaTypes(t) => TopicSchema(t)
      case (t, single) => throw new ColumnMismatch(name, s"$t is made of a struct, the column is ${single.sql}")
    }

  private def record(struct: StructType, schemaType: String, name: String) =
    within(name)(TopicSchema(schemaType, AvroSchemaOfColumns(struct).toString))

  private def notAlone(name: String, single: DataType) =
    new ColumnMismatch(name, s"${single.sql} is neither a primitive value nor a struct, whose fields make a record")

  private def place(plan: WritePlan, name: String): Int =
    plan.values.find(plan.input(_).name == name).getOrElse(
      throw new ColumnMismatch(name,
        s"there is no such column; a $KeyColumn and a $ValueColumn are needed, of which any can be null")
    )

  private def within[T](name: String)(body: => T): T =
    try body
    catch { case e: ColumnMismatch => throw new ColumnMismatch(s"$name.${e.column}", e.reason) }
}
