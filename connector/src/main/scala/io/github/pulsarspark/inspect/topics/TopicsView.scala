package io.github.pulsarspark.inspect.topics

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.schema.TopicSchema

/** The topics of a namespace, or those that options select. Their names are one request, and one more for each topic
  * that has partitions; each schema is another one.
  */
private[inspect] object TopicsView extends MetadataView {

  override val name: String = "topics"

  private val ofSchema = Seq("schemaType", "schemaVersion")

  override val columns: StructType = new StructType()
    .add("topic", StringType, nullable = true, "full name")
    .add("partitions", IntegerType, nullable = true, "partitions that exist; null for a topic that has none")
    .add("schemaType", StringType, nullable = true, "type of the newest schema; null without a schema")
    .add("schemaVersion", LongType, nullable = true, "version of the newest schema")

  override val takes: TakenOptions = TakenOptions.OfTopics ++ TakenOptions.of("namespace")

  override def check(options: MetadataOptions): Unit = {
    options.namespacePattern
    if (options.hasTopics) options.requireTopics() else options.requireCluster()
  }

  override def rows(request: MetadataRequest): Iterator[InternalRow] = {
    val options = request.options
    Using.resource(new SelectedTopics(options.read)) { selected =>
      val topics  = selected.listed(options.namespacePattern)
      val names   = topics.keys.toSeq.sorted
      val schemas = if (request.uses(ofSchema: _*)) selected.broker.schemas(names) else Map.empty[String, TopicSchema]
      names.map { topic =>
        val partitions = topics(topic)
        val schema     = schemas.get(topic)
        MetadataRow(
          topic,
          Option.when(partitions != Seq(topic))(partitions.size),
          schema.map(_.schemaType),
          schema.flatMap(SchemaRows.version)
        )
      }
    }.iterator
  }
}
