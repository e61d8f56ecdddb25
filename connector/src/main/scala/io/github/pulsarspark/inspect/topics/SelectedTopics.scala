package io.github.pulsarspark.inspect.topics

import org.apache.spark.sql.types.{IntegerType, StringType, StructType}

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.PartitionBounds
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.read.plan.DriverSession
import io.github.pulsarspark.storage.ledgers.LedgerMetadata

/** The topics that options select, on one connection. */
private[inspect] final class SelectedTopics(options: ReadOptions) extends AutoCloseable {

  private val session = DriverSession(options)

  /** Full names of the topic partitions, by topic and number. Fails for a topic that does not exist. */
  lazy val partitions: Seq[String] = session.discovery.topics().toSeq.sortBy(_._1).flatMap(_._2)

  /** First and last position of the partitions that exist. */
  def bounds: Map[String, PartitionBounds] = session.broker.confirmedBounds(partitions)

  /** The admin service's lists of ledgers; None without `admin.url`. */
  val ledgers: Option[LedgerMetadata] = session.admin.map(new LedgerMetadata(_, options))

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
