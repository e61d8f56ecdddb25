package io.github.pulsarspark.schema.keyvalue

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, StructType}

import io.github.pulsarspark.schema.ValueWriterCompiler.Misfit
import io.github.pulsarspark.schema.avro.AvroSchemaOfColumns
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema.{KeyColumn, ValueColumn}
import io.github.pulsarspark.schema.primitive.PrimitiveEncoder
import io.github.pulsarspark.schema.{SchemaTranslation, TopicSchema, ValueEncoder, WritePlan}

/** KEY_VALUE values of the columns `key` and `value`. */
private[schema] object KeyValueEncoder {

  /** What becomes of the payload. */
  def apply(plan: WritePlan): ValueEncoder = {
    val schema = KeyValueSchema.of(plan.schema)
    plan.values.map(plan.input(_).name).find(name => name != KeyColumn && name != ValueColumn).foreach { name =>
      throw new Misfit(name, s"there are two columns, $KeyColumn and $ValueColumn")
    }
    val key   = part(plan, KeyColumn, schema.key)
    val value = part(plan, ValueColumn, schema.value)
    if (schema.separated) value else inline(key, value)
  }

  /** What becomes the key of the message, for a schema that says so. */
  def separateKey(plan: WritePlan): Option[ValueEncoder] =
    Option.when(plan.schema.schemaType == KeyValueSchema.Type)(KeyValueSchema.of(plan.schema)).filter(_.separated).map(
      schema =>
        part(plan, KeyColumn, schema.key)
    )

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
      case ("AUTO", single) => TopicSchema(PrimitiveEncoder.schemaType(single).getOrElse(throw notAlone(name, single)))
      case (t, _) if SchemaTranslation.primitive(t).isDefined => TopicSchema(t)
      case (t, single) => throw new Misfit(name, s"$t is made of a struct, the column is ${single.sql}")
    }

  private def record(struct: StructType, schemaType: String, name: String) =
    within(name)(TopicSchema(schemaType, AvroSchemaOfColumns(struct).toString))

  private def notAlone(name: String, single: DataType) =
    new Misfit(name, s"${single.sql} is neither a primitive value nor a struct, whose fields make a record")

  private def place(plan: WritePlan, name: String): Int =
    plan.values.find(plan.input(_).name == name).getOrElse(
      throw new Misfit(name,
        s"there is no such column; a $KeyColumn and a $ValueColumn are needed, of which any can be null")
    )

  private def part(plan: WritePlan, name: String, schema: TopicSchema): ValueEncoder = {
    val ordinal = place(plan, name)
    val column  = plan.input(ordinal)
    (column.dataType, SchemaTranslation.isRecord(plan.topicName, schema)) match {
      case (struct: StructType, true) =>
        val record =
          within(name)(ValueEncoder(plan.copy(schema, struct, metadata = Map.empty, values = struct.indices)))
        new ValueEncoder {
          override def encode(row: InternalRow): Array[Byte] =
            if (row.isNullAt(ordinal)) null else record.encode(row.getStruct(ordinal, struct.size))
        }
      case (other, true) => throw new Misfit(name, s"its schema is a record, the column is ${other.sql}")
      case (_, false)    =>
        // The column is looked at as that of a topic of its own.
        val alone = StructType(plan.input.fields.updated(ordinal, column.copy(name = SchemaTranslation.ValueColumn)))
        try ValueEncoder(plan.copy(schema, alone, values = Seq(ordinal)))
        catch {
          case e: Misfit => throw new Misfit(e.column.replaceFirst(SchemaTranslation.ValueColumn, name), e.reason)
        }
    }
  }

  private def within[T](name: String)(body: => T): T =
    try body
    catch { case e: Misfit => throw new Misfit(s"$name.${e.column}", e.reason) }

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
