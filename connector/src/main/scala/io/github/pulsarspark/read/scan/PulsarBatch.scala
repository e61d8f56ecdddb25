package io.github.pulsarspark.read.scan

import scala.util.Using

import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.position.PruningBounds
import io.github.pulsarspark.read.plan.{BoundResolver, DriverSession, PushedFilters, TaskPlanner}
import io.github.pulsarspark.read.task.PulsarReaderFactory
import io.github.pulsarspark.read.{PlannedRange, PlannedRead, PulsarInputPartition, ReadContext}

/** A batch read. All positions are fixed here, before a task runs, and once: Spark may ask for the partitions more than
  * once.
  *
  * @param columns
  *   what Spark was told the table has; checked against what the topics have now
  */
private[read] final class PulsarBatch(task: ReadContext, columns: StructType, filters: PushedFilters) extends Batch {

  @volatile private var made: Option[PlannedRead] = None

  /** None as long as nobody has asked for the partitions. */
  def planned: Option[PlannedRead] = made

  private lazy val read: PlannedRead = Using.resource(DriverSession(task.options)) { session =>
    val topics            = session.discovery.topics()
    val topicOf           = topics.flatMap { case (topic, partitions) => partitions.map(_ -> topic) }
    val (skipped, wanted) = topicOf.keySet.partition(TaskPlanner.wanted(filters, _).isEmpty)
    val ranges            = new BoundResolver(task.options, session.broker).batchRanges(topics, wanted)
    // after the ranges: what is asked later holds for all of their ledgers, see ReaderSchemas
    val schemas = session.schemas(topics.keys, columns, task.output)
    val asked   = ranges.map { case (range, times) =>
      PlannedRange(range, PruningBounds(times), schemas(topicOf(range.topic)))
    }
    val planner = new TaskPlanner(task, session, new DataLossPolicy(task.options.failOnDataLoss), filters)
    val planned = planner.plan(asked).copy(partitionsSkipped = skipped.size.toLong)
    made = Some(planned)
    planned
  }

  /** What each task reads. */
  def tasks: Seq[PulsarInputPartition] = read.tasks

  override def planInputPartitions(): Array[InputPartition] = tasks.toArray

  override def createReaderFactory(): PartitionReaderFactory = PulsarReaderFactory(task)

  /** Bytes to read as they are stored, for Spark's optimizer; None when that is not known. Plans the read, which Spark
    * does next anyway, but only where that is enough to know.
    */
  def bytes: Option[Long] = if (task.options.mayReadSegments) read.bytes else None
}
