package io.github.pulsarspark.read

import scala.util.Using

import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.DataLossPolicy

/** A batch read. All positions are fixed here, before a task runs, and once: Spark may ask for the partitions more than once.
  *
  * @param columns
  *   what Spark was told the table has; checked against what the topics have now
  */
private[read] final class PulsarBatch(task: ReadTask, columns: StructType) extends Batch {

  @volatile private var planned: Option[Seq[PulsarInputPartition]] = None

  /** How the read was shared out; None as long as nobody has asked for the partitions. */
  def summary: Option[String] = planned.map(TaskPlanner.summary)

  /** What each task reads. */
  lazy val tasks: Seq[PulsarInputPartition] = Using.resource(DriverSession(task.options)) { session =>
    val topics  = session.discovery.topics()
    val schemas = session.schemas(topics.keys, columns)
    val topicOf = topics.flatMap { case (topic, partitions) => partitions.map(_ -> topic) }
    val ranges  = new BoundResolver(task.options, session.broker).batchRanges(topics).map { case (range, times) =>
      PlannedRange(range, times, schemas(topicOf(range.topic)))
    }
    val made = new TaskPlanner(task, session, new DataLossPolicy(task.options.failOnDataLoss)).partitions(ranges)
    planned = Some(made)
    made
  }

  override def planInputPartitions(): Array[InputPartition] = tasks.toArray

  override def createReaderFactory(): PartitionReaderFactory = PulsarReaderFactory(task)
}
