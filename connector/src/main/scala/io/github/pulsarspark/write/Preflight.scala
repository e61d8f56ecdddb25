package io.github.pulsarspark.write

import scala.util.Using

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.PulsarErrors
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.pulsar.TopicNames
import io.github.pulsarspark.pulsar.broker.PulsarBroker
import io.github.pulsarspark.pulsar.connection.{ClientPool, ClientSettings}
import io.github.pulsarspark.pulsar.producer.TopicProducer
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.schema.keyvalue.KeyValueChoice
import io.github.pulsarspark.schema.protobuf.ProtobufFormat
import io.github.pulsarspark.schema.rows.WritePlanner
import io.github.pulsarspark.schema.{TopicSchema, WritePlan}

/** Finds out on the driver whether a write can work: the columns fit the schema of the topic, and the cluster takes a
  * producer with that schema (permission, existence, compatibility).
  */
private[write] object Preflight {

  private val SubscriptionPrefix = "spark-pulsar"

  def apply(input: StructType, options: WriteOptions): Option[WritePlan] = options.topic match {
    case None if !input.fieldNames.contains(MetadataColumns.Topic.name) => throw PulsarErrors("PULSAR_WRITE_NO_TOPIC")
    case None => // without a topic only the columns themselves, the settings and the connection can be checked
      plan(input, None, None, options)
      ClientSettings.check("pulsar.producer.", options.producer)
      Using.resource(ClientPool.acquire(options.client))(_.checkConnection())
      None
    case Some(name) =>
      val made = planFor(TopicNames.full(name), input, options)
      Using.resource(ClientPool.acquire(options.client))(lease =>
        TopicProducer.open(lease, made.topic.get, made.schema, options).close()
      )
      Some(made)
  }

  /** What the topic's own schema, if it has one, asks of the columns. */
  def planFor(topic: String, input: StructType, options: WriteOptions): WritePlan =
    Using.resource(new PulsarBroker(ClientPool.acquire(options.client), SubscriptionPrefix)) { broker =>
      val own = broker.schema(topic).map { schema =>
        options.protobuf.fold(schema)(p =>
          ProtobufFormat.described(topic, schema, p.source, p.files.toArray, p.name)
        )
      }
      plan(input, Some(topic), own, options)
    }

  private def plan(
      input: StructType,
      topic: Option[String],
      own: Option[TopicSchema],
      options: WriteOptions
  ): WritePlan = {
    val keyValue = KeyValueChoice.of(options.keySchemaType, options.valueSchemaType, options.keyValueEncoding)
    WritePlanner(input, topic, own, options.schemaType, keyValue, options.cutsTimes)
  }
}
