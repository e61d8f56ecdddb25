package io.github.pulsarspark.read.stream

import org.apache.spark.sql.connector.read.InputPartition

import io.github.pulsarspark.position.{OffsetRange, Position, PulsarOffset}
import io.github.pulsarspark.read.plan.{PlannedRange, TaskPlanner}
import io.github.pulsarspark.read.stream.loss.StreamLosses
import io.github.pulsarspark.storage.{StreamStorage, StreamTail}
import io.github.pulsarspark.storage.segment.Slice

/** The tasks that read ranges of a stream: segments, and the tail from the broker. */
private[stream] final class StreamTasks(session: StreamSession, partitions: KnownPartitions, losses: StreamLosses) {
  import StreamTasks._

  private var seen = Map.empty[String, Long]

  /** @param newest
    *   the end of everything, as far as it is known
    */
  def of(ranges: Seq[PlannedRange], newest: Option[PulsarOffset]): Seq[InputPartition] = {
    val storage = updated()
    val tail    = StreamTail(TailEntries, newest.fold(Map.empty[String, Position])(_.positions))
    new TaskPlanner(session.taskSchemas)(storage.plan(_, tail, _)).plan(ranges).tasks
  }

  /** Parts of tails that tasks read where they are stored, by topic partition, see
    * [[io.github.pulsarspark.storage.StreamStorage.backlogs]].
    *
    * @param ranges
    *   of tails, up to a message that exists
    */
  def backlogs(ranges: Seq[OffsetRange]): Map[String, Seq[Slice]] =
    updated().backlogs(ranges.filterNot(_.isEmpty), TailEntries)

  /** The storage, which forgets deleted partitions, and what of others is not where it was. */
  private def updated(): StreamStorage = {
    val storage = session.storage
    storage.moved(newlyMoved())
    storage.retain(partitions.topic(_).isDefined)
    storage
  }

  /** Partitions whose ledgers tasks did not find since the last call. */
  private def newlyMoved(): Iterable[String] = {
    val (before, now) = (seen, losses.totals.moved.value)
    seen = now
    now.collect { case (topic, count) if !before.get(topic).contains(count) => topic }
  }
}

private object StreamTasks {

  /** Number of new entries of a partition up to which they are read from the broker, which has them in its cache. */
  private val TailEntries = 1000L
}
