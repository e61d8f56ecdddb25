package io.github.pulsarspark.read.plan

import scala.util.Using

import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.position.PruningBounds
import io.github.pulsarspark.read.task.{PulsarInputPartition, PulsarReaderFactory, ReadContext}
import io.github.pulsarspark.storage.{KnownStorage, SegmentLocator, SegmentPlan}

/** A batch read. The driver fixes all positions once, before a task runs: Spark may request the partitions repeatedly.
  *
  * @param columns
  *   the table's columns as Spark knows them; checked against the current columns of the topics
  */
private[pulsarspark] final class PulsarBatch(task: ReadContext, columns: StructType, filters: PushedFilters)
    extends Batch {

  @volatile private var result: Option[PlannedRead] = None

  /** Plan of the read; None until the partitions are requested. */
  def planned: Option[PlannedRead] = result

  private lazy val read: PlannedRead = Using.resource(DriverSession(task.options)) { session =>
    val topics            = session.discovery.topics()
    val topicOf           = topics.flatMap { case (topic, partitions) => partitions.map(_ -> topic) }
    val (skipped, useful) = topicOf.keySet.partition(filters.bounds(_).isEmpty)
    val ranges            = new BoundResolver(task.options, session.broker).batchRanges(topics, useful)
    // after the ranges: a schema requested later holds for all of their ledgers, see ReaderSchemas
    val schemas   = session.schemas(topics.keys, columns, task.output)
    val requested = ranges.map { case (range, times) =>
      PlannedRange(range, PruningBounds(times), schemas(topicOf(range.topic)))
    }
    val losses  = new DataLossPolicy(task.options.failOnDataLoss)
    val locator = new SegmentLocator(session.admin, task.options, task.hadoop, losses, new KnownStorage)
    val planner = new TaskPlanner(session.taskSchemas, filters)(SegmentPlan.of(_, locator, task.options, None, _))
    val planned = planner.plan(requested).copy(partitionsSkipped = skipped.size.toLong)
    result = Some(planned)
    planned
  }

  /** Partitions of the read. */
  def tasks: Seq[PulsarInputPartition] = read.tasks

  override def planInputPartitions(): Array[InputPartition] = tasks.toArray

  override def createReaderFactory(): PartitionReaderFactory = PulsarReaderFactory(task)

  /** Stored bytes to read, for Spark's optimizer; None when the size is unknown. Plans the read, which Spark does next
    * anyway, but only where the plan can tell the size.
    */
  def bytes: Option[Long] = if (task.options.mayReadSegments) read.bytes else None
}
