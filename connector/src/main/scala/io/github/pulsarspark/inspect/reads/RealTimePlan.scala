package io.github.pulsarspark.inspect.reads

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.inspect.state.CheckpointPositions
import io.github.pulsarspark.inspect.topics.SelectedTopics
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{Position, PulsarOffset}
import io.github.pulsarspark.read.plan.BoundResolver
import io.github.pulsarspark.read.tails.{RealTimeOptions, TailTasks}

/** A topic partition that a task of a query in real-time mode follows.
  *
  * @param after
  *   the position after which it begins
  * @param last
  *   position of the last entry with messages
  * @param entries
  *   entries in between, if their number is known
  * @param bytes
  *   estimate of their size in storage, if it is known
  */
private[reads] final case class FollowedPartition(
    topic: String,
    after: Position,
    last: Option[Position],
    entries: Option[Long],
    bytes: Option[Long]
)

/** Plans the first batch of a stream in real-time mode without starting it, as
  * [[io.github.pulsarspark.read.stream.RealTimeBatches]] does. Later batches divide the partitions anew.
  */
private[reads] object RealTimePlan {

  /** The partitions of each task.
    *
    * @param checkpoint
    *   path of the checkpoint of a query that goes on; None for a first start
    * @param slots
    *   tasks that the cluster runs at a time
    */
  def of(
      options: ReadOptions,
      checkpoint: Option[String],
      fileSystems: => Configuration,
      slots: Int
  ): Seq[Seq[FollowedPartition]] = {
    RealTimeOptions.check(options)
    Using.resource(new SelectedTopics(options)) { selected =>
      val read   = checkpoint.fold(start(options, selected))(CheckpointPositions.of(_, fileSystems))
      val bounds = selected.broker.confirmedBounds(selected.partitions)
      val unread = new UnreadEntries(selected, PulsarOffset.of(read), bounds, isCompacted = false, withSizes = true)
      val all    = SortedMap.from(bounds).keys.toSeq // in the order of offsets
      TailTasks.divide(all, TailTasks.most(options.realTimeTasks, slots))(unread.isBehind)
        .map(_.flatMap(followed(_, unread)))
    }
  }

  private def followed(partition: String, unread: UnreadEntries) = unread.from(partition).map(
    FollowedPartition(partition, _, unread.last(partition), unread.entries(partition), unread.bytes(partition))
  )

  private def start(options: ReadOptions, selected: SelectedTopics): Map[String, Position] =
    options.progressSubscription.filter(_ => options.startsAtSubscription) match {
      case None       => new BoundResolver(options, selected.broker).streamStart(selected.topics).offset.positions.toMap
      case Some(name) =>
        if (selected.admin.isEmpty) throw Conditions.OptionIncomplete(present = "startingOffsets=subscription",
          missing = "admin.url").exception
        ReadPositions.ofSubscription(name, selected)
    }
}
