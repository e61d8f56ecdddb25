package io.github.pulsarspark.inspect.topics

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{BooleanType, IntegerType, LongType, StringType, StructType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions

/** The subscriptions of topic partitions, by the admin service. */
private[inspect] object SubscriptionsView extends MetadataView {

  override val name: String = "subscriptions"

  override val columns: StructType = SelectedTopics.columns
    .add("subscription", StringType, nullable = true, "name of the subscription")
    .add("type", StringType, nullable = true, "as `Exclusive`; null as long as the broker has seen no consumer")
    .add("durable", BooleanType, nullable = true, "whether brokers keep messages for it; readers have one that is not")
    .add("backlogEntries", LongType, nullable = true, "entries that it has not acknowledged")
    .add("consumers", IntegerType, nullable = true, "consumers that are connected")
    .add("markDelete", StringType, nullable = true, "position up to which everything is acknowledged")

  override val takes: TakenOptions = TakenOptions.OfTopics

  override def check(options: MetadataOptions): Unit = {
    options.requireTopics()
    options.requireAdmin()
  }

  override def rows(request: MetadataRequest): Iterator[InternalRow] =
    Using.resource(new SelectedTopics(request.options.read)) { selected =>
      val admin   = selected.admin.get
      val stats   = admin.statistics(selected.partitions)
      val cursors =
        if (request.uses("markDelete")) admin.cursors(selected.partitions) else Map.empty[String, Map[String, String]]
      selected.partitions.flatMap { p =>
        for (stat <- stats.get(p).toSeq; (name, subscription) <- subscriptions(stat)) yield MetadataRow(
          SelectedTopics.names(p) ++ Seq[Any](
            name,
            Option(subscription.get("type")).filterNot(_.isNull).map(_.asText),
            subscription.path("durable").asBoolean,
            subscription.path("msgBacklog").asLong,
            subscription.path("consumers").size,
            cursors.get(p).flatMap(_.get(name))
          ): _*
        )
      }
    }.iterator

  private def subscriptions(stats: JsonNode) =
    stats.path("subscriptions").properties().asScala.toSeq.map(e => e.getKey -> e.getValue).sortBy(_._1)
}
