package io.github.pulsarspark.functions

import scala.util.Using

import org.apache.spark.sql.api.java.UDF2
import org.apache.spark.sql.types.{DataType, StructType}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.options.{OnDecodeError, ReadOptions}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{DecodeError, RowDecoder, SchemaTranslation}

/** `from_pulsar(value, schemaVersion)`: the decoder of reads for values without their messages. Every task has its own,
  * so that a version is fetched and compiled once a task; one that Spark evaluates on the driver may be used by several
  * threads.
  *
  * @param reader
  *   the schema all values are read as
  */
private[functions] final class FromPulsar(topic: String, reader: TopicSchema, options: ReadOptions)
    extends UDF2[Any, Any, Any] {
  import FromPulsar._

  private val columns: StructType  = SchemaTranslation.toStruct(topic, reader)
  private val hasFields            = SchemaTranslation.hasFields(topic, reader)
  private val isNullIfBad: Boolean = options.onDecodeError == OnDecodeError.AsNull
  private val hasEmptyValues       = SchemaTranslation.formatOf(topic, reader).hasEmptyValues(topic, reader)

  /** Return type of the function. */
  val dataType: DataType = SchemaTranslation.toType(topic, reader)

  @transient private lazy val message  = new MessageView
  @transient private lazy val decoder  = RowDecoder(topic, NoPartition, columns, reader, schemaAt)
  @transient private lazy val external = ExternalValues.ofRow(columns)

  override def call(value: Any, version: Any): Any = {
    val bytes   = binary("value", value)
    val written = binary("schema version", version)
    if (bytes == null || bytes.isEmpty && !hasEmptyValues) null
    else synchronized(decode(bytes, if (written == null) MessageView.NoBytes else written))
  }

  private def decode(bytes: Array[Byte], version: Array[Byte]): Any = {
    message.bytes = bytes
    message.valueLength = bytes.length
    message.schemaVersion = version
    try {
      val row = external(decoder.decode(message))
      if (hasFields) row else row.get(0)
    } catch { case DecodeError(e) if isNullIfBad && !isWrongArgument(e) => null }
  }

  /** A function is never closed: so the connection is closed at once, and the pool keeps its client for a while. */
  private def schemaAt(version: Array[Byte]): TopicSchema =
    Using.resource(PulsarConnection(options.client))(_.broker().schemaAt(topic, version))

  override def toString: String = s"${FromPulsar.Name}($topic)"
}

private object FromPulsar {

  /** Name in SQL. */
  val Name: String = "from_pulsar"

  /** A value alone has no partition. */
  private val NoPartition = -1

  /** True for a version that the topic does not have: whoever calls chose it, and all values of a query may be null. */
  private def isWrongArgument(error: Throwable) = Conditions.SchemaVersionMissing.is(error)

  /** Spark does not check the arguments of a function of this kind; null is allowed. */
  private def binary(argument: String, value: Any): Array[Byte] = value match {
    case null               => null
    case bytes: Array[Byte] => bytes
    case other              =>
      throw Conditions.FunctionArgument(function = FromPulsar.Name, argument = argument,
        actual = other.getClass.getSimpleName, expected = "BINARY").exception
  }
}
