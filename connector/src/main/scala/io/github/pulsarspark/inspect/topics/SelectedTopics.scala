package io.github.pulsarspark.inspect.topics

import org.apache.spark.sql.types.{IntegerType, StringType, StructType}

import io.github.pulsarspark.options.{ReadOptions, TopicSelection}
import io.github.pulsarspark.pulsar.broker.BrokerApi
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.read.plan.DriverSession
import io.github.pulsarspark.storage.segment.LedgerMetadata

/** The topics that options select, on one connection. */
private[inspect] final class SelectedTopics(options: ReadOptions) extends AutoCloseable {

  private val session = DriverSession(options)

  /** Full names of the topics, each with those of its partitions. Fails for a topic that does not exist, and if none
    * matches.
    */
  lazy val topics: Map[String, Seq[String]] = session.discovery.topics()

  /** Full names of the topic partitions, by topic and number. */
  def partitions: Seq[String] = topics.toSeq.sortBy(_._1).flatMap(_._2)

  /** Like `topics`, but without any selection those of a pattern; there may be none. */
  def listed(every: String): Map[String, Seq[String]] = options.topics match {
    case TopicSelection.Matching(pattern) => session.broker.matching(pattern).partitions
    case TopicSelection.Named(Nil)        => session.broker.matching(every).partitions
    case TopicSelection.Named(_)          => topics
  }

  val broker: BrokerApi = session.broker

  /** Requests to the admin service; None without `admin.url`. */
  val admin: Option[LedgerMetadata] = session.admin.map(new LedgerMetadata(_, options))

  override def close(): Unit = session.close()
}

private[inspect] object SelectedTopics {

  /** Columns that name a topic partition. */
  val columns: StructType = new StructType()
    .add("topic", StringType, nullable = true,
      "full name of the topic or topic partition, as `__topic` of its messages")
    .add("partition", IntegerType, nullable = true, "number of the partition; null for a topic that has no partitions")

  /** Values of these columns. */
  def names(partition: String): Seq[Any] =
    Seq(partition, Option(TopicNames.partitionIndex(partition)).filter(_ >= 0))
}
