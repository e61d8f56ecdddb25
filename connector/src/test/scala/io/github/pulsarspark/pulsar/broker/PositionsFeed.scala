package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.CompletableFuture

import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.feed.{PartitionFeed, PositionFeed}

/** A feed in memory that only remembers where entries are. */
private[pulsar] abstract class PositionsFeed extends PositionFeed {
  var isGone = false

  override def closeAsync(): CompletableFuture[Void] = {
    isGone = true
    CompletableFuture.completedFuture(null)
  }

  override def isUnbroken: Boolean         = false
  override def longestOutageMillis(): Long = 0

  protected def unused: Nothing = throw new AssertionError("not used")

  protected def place(position: Position): PartitionFeed.Place =
    new PartitionFeed.Place(position.ledgerId, position.entryId)
}
