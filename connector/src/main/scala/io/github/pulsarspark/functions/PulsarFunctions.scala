package io.github.pulsarspark.functions

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.{SparkSession, functions}
import org.apache.spark.sql.expressions.UserDefinedFunction
import org.apache.spark.sql.types.BinaryType

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.options.{OnDecodeError, ReadOptions, SchemaMode, SessionOptions, TopicSelection, WriteOptions}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.read.plan.DriverSession
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema
import io.github.pulsarspark.schema.protobuf.ProtobufFormat
import io.github.pulsarspark.schema.rows.SchemaTranslation

/** Functions between the values of one topic and their bytes, as reads with `schemaMode=raw` return them and writes
  * with `schemaType=bytes` accept them. A function requests the schema of its topic when it is created, and keeps it.
  * For SQL: `spark.udf.register("from_pulsar", PulsarFunctions.fromPulsar(...))`.
  */
object PulsarFunctions {

  /** `(value, schemaVersion)` to what a read of the topic has as value columns: a struct of them, or the value if it
    * has no fields. Each value is decoded with its own version of the schema, as reads do, and with the newest one
    * where the version is null. No value is no value.
    *
    * @param options
    *   those of a batch read of one topic, which go before those of the session. `onDecodeError` may be `fail` or
    *   `null`, `schemaMode` `auto` or `pinned`; options about where a read starts and ends and how it is carried out
    *   mean nothing here.
    */
  def fromPulsar(spark: SparkSession, options: Map[String, String]): UserDefinedFunction = {
    val checked = ReadOptions(check(spark, options, Scope.BatchRead))
    checkDecodable(checked)
    val (topic, schema) = Using.resource(DriverSession(checked))(_.topicSchemas).head
    checkComplete(topic, schema)
    SchemaTranslation.checkKnown(topic, schema, SchemaTranslation.toStruct(topic, schema))
    val function = new FromPulsar(topic, schema, checked)
    functions.udf(function, function.dataType).withName(FromPulsar.Name)
  }

  def fromPulsar(spark: SparkSession, options: JMap[String, String]): UserDefinedFunction =
    fromPulsar(spark, options.asScala.toMap)

  /** `(value)` to bytes in the newest schema of the topic: of a struct of the columns that a write to it takes, or of
    * the value if it has no fields. No value is no value.
    *
    * @param options
    *   those of a batch write to one topic, which go before those of the session; options about how messages are sent
    *   mean nothing here.
    */
  def toPulsar(spark: SparkSession, options: Map[String, String]): UserDefinedFunction = {
    val checked = check(spark, options, Scope.BatchWrite)
    val topic   = TopicNames.full(checked("topic"))
    val write   = WriteOptions(checked)
    if (write.schemaType != "auto")
      throw notAllowed("schemaType", write.schemaType, s"auto for ${ToPulsar.Name}, which takes the topic's schema")
    val schema = newestSchema(topic, write)
    checkComplete(topic, schema)
    functions.udf(new ToPulsar(topic, schema, write.cutsTimes), BinaryType).withName(ToPulsar.Name)
  }

  def toPulsar(spark: SparkSession, options: JMap[String, String]): UserDefinedFunction =
    toPulsar(spark, options.asScala.toMap)

  private def check(spark: SparkSession, options: Map[String, String], scope: Scope): CheckedOptions =
    SessionOptions.check(spark, options, ClientSettings.fields, scope)

  private def checkDecodable(options: ReadOptions): Unit = {
    options.topics match {
      case TopicSelection.Named(Seq(_))  => ()
      case TopicSelection.Named(several) =>
        throw notAllowed("topics", several.mkString(","),
          s"one topic for ${FromPulsar.Name}: each counts its own versions")
      case TopicSelection.Matching(pattern) =>
        throw notAllowed("topicsPattern", pattern, s"the name of one topic for ${FromPulsar.Name}, in `topic`")
    }
    if (options.schemaMode == SchemaMode.Raw)
      throw notAllowed("schemaMode", "raw", s"auto or pinned for ${FromPulsar.Name}, which decodes")
    options.onDecodeError match {
      case OnDecodeError.Fail | OnDecodeError.AsNull => ()
      case OnDecodeError.Drop                        => throw noRows("drop")
      case OnDecodeError.DeadLetter(_)               => throw noRows("dlq")
    }
  }

  private def noRows(policy: String) =
    notAllowed("onDecodeError", policy, s"fail or null for ${FromPulsar.Name}: a function cannot leave a row out")

  private def notAllowed(option: String, value: String, allowed: String) =
    Conditions.OptionInvalid(option = option, value = value, allowed = allowed).exception

  private def newestSchema(topic: String, write: WriteOptions): TopicSchema =
    Using.resource(PulsarConnection(write.client)) { connection =>
      val broker = connection.broker()
      if (broker.partitions(Seq(topic)).isEmpty)
        throw Conditions.TopicNotFound(topic = topic, url = write.client.serviceUrl).exception
      val schema = broker.schema(topic).getOrElse(TopicSchema.Bytes)
      write.protobuf.fold(schema)(p => ProtobufFormat.described(topic, schema, p.source, p.files.toArray, p.name))
    }

  private def checkComplete(topic: String, schema: TopicSchema): Unit =
    if (schema.schemaType == KeyValueSchema.Type && KeyValueSchema.of(schema).separated)
      throw Conditions.FunctionTopic(topic = topic).exception
}
