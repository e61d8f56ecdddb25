package io.github.pulsarspark.schema.avro

import java.io.ByteArrayOutputStream

import scala.util.Try
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ArrayNode
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import io.github.pulsarspark.schema.columns.EncodedValue
import io.github.pulsarspark.schema.avro.AvroSchemaMerge.Difference
import io.github.pulsarspark.schema.{SchemaFormat, TopicSchema, ValueColumns, ValueEncoder, ValueOutput, WritePlan}

/** Values that an Avro schema describes: in Avro's binary encoding, or as JSON. */
private[schema] abstract class RecordFormat(name: String) extends SchemaFormat {

  override val schemaTypes: Set[String] = Set(name)

  /** Creates the output for the writers of a row, which makes the bytes of the value. */
  protected def output(): RecordFormat.Output

  /** The columns, before all are nullable. */
  protected def typeOf(schema: Schema): DataType = AvroSchemas.sparkType(schema)

  override def columns(topic: String, schema: TopicSchema): StructType = {
    val parsed   = this.parsed(topic, schema)
    val dataType = ValueColumns.reading(topic, schema)(typeOf(parsed))
    dataType match {
      case record: StructType if parsed.getType == Schema.Type.RECORD => ValueColumns.ofRecord(record)
      case other                                                      => ValueColumns.single(other)
    }
  }

  override def hasEmptyValues(topic: String, writer: TopicSchema): Boolean =
    writer.schemaType == "AVRO" && Try(AvroSchemas.parse(writer.definition)).toOption.exists(new EmptyValues().of(_))

  override def isRecord(topic: String, schema: TopicSchema): Boolean =
    parsed(topic, schema).getType == Schema.Type.RECORD

  override def converts(writer: String, reader: String): Boolean =
    RecordFormat.Types(writer) && RecordFormat.Types(reader)

  override def encoder(plan: WritePlan): ValueEncoder = {
    val schema   = parsed(plan.topicName, plan.schema)
    val compiler = new ValueWriterCompiler(plan)
    val out      = output()
    if (schema.getType == Schema.Type.RECORD) {
      val record = compiler.record(schema, plan.valueColumns, plan.values.toArray)
      new RecordFormat.Encoder(out) {
        override def write(row: InternalRow): Boolean = {
          record.writeAll(row, out)
          true
        }
      }
    } else {
      val ordinal = plan.singleValue
      val value   = compiler.value(schema, plan.input(ordinal).dataType, ValueColumns.Single)
      new RecordFormat.Encoder(out) {
        override def write(row: InternalRow): Boolean = !row.isNullAt(ordinal) && {
          value.write(row, ordinal, out)
          true
        }
      }
    }
  }

  /** The schema of records with these columns. */
  def ofColumns(columns: StructType): TopicSchema = TopicSchema(name, AvroSchemaOfColumns(columns).toString)

  override def fromColumns(plan: WritePlan, schemaType: String): Either[String, TopicSchema] =
    Right(ofColumns(plan.valueColumns))

  override def merge(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] = {
    columns(topic, newest) // both have columns, else the merge could not tell what is the same
    val (was, is) = (parsed(topic, known), parsed(topic, newest))
    // Texts are compared, since aliases do not make Avro's schemas unequal.
    try
      Right(ValueColumns.reading(topic, newest)(AvroSchemaMerge(was, is)).toString match {
        case merged if merged == is.toString  => newest
        case merged if merged == was.toString => newest.copy(definition = known.definition, version = Nil)
        case merged                           => newest.copy(definition = merged, version = Nil)
      })
    catch { case d: Difference => Left(s"column `${d.path}` was ${d.was.sql} and is ${d.is.sql}") }
  }

  /** The schema of a topic with more fields at its end, which values need not have; left with the reason when there is
    * none. It adds to the definition as it is, so that names, docs and logical types stay.
    */
  def extended(topic: String, schema: TopicSchema, columns: StructType): Either[String, TopicSchema] =
    if (!isRecord(topic, schema)) Left("its values are no records")
    else {
      val json  = new ObjectMapper
      val whole = json.readTree(schema.definition)
      (whole.path("fields"), json.readTree(AvroSchemaOfColumns(columns).toString).path("fields")) match {
        case (all: ArrayNode, more: ArrayNode) => all.addAll(more)
        case _                                 => sys.error("a record of Avro has a list of fields")
      }
      Right(schema.copy(definition = whole.toString, version = Nil))
    }

  /** The Avro schema that describes values. */
  protected def parsed(topic: String, schema: TopicSchema): Schema =
    try AvroSchemas.parse(schema.definition)
    catch {
      case NonFatal(_) => throw ValueColumns.notReadable(topic, schema, ForeignDefinition.reason(schema.definition))
    }

  /** Schema that values were written with. If its definition is not Avro's, the schema that the user pins replaces it.
    */
  protected def written(topic: String, writer: TopicSchema, reader: TopicSchema): Schema =
    if (reader.isPinned) Try(AvroSchemas.parse(writer.definition)).getOrElse(parsed(topic, reader))
    else parsed(topic, writer)
}

private[schema] object RecordFormat {

  /** Values of each can be read as values of the other. */
  private val Types = Set("AVRO", "JSON")

  /** Collects one value. */
  trait Output extends ValueOutput {
    def reset(): Unit

    /** The bytes stay until the next value. */
    def result(value: EncodedValue): Unit
  }

  /** The bytes of an output, without a copy. */
  final class Collected extends ByteArrayOutputStream(1024) {
    def refer(value: EncodedValue): Unit = value.refer(buf, 0, count)
  }

  private abstract class Encoder(out: Output) extends ValueEncoder {

    /** Writes to the output; false for a tombstone. */
    protected def write(row: InternalRow): Boolean

    override def encode(row: InternalRow, value: EncodedValue): Unit = {
      out.reset()
      if (write(row)) out.result(value) else value.set(null)
    }

    override def encode(row: InternalRow): Array[Byte] = {
      val value = new EncodedValue
      encode(row, value)
      value.toArray
    }
  }
}
