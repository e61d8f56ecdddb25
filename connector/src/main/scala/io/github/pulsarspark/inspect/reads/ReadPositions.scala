package io.github.pulsarspark.inspect.reads

import scala.concurrent.duration.Duration

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.inspect.state.CheckpointPositions
import io.github.pulsarspark.inspect.topics.SelectedTopics
import io.github.pulsarspark.inspect.view.MetadataRequest
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.position.{Position, PulsarOffset}
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.read.plan.BoundResolver

/** Positions up to which topic partitions are read.
  *
  * @param partitions
  *   all topic partitions in question, also those that nothing is read of
  */
private[reads] final case class ReadPositions(read: Map[String, Position], partitions: Seq[String])

/** Finds positions by the option that says who reads. */
private[reads] object ReadPositions {

  private val Checkpoint   = "checkpoint"
  private val Subscription = "progressSubscription"
  private val Start        = "startingOffsets"

  /** Options that say who reads. */
  val Ways: Seq[String] = Seq(Checkpoint, Subscription, Start, "startingTime")

  /** Fails unless one way is set, with what it needs. */
  def check(options: MetadataOptions): Unit = {
    options.requireOne(Ways: _*)
    Ways.filter(options.isSet) match {
      case Seq(first, second, _*) => throw Conditions.OptionConflict(first = first, second = second).exception
      case _                      => ()
    }
    if (!options.hasTopics && namesTopics(options)) options.requireCluster() else options.requireTopics()
    if (options.isSet(Subscription)) options.requireAdmin()
  }

  /** True if the positions say whose they are: those of a checkpoint, and the progress of a stream. */
  private def namesTopics(options: MetadataOptions) =
    options.isSet(Checkpoint) || options.read.startingOffsets.exists(PulsarOffset.isProgress)

  def of(request: MetadataRequest, selected: SelectedTopics): ReadPositions = {
    val options = request.options
    if (options.isSet(Checkpoint)) {
      val read = CheckpointPositions.of(options.checkpoint, request.fileSystems)
      if (options.hasTopics) ofTopics(options.checkpoint, read, selected) else ReadPositions(read, sorted(read.keys))
    } else if (!options.hasTopics) {
      val read = PulsarOffset.parse(options.read.startingOffsets.get, s"the option `$Start`").positions.toMap
      ReadPositions(read, sorted(read.keys))
    } else
      ReadPositions(
        options.read.progressSubscription.fold(ofStart(options, selected))(ofSubscription(_, selected)),
        selected.partitions
      )
  }

  private def sorted(partitions: Iterable[String]) =
    partitions.toSeq.sortBy(p => (TopicNames.whole(p), TopicNames.partitionIndex(p)))

  /** Positions of these topics alone. A partition without any is new, so that nothing of it is read. */
  private def ofTopics(path: String, read: Map[String, Position], selected: SelectedTopics): ReadPositions = {
    selected.topics.foreach { case (topic, partitions) =>
      if (!partitions.exists(read.contains)) throw Conditions.CheckpointWithoutPosition(path = path, topic = topic,
        why = s"its query reads ${sorted(read.keys).map(TopicNames.whole).distinct.mkString(", ")}").exception
    }
    ReadPositions(read, selected.partitions)
  }

  private def ofStart(options: MetadataOptions, selected: SelectedTopics): Map[String, Position] = {
    val exact = options.read.copy(publishTimeSkew = Duration.Zero)
    new BoundResolver(exact, selected.broker).streamStart(selected.topics).offset.positions.toMap
  }

  /** Positions of a subscription. Fails where it does not exist. */
  def ofSubscription(name: String, selected: SelectedTopics): Map[String, Position] = {
    val cursors = selected.admin.get.cursors(selected.partitions)
    cursors.map { case (partition, positions) =>
      partition -> positions.get(name).flatMap(Position.parse).getOrElse(
        throw Conditions.SubscriptionNotFound(subscription = name, topic = partition).exception
      )
    }
  }
}
