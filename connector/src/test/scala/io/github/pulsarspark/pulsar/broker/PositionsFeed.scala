package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.{CompletableFuture, TimeUnit}

import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.feed.EntryFeed

/** A feed in memory that only remembers where entries are. */
private[pulsar] abstract class PositionsFeed extends EntryFeed {
  var isGone = false

  override def closeAsync(): CompletableFuture[Void] = {
    isGone = true
    CompletableFuture.completedFuture(null)
  }

  override def isUnbroken: Boolean                                               = false
  override def onArrival(listener: Runnable): Unit                               = unused
  override def queuedMessages(): Int                                             = 0
  override def queuedBytes(): Long                                               = 0
  override def longestOutageMillis(): Long                                       = 0
  override def poll(time: Long, unit: TimeUnit): EntryFeed.Entry                 = unused
  override def gather(until: EntryFeed.Place, messages: Int, millis: Long): Unit = unused
  override def grant(taken: EntryFeed.Entry, messages: Int): Unit                = unused

  protected def unused: Nothing = throw new AssertionError("not used")

  protected def place(position: Position): EntryFeed.Place = new EntryFeed.Place(position.ledgerId, position.entryId)
}
