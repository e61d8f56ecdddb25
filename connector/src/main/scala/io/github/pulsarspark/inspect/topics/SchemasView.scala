package io.github.pulsarspark.inspect.topics

import java.time.Instant

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StringType, StructType, TimestampType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.schema.TopicSchema

/** The schemas of topics. The admin service lists the versions; brokers return the definition of each. Without the
  * admin service there is the newest one.
  */
private[inspect] object SchemasView extends MetadataView {

  override val name: String = "schemas"

  private val ofDefinition = Seq("columns", "definition")

  override val columns: StructType = new StructType()
    .add("topic", StringType, nullable = true, "full name of the topic")
    .add("version", LongType, nullable = true, "number of the version, from 0")
    .add("type", StringType, nullable = true, "type, as `AVRO`")
    .add("registeredAt", TimestampType, nullable = true, "when it was registered; null without `admin.url`")
    .add("columns", StringType, nullable = true,
      "columns of a read with this schema, as DDL; null if it cannot be read")
    .add("definition", StringType, nullable = true, "the schema itself; empty for a primitive type")

  override val takes: TakenOptions = TakenOptions.OfTopics

  override def check(options: MetadataOptions): Unit = options.requireTopics()

  override def rows(request: MetadataRequest): Iterator[InternalRow] =
    Using.resource(new SelectedTopics(request.options.read)) { selected =>
      val topics = selected.topics.keys.toSeq.sorted.map(TopicNames.whole).distinct
      selected.admin match {
        case None => selected.broker.schemas(topics).toSeq.sortBy(_._1).map { case (topic, schema) =>
            row(topic, SchemaRows.version(schema), schema.schemaType, None, Some(schema))
          }
        case Some(admin) =>
          val listed = admin.existing(topics)(TopicNames.schemas)
          topics.flatMap { topic =>
            listed.get(topic).toSeq.flatMap(versions).map { listed =>
              val version = listed.get("version").asLong
              def schema  = selected.broker.schemaAt(topic, SchemaRows.bytes(version))
              row(topic, Some(version), listed.get("type").asText, Some(listed.get("timestamp").asLong),
                Option.when(request.uses(ofDefinition: _*))(schema))
            }
          }
      }
    }.iterator

  private def versions(answer: JsonNode) = answer.path("getSchemaResponses").elements().asScala.toSeq

  private def row(topic: String, version: Option[Long], kind: String, at: Option[Long], schema: Option[TopicSchema]) =
    MetadataRow(topic, version, kind, at.map(Instant.ofEpochMilli(_)), schema.flatMap(SchemaRows.columns(topic, _)),
      schema.map(_.definition))
}
