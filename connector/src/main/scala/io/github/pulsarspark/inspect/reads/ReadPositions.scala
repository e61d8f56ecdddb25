package io.github.pulsarspark.inspect.reads

import scala.concurrent.duration.Duration

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.inspect.topics.SelectedTopics
import io.github.pulsarspark.inspect.view.MetadataRequest
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.read.plan.BoundResolver

/** Positions up to which topic partitions are read, by the option that says who reads them. */
private[reads] object ReadPositions {

  private val Ways = Seq("progressSubscription", "startingOffsets")

  /** Fails unless a way is set, with what it needs. */
  def check(options: MetadataOptions): Unit = {
    options.requireTopics()
    options.requireOne(Ways: _*)
    if (options.isSet("progressSubscription")) options.requireAdmin()
  }

  /** The positions by topic partition. */
  def of(request: MetadataRequest, selected: SelectedTopics): Map[String, Position] = {
    val options = request.options
    options.read.progressSubscription match {
      case Some(subscription) => ofSubscription(subscription, selected)
      case None               =>
        val exact = options.read.copy(publishTimeSkew = Duration.Zero)
        new BoundResolver(exact, selected.broker).streamStart(selected.topics).offset.positions.toMap
    }
  }

  private def ofSubscription(name: String, selected: SelectedTopics): Map[String, Position] = {
    val cursors = selected.admin.get.cursors(selected.partitions)
    cursors.map { case (partition, positions) =>
      partition -> positions.get(name).flatMap(Position.parse).getOrElse(
        throw Conditions.SubscriptionNotFound(subscription = name, topic = partition).exception
      )
    }
  }
}
