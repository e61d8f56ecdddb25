package io.github.pulsarspark.write

import scala.util.Using

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.schema.columns.{MetadataColumns, RowColumns}
import io.github.pulsarspark.schema.keyvalue.KeyValueChoice
import io.github.pulsarspark.schema.protobuf.ProtobufFormat
import io.github.pulsarspark.schema.rows.WritePlanner
import io.github.pulsarspark.schema.{TopicSchema, WritePlan}

/** Checks on the driver that a write can work: the columns fit the schema of the topic, and the cluster accepts a
  * producer with that schema (permission, existence, compatibility).
  */
private[write] object Preflight {

  /** @param declared
    *   columns of the table, which a topic without a schema gets
    */
  def apply(input: StructType, declared: Option[StructType], options: WriteOptions): Option[WritePlan] =
    options.topic match {
      case None if !input.fieldNames.contains(MetadataColumns.Topic.name) => throw Conditions.WriteNoTopic().exception
      case None => // without a topic only the columns themselves, the settings and the connection can be checked
        plan(input, declared, None, None, options)
        ClientSettings.check("pulsar.producer.", options.producer)
        Using.resource(PulsarConnection(options.client))(_.checkConnection())
        None
      case Some(name) =>
        val topic = TopicNames.full(name)
        Using.resource(PulsarConnection(options.client)) { connection =>
          val plan = planFor(topic, input, declared, options, connection)
          connection.producer(topic, plan.schema, options).close()
          Some(plan)
        }
    }

  /** The plan for one topic, by its current schema if it has one. */
  def planFor(
      topic: String,
      input: StructType,
      declared: Option[StructType],
      options: WriteOptions,
      connection: PulsarConnection
  ): WritePlan = {
    val own = connection.broker().schema(topic).map { schema =>
      options.protobuf.fold(schema)(p => ProtobufFormat.described(topic, schema, p.source, p.files.toArray, p.name))
    }
    if (declared.isEmpty && own.forall(_.isReadAsBytes)) RowColumns.checkNew(input, s"topic $topic")
    plan(input, declared, Some(topic), own, options)
  }

  private def plan(
      input: StructType,
      declared: Option[StructType],
      topic: Option[String],
      own: Option[TopicSchema],
      options: WriteOptions
  ): WritePlan = {
    val keyValue = KeyValueChoice.of(options.keySchemaType, options.valueSchemaType, options.keyValueEncoding)
    WritePlanner(input, topic, own, options.schemaType, keyValue, options.cutsTimes, declared)
  }
}
